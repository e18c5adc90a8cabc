/**
 * How long each way onto a node takes, from the release's file in out/ to the end of a first `volctl plan --snapshot`:
 * `npm run package -- x64`, then `node scripts/time-ways.ts [ROUNDS]`, as root. Median and quickest, for docs/dev/release.md. Roots are
 * those of the tests; VOLCTL_ROOTS=all tries Debian itself as well.
 */
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { bareRoot, CAPTURE, inRoot, run } from '../test/package/roots.ts'
import { must, WAYS } from '../test/package/ways.ts'
import { about } from './package/facts.ts'

const OUT = join(import.meta.dirname, '..', 'out')
const RELEASE = join(OUT, `volctl-${about.version}`)
const ROUNDS = 3
const PLAN = ['plan', '--snapshot', '/node.json']

interface Timed {
  readonly name: string
  /** Not timed. */
  prepare(root: string): Promise<unknown>
  /** Installs and plans. */
  run(root: string): Promise<unknown>
}

const EXECUTABLE: Timed = {
  name: 'one executable',
  prepare: (root) => bareRoot(root, true),
  run: async (root) => {
    const volctl = join(root, 'usr/local/bin')
    mkdirSync(volctl, { recursive: true })
    copyFileSync(`${RELEASE}-linux-x64`, join(volctl, 'volctl'))
    chmodSync(join(volctl, 'volctl'), 0o755)
    await plan(root, ['/usr/local/bin/volctl'])
  },
}

const PACKAGED = WAYS.map(
  ({ name, ending, prefix, prepare, lack, install }): Timed => ({
    name,
    prepare: async (root) => {
      await prepare(root)
      await lack?.provide(root)
    },
    run: async (root) => {
      await must(install(root, `${RELEASE}-linux-x64.${ending}`))
      await plan(root, [`/${prefix}/bin/volctl`])
    },
  }),
)

const IMAGE: Timed = {
  name: 'image, unpacked by tar',
  prepare: async (root) => mkdirSync(root),
  run: async (root) => {
    const layout = `${root}.layout`
    mkdirSync(layout)
    await must([['tar', '-xf', `${RELEASE}-linux-x64.oci.tar`, '-C', layout]])
    const blobs = join(layout, 'blobs', 'sha256')
    const size = (blob: string): number => statSync(join(blobs, blob)).size
    const [largest = ''] = readdirSync(blobs).sort((a, b) => size(b) - size(a))
    await must([['tar', '-xzpf', join(blobs, largest), '-C', root]])
    copyFileSync(CAPTURE, join(root, 'node.json'))
    // As a container has it.
    mkdirSync(join(root, 'proc'), { recursive: true })
    await plan(root, ['/usr/bin/volctl'])
  },
}

const KUBECTL: Timed = {
  name: 'kubectl volctl, once installed',
  prepare: async (root) => {
    const tarball = PACKAGED.find(({ name }) => name.startsWith('tarball'))
    await tarball?.prepare(root)
    await tarball?.run(root)
  },
  run: (root) => plan(root, ['/usr/bin/kubectl', 'volctl']),
}

const NPM: Timed = {
  name: 'npm, with an empty cache',
  prepare: async (root) => mkdirSync(root),
  run: async (root) => {
    await must([[...npm(root, 'npm'), 'install', '--silent', '--global', '--prefix', root, `${RELEASE}.tgz`]])
    await must([[join(root, 'bin', 'volctl'), 'plan', '--snapshot', CAPTURE]])
  },
}

const NPX: Timed = {
  name: 'npx, with an empty cache',
  prepare: async (root) => mkdirSync(root),
  run: (root) =>
    must([[...npm(root, 'npx'), '--silent', '--yes', '-p', `${RELEASE}.tgz`, 'volctl', 'plan', '--snapshot', CAPTURE]]),
}

function npm(root: string, program: string): string[] {
  return ['env', `npm_config_cache=${root}.cache`, program]
}

async function plan(root: string, program: readonly string[]): Promise<void> {
  const { status, stderr } = await inRoot(root, [...program, ...PLAN])
  if (status !== 0) throw new Error(`${program.join(' ')} ends with ${status}: ${stderr}`)
}

async function time(way: Timed, work: string, rounds: number): Promise<string> {
  const seconds: number[] = []
  for (let round = 0; round < rounds; round++) {
    const root = join(work, `root-${round}`)
    await way.prepare(root)
    // What making the root has left to be written is not the way's.
    await run(['sync'])
    const started = performance.now()
    await way.run(root)
    seconds.push((performance.now() - started) / 1000)
    for (const each of readdirSync(work)) rmSync(join(work, each), { recursive: true, force: true })
  }
  const sorted = seconds.toSorted((a, b) => a - b)
  return `${sorted[rounds >> 1]?.toFixed(1)} s (${sorted[0]?.toFixed(1)})`
}

if (!existsSync(`${RELEASE}.tgz`)) throw new Error(`${RELEASE}.tgz is not there: npm run package -- x64`)
const work = mkdtempSync(join(tmpdir(), 'volctl-ways-'))

try {
  console.log(`load ${loadavg()[0]?.toFixed(1)}`)
  for (const way of [EXECUTABLE, ...PACKAGED, IMAGE, KUBECTL, NPM, NPX])
    console.log(`${way.name}: ${await time(way, work, Number(process.argv[2] ?? ROUNDS))}`)
} finally {
  rmSync(work, { recursive: true, force: true })
}
