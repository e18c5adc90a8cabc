/**
 * What bin/volctl and dist/launch.cjs start, and with which environment: copies of both, with a bundle that only says what
 * reached it.
 */
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import Module, { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { Script } from 'node:vm'
import { execa, type Options } from 'execa'
import { afterAll, describe, expect, it } from 'vitest'
import { forOthers } from '../helpers/for-others.ts'
import { noRoot } from '../helpers/namespace.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { BUNDLE } from '../helpers/volctl-program.ts'
import { describeUnless } from '../privileged/describe-unless.ts'

const SCRIPTS = new URL('../../scripts/', import.meta.url).pathname
const kept: { readonly KEPT: readonly string[]; readonly PATH: string } = createRequire(import.meta.url)(
  '../../scripts/kept-environment.cjs',
)
const NOBODY = 65_534
const PLATFORM = `node-linux-${process.arch}`
/** What load-bundle.cjs tells oclif. */
const OWN_VARIABLES = ['VOLCTL_DISABLE_THEME', 'OCLIF_DISABLE_ENGINE_WARNING', 'SHELL']

const SAYS_ALL = 'console.log(JSON.stringify({ env: process.env, args: process.argv.slice(2) }))'

const shipped = forOthers()
afterAll(() => shipped[Symbol.dispose]())
const directory = temporaryDirectory()
chmodSync(directory, 0o755)

let places = 0
function makePlace(): string {
  places += 1
  return makeDirectory(join(directory, `place-${places}`))
}

function makeDirectory(path: string, mode = 0o755): string {
  mkdirSync(path, { recursive: true })
  chmodSync(path, mode)
  return path
}

function write(path: string, content: string, mode = 0o644): string {
  for (let up = dirname(path); !existsSync(up); up = dirname(up)) makeDirectory(up)
  writeFileSync(path, content)
  chmodSync(path, mode)
  return path
}

interface Installed {
  readonly root: string
  readonly bin: string
  readonly launch: string
  readonly node: string
}

interface Shape {
  readonly bundle?: string
  /** Where Node.js is; undefined: nowhere. */
  readonly modules?: string | undefined
}

/** The program as it is shipped, but for the bundle; root's where root runs this. */
function install(root: string, shape: Shape = {}): Installed {
  const { bundle = SAYS_ALL, modules = 'modules' in shape ? shape.modules : join(root, 'node_modules') } = shape
  for (const name of ['bin', 'dist']) makeDirectory(join(root, name))
  const bin = write(join(root, 'bin', 'volctl'), readFileSync(BUNDLE, 'utf8'), 0o755)
  for (const name of ['launch.cjs', 'kept-environment.cjs', 'load-bundle.cjs']) {
    write(join(root, 'dist', name), readFileSync(join(SCRIPTS, name), 'utf8'))
  }
  write(join(root, 'dist', 'volctl.cjs'), Module.wrap(bundle))
  const node = join(modules ?? '/nonexistent', PLATFORM, 'bin', 'node')
  // Not a copy of 150 MB: what it does is said by the one that it starts.
  if (modules !== undefined) write(node, `#!/bin/sh\nexec '${shipped.node}' "$@"\n`, 0o755)
  return { root, bin, launch: join(root, 'dist', 'launch.cjs'), node }
}

interface Shell {
  readonly name: string
  readonly shell: readonly string[]
}

const SHELLS: readonly Shell[] = [
  { name: 'as it is', shell: [] },
  { name: 'under dash', shell: ['dash'] },
  { name: 'under bash', shell: ['bash', '--posix'] },
  { name: 'under BusyBox', shell: ['busybox', 'sh'] },
]

function pathOf(program: string): string | undefined {
  const { status, stdout } = spawnSync('sh', ['-c', 'command -v "$0"', program])
  return status === 0 ? stdout.toString().trim() : undefined
}

interface Told {
  readonly exitCode: number | undefined
  readonly stdout: string
  readonly stderr: string
}

async function run(command: string | readonly string[], options: Options = {}): Promise<Told> {
  const [program = '', ...args] = typeof command === 'string' ? [command] : command
  // What a wrong check would run must not hang.
  const told = await execa(program, args, { timeout: 30_000, stdin: 'ignore', ...options, reject: false })
  return { exitCode: told.exitCode, stdout: String(told.stdout), stderr: String(told.stderr) }
}

const asNobody = { uid: NOBODY, gid: NOBODY }
/** How to run something without root's rights; undefined: there is no way from here. */
const plainly: Options | undefined = process.geteuid?.() !== 0 ? {} : noRoot === undefined ? asNobody : undefined
const noPlainUser = plainly === undefined ? noRoot : undefined

/** @returns what the bundle was told */
function said({ exitCode, stdout, stderr }: Told): { env: Record<string, string>; args: string[] } {
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  return JSON.parse(stdout)
}

const itUnless = (reason: string | undefined, title: string, test: () => Promise<void>): void =>
  it.skipIf(reason !== undefined)(reason === undefined ? title : `${title} (${reason})`, test)

describe.each(SHELLS)('bin/volctl $name', ({ shell: [program, ...flags] }) => {
  const path = program === undefined ? undefined : pathOf(program)
  const reason = program !== path && path === undefined ? `${program} is not here` : undefined
  const started = (bin: string): string[] => (path === undefined ? [bin] : [path, ...flags, bin])

  itUnless(reason, 'the environment is what is on the list, with its values whole', async () => {
    const values = {
      HOME: '/a b/*',
      KUBECONFIG: `it's "here":$(exit 3)\`exit 3\`\\n\\`,
      NO_PROXY: '*,[a-z]?, ~',
      https_proxy: '  two  lines\nTERM=evil\n',
      COLORTERM: '\u0001\u0081\u0088ü',
      NO_COLOR: '',
    }
    const { bin } = install(join(makePlace(), 'an odd=place *', 'volctl'))
    const args = ['plan', '', '-o json', '*', 'a\nb', '$HOME', '--', 'a=b', '\\']
    const others = {
      FOO: 'bar',
      'A-B': 'c',
      VOLCTL_REENTERED: '1',
      VOLCTL_CALLER: '/proc/1',
      VOLCTL_TEST_HOST: '/x',
      LD_LIBRARY_PATH: '/x',
    }
    const env = { PATH: process.env.PATH ?? '', ...values, ...others }
    const told = said(await run([...started(bin), ...args], { env, extendEnv: false }))
    expect(told.args).toEqual(args)
    const { TERM: _, ...seen } = told.env
    for (const name of OWN_VARIABLES) delete seen[name]
    expect(seen).toEqual({ ...values, PATH: kept.PATH })
  })

  itUnless(reason, "starts no program of the caller's PATH", async () => {
    const place = makePlace()
    install(join(place, 'volctl'))
    const link = join(place, 'link')
    symlinkSync(join('volctl', 'bin', 'volctl'), link)
    const marker = join(place, 'marker')
    const names = ['readlink', 'node', 'find', 'env', 'sh', 'stat', 'id', 'dirname']
    for (const name of names) write(join(place, 'evil', name), `#!/bin/sh\n: > ${marker}\n`, 0o755)
    // As bash hands on functions.
    const functions = [...names, 'command', 'printf', 'read'].map((name) => `BASH_FUNC_${name}%%`)
    const env = {
      ...Object.fromEntries(functions.map((name) => [name, `() { : > ${marker}; }`])),
      PATH: `${join(place, 'evil')}:${process.env.PATH}`,
    }
    expect(said(await run(started(link), { env })).env.PATH).toBe(kept.PATH)
    expect(existsSync(marker)).toBe(false)
  })

  itUnless(reason, 'exit status, signals and standard input are those of the program', async () => {
    const place = makePlace()
    const { bin: seven } = install(join(place, 'seven'), { bundle: 'process.exit(7)' })
    expect(await run(started(seven))).toEqual({ exitCode: 7, stdout: '', stderr: '' })
    const { bin: echo } = install(join(place, 'echo'), { bundle: 'process.stdin.pipe(process.stdout)' })
    expect(await run(started(echo), { stdin: 'pipe', input: 'a line' })).toMatchObject({ stdout: 'a line' })
    const bundle = `process.on('SIGTERM', () => process.exit(9)); setInterval(() => {}, 1000); console.log(process.pid)`
    const [program = '', ...args] = started(install(join(place, 'waiting'), { bundle }).bin)
    const child = execa(program, args, { reject: false, buffer: false })
    const [pid] = await child.stdout.take(1).toArray()
    expect(Number(pid)).toBe(child.pid)
    child.kill('SIGTERM')
    expect(await child).toMatchObject({ exitCode: 9 })
  })

  const asRoot = noRoot ?? reason
  itUnless(reason, 'check that cannot start is an answer to a monitor: unknown, not wrong', async () => {
    const { bin, launch } = install(makePlace())
    rmSync(launch)
    const why = 'volctl: not built yet: run npm run build.'
    expect(await run([...started(bin), 'check', '-v'])).toEqual({
      exitCode: 2,
      stdout: 'unknown: volctl cannot start',
      stderr: why,
    })
    expect(await run([...started(bin), 'plan'])).toEqual({ exitCode: 1, stdout: '', stderr: why })
  })

  itUnless(asRoot, 'S33: root runs nothing that others may change', async () => {
    const { bin, node, root } = install(join(makePlace(), 'volctl'))
    said(await run(started(bin)))
    chmodSync(node, 0o775)
    expect(await run(started(bin))).toEqual(refused(node, 'others may write to it', root))
    chmodSync(node, 0o755)
    chownSync(dirname(root), NOBODY, NOBODY)
    expect(await run(started(bin))).toEqual(refused(dirname(root), 'it belongs to another user', root))
    said(await run(started(bin), { env: { SUDO_UID: String(NOBODY) } }))
  })
})

/** One line, and nothing is run. */
function refused(path: string, why: string, root: string): Told {
  const stderr = [`volctl: not run as root: ${path} is not safe, ${why}.`]
  stderr.push(
    `${path}/`.startsWith(`${root}/`)
      ? `If you trust what is in it: chown -R root: ${root}; chmod -R go-w ${root}`
      : 'Install volctl where only root may write, such as /opt.',
  )
  return { exitCode: 1, stdout: '', stderr: stderr.join(' ') }
}

interface Danger {
  readonly name: string
  /** @returns the path that is named */
  readonly spoil: (installed: Installed) => string
  readonly why: 'others may write to it' | 'it belongs to another user'
}

const foreign = (pick: (installed: Installed) => string) => ({
  why: 'it belongs to another user' as const,
  spoil: (installed: Installed) => {
    chownSync(pick(installed), NOBODY, NOBODY)
    return pick(installed)
  },
})
const writable = (pick: (installed: Installed) => string, mode: number) => ({
  why: 'others may write to it' as const,
  spoil: (installed: Installed) => {
    chmodSync(pick(installed), mode)
    return pick(installed)
  },
})

const DANGERS: readonly Danger[] = [
  { name: "another user's bin/volctl", ...foreign(({ bin }) => bin) },
  { name: "another user's Node.js", ...foreign(({ node }) => node) },
  { name: 'a directory of Node.js that its group may write to', ...writable(({ node }) => dirname(node), 0o775) },
  { name: 'a directory above that all may write to', ...writable(({ root }) => dirname(root), 0o777) },
  {
    name: 'a link to Node.js in a directory that all may write to',
    why: 'others may write to it',
    spoil: ({ root, node }) => {
      const shared = makeDirectory(join(dirname(root), 'shared'))
      const own = join(root, 'node_modules')
      cpSync(own, join(shared, 'modules'), { recursive: true })
      rmSync(own, { recursive: true })
      symlinkSync('../shared/modules', own)
      expect(existsSync(node)).toBe(true)
      chmodSync(shared, 0o777)
      return shared
    },
  },
  {
    name: "another user's link in a sticky directory",
    why: 'it belongs to another user',
    spoil: ({ root }) => {
      const sticky = makeDirectory(join(dirname(root), 'sticky'), 0o1777)
      const link = join(sticky, 'modules')
      cpSync(join(root, 'node_modules'), join(dirname(root), 'real'), { recursive: true })
      rmSync(join(root, 'node_modules'), { recursive: true })
      symlinkSync('../real', link)
      expect(spawnSync('chown', ['-h', String(NOBODY), link]).status).toBe(0)
      symlinkSync('../sticky/modules', join(root, 'node_modules'))
      return link
    },
  },
]

/** What launch.cjs looks at as well, since somebody may start it by hand. */
const IN_DIST: readonly Danger[] = [
  { name: "another user's bundle", ...foreign(({ root }) => join(root, 'dist', 'volctl.cjs')) },
  { name: 'a file that is sticky', ...writable(({ root }) => join(root, 'dist', 'volctl.cjs'), 0o1646) },
  {
    name: 'a loader that its group may write to',
    ...writable(({ root }) => join(root, 'dist', 'load-bundle.cjs'), 0o664),
  },
  { name: "another user's list", ...foreign(({ root }) => join(root, 'dist', 'kept-environment.cjs')) },
  { name: "another user's directory above, sticky", ...foreign(({ root }) => makeDirectory(dirname(root), 0o1777)) },
]

const isOutOfReach = (path: string): boolean => lstatSync(path).isSymbolicLink() && !existsSync(path)

describeUnless(noRoot, 'S33: what root does not run', () => {
  it.each([...DANGERS, ...IN_DIST, { name: "another user's launch.cjs", ...foreign(({ launch }) => launch) }])(
    '$name',
    async ({ spoil, why }) => {
      const installed = install(join(makePlace(), 'above', 'volctl'))
      said(await run(installed.bin))
      const path = spoil(installed)
      // Where the kernel protects links, root cannot follow another user's in a sticky directory, and nothing is found there.
      const end = isOutOfReach(path) ? { exitCode: 1, stdout: '' } : refused(path, why, installed.root)
      expect(await run(installed.bin)).toMatchObject(end)
      // Who has no rights of root's may.
      said(await run(installed.bin, asNobody))
    },
  )

  it.each(IN_DIST)('launch.cjs, started by hand: $name', async ({ spoil, why }) => {
    const installed = install(join(makePlace(), 'above', 'volctl'))
    const command = [shipped.node, installed.launch]
    said(await run(command))
    const path = spoil(installed)
    const { exitCode, stdout, stderr } = await run(command)
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' })
    expect(stderr).toMatch(/^volctl: not run as root: .+\. Install volctl where only root may write, such as \/opt\.$/)
    expect(stderr).toContain(`${path} is not safe, ${why}.`)
    expect(await run([...command, 'check'])).toMatchObject({ exitCode: 2, stdout: 'unknown: volctl cannot start' })
    said(await run(command, asNobody))
  })

  it('a bundle that is no plain file is not waited for', async () => {
    const { launch, root } = install(join(makePlace(), 'volctl'))
    const bundle = join(root, 'dist', 'volctl.cjs')
    rmSync(bundle)
    expect(spawnSync('mkfifo', ['-m', '600', bundle]).status).toBe(0)
    const told = await run([shipped.node, launch])
    expect(told).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringContaining('is not a plain file') })
  })

  it('a sticky directory above, and a link that root made in it, are fine', async () => {
    const sticky = makeDirectory(join(makePlace(), 'sticky'), 0o1777)
    const { bin, launch } = install(join(sticky, 'volctl'))
    symlinkSync(join('volctl', 'bin', 'volctl'), join(sticky, 'link'))
    said(await run(bin))
    said(await run(join(sticky, 'link')))
    said(await run([shipped.node, launch]))
  })

  const injected = ['', '-o', '-uid', String(NOBODY)].join('\n')
  const OTHERS = ['', '0', '1000', '+0', '-70000', `${NOBODY} `, `0${injected}`, '1e9', 'nobody']

  it('files of the person who called through sudo are fine, and of nobody else', async () => {
    const place = makePlace()
    const { root, bin, launch } = install(join(place, 'volctl'))
    expect(spawnSync('chown', ['-R', String(NOBODY), place]).status).toBe(0)
    const byHand = [shipped.node, launch]
    for (const command of [[bin], byHand]) said(await run(command, { env: { SUDO_UID: String(NOBODY) } }))
    for (const SUDO_UID of OTHERS) {
      const env = { SUDO_UID }
      expect(await run(bin, { env }), SUDO_UID).toEqual(refused(place, 'it belongs to another user', root))
      expect(await run(byHand, { env }), SUDO_UID).toMatchObject({ exitCode: 1, stdout: '' })
    }
  })

  it("Node.js beside a copy, in another user's directory", async () => {
    const shared = makeDirectory(join(makePlace(), 'shared'), 0o1777)
    const { bin } = install(join(shared, 'volctl'), { modules: undefined })
    const marker = join(shared, 'marker')
    write(join(shared, PLATFORM, 'bin', 'node'), `#!/bin/sh\n: > ${marker}\n`, 0o755)
    expect(spawnSync('chown', ['-R', String(NOBODY), join(shared, PLATFORM)]).status).toBe(0)
    // The machine's own Node.js may be run, or there is none, or it is too old.
    await run(bin)
    await run(bin, asNobody)
    expect(existsSync(marker)).toBe(false)
  })

  it("Node.js of the PATH, though it is root's", async () => {
    const place = makePlace()
    const { bin } = install(join(place, 'volctl'), { modules: undefined })
    const fake = write(join(place, 'bin', 'node'), '#!/bin/sh\necho fake\n', 0o755)
    const told = await run(bin, { env: { PATH: `${dirname(fake)}:${process.env.PATH}` } })
    expect(told.stdout).not.toContain('fake')
  })

  it('a directory whose name would be two to find(1)', async () => {
    const { bin } = install(join(makePlace(), 'a\n', 'volctl'))
    const told = await run(bin)
    expect(told).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringContaining('there is a line break') })
  })

  it("root of a user namespace, who does not see whose the machine's files are, may", async ({ skip }) => {
    const inside = ['unshare', '-U', '-r', '-m']
    const { exitCode } = await run([...inside, 'true'], asNobody)
    skip(exitCode !== 0, 'this machine allows a plain user no user namespaces')
    const { bin, launch } = install(join(makePlace(), 'volctl'))
    for (const command of [[bin], [shipped.node, launch]]) said(await run([...inside, ...command], asNobody))
  })
})

describe('Node.js is found', () => {
  it.each([
    { name: 'in the package', path: 'volctl', modules: 'volctl/node_modules' },
    { name: 'beside it, as npm hoists it', path: 'node_modules/volctl', modules: 'node_modules' },
    { name: 'beside its scope', path: 'node_modules/@some/volctl', modules: 'node_modules' },
  ])('$name', async ({ path, modules }) => {
    const place = makePlace()
    said(await run(install(join(place, path), { modules: join(place, modules) }).bin))
  })

  itUnless(noPlainUser, 'on the PATH of a plain user, where none came with it', async () => {
    const place = makePlace()
    const { bin } = install(join(place, 'volctl'), { modules: undefined })
    const fake = write(join(place, 'bin', 'node'), '#!/bin/sh\nfor last; do :; done; echo "fake $last"\n', 0o755)
    const env = { PATH: `/nonexistent:${dirname(fake)}:${process.env.PATH}` }
    expect(await run(bin, { ...plainly, env })).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/^fake \/.*launch\.cjs$/),
    })
    const none = await run(bin, { ...plainly, env: { PATH: '/nonexistent' } })
    expect(none.stderr).toBe('volctl: Node.js 22 or newer is needed, and there is none on the PATH.')
  })
})

describe('a Node.js that is too old', () => {
  const place = (): Installed => {
    const installed = install(join(makePlace(), 'volctl'))
    const version = "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.2' } })"
    const preload = write(join(installed.root, 'older.cjs'), version)
    write(installed.node, `#!/bin/sh\nexec '${shipped.node}' --require '${preload}' "$@"\n`, 0o755)
    return installed
  }
  const stderr = expect.stringMatching(
    /^volctl: needs Node\.js 22 or newer, this is 20\.20\.2\.\n {8}Install volctl with/,
  )

  it.each([
    { args: ['plan'], exitCode: 1, stdout: '' },
    { args: ['check'], exitCode: 2, stdout: 'unknown: volctl cannot start' },
  ])('is named, and says nothing of the node: $args', async ({ args, ...says }) => {
    const { bin } = place()
    expect(await run([bin, ...args])).toEqual({ ...says, stderr })
    symlinkSync('volctl', join(dirname(bin), 'kubectl-volctl'))
    expect(await run([join(dirname(bin), 'kubectl-volctl'), ...args])).toEqual({ ...says, stderr })
  })
})

describe('launch.cjs, started by hand', () => {
  it('keeps of the environment what is on the list', async () => {
    const { launch } = install(join(makePlace(), 'volctl'))
    const env = {
      FOO: 'bar',
      LANG: 'C',
      NODE_TLS_REJECT_UNAUTHORIZED: '0',
      VOLCTL_REENTERED: '2',
      VOLCTL_CALLER: '/proc/1',
    }
    const told = said(await run([shipped.node, launch], { env, extendEnv: false }))
    expect(Object.keys(told.env).sort()).toEqual(['LANG', 'PATH', ...OWN_VARIABLES].sort())
    expect(told.env.PATH).toBe(kept.PATH)
  })

  it('is started through the root directory of another process, where volctl enters another mount namespace', async () => {
    const { launch } = install(join(makePlace(), 'volctl'))
    const flags = ['--preserve-symlinks', '--preserve-symlinks-main']
    const env = { FOO: 'bar', VOLCTL_REENTERED: '1', VOLCTL_CALLER: `/proc/${process.pid}` }
    const told = said(await run([shipped.node, ...flags, `/proc/${process.pid}/root${launch}`], { env }))
    for (const name of Object.keys(env)) expect(told.env).not.toHaveProperty(name)
  })

  it('loads no package from a directory above, or from HOME', async () => {
    const place = makePlace()
    const bundle = `for (const name of ['undici', 'node:fs', 'path']) try { console.log(typeof require(name)) } catch (error) { console.log(error.code) }`
    const { launch } = install(join(place, 'volctl'), { bundle })
    for (const modules of ['node_modules', '.node_modules']) write(join(place, modules, 'undici', 'index.js'), '')
    const told = await run([shipped.node, launch], { env: { HOME: place } })
    expect(told.stdout.split('\n')).toEqual(['MODULE_NOT_FOUND', 'object', 'object'])
  })
})

it('SIGUSR1: S34: opens no debugger, to which any local user could connect', async () => {
  const bundle = `const { url } = require('node:inspector')
      const ignored = process.listenerCount('SIGUSR1')
      const alive = setInterval(() => {}, 1000)
      process.once('SIGUSR1', () => {
        clearInterval(alive)
        console.log(JSON.stringify({ ignored, url: url() ?? null }))
      })
      process.kill(process.pid, 'SIGUSR1')`
  const { bin } = install(join(makePlace(), 'volctl'), { bundle })
  const { stdout, stderr } = await run(bin)
  expect({ ...JSON.parse(stdout), stderr }).toEqual({ ignored: 1, url: null, stderr: '' })
})

/** V8 takes the code of a cache for that of any source of the same length. */
describe('the code cache', () => {
  const GOOD = `console.log('good')`
  const EVIL = `console.log('evil')`

  function withCache(): Installed {
    const installed = install(join(makePlace(), 'volctl'), { bundle: GOOD })
    const script = new Script(Module.wrap(EVIL))
    writeFileSync(join(installed.root, 'dist', 'code-cache'), script.createCachedData())
    chmodSync(join(installed.root, 'dist', 'code-cache'), 0o644)
    return installed
  }
  const outputs = async ({ launch }: Installed, options?: Options) =>
    (await run([shipped.node, launch], options)).stdout

  it("is used where it is root's or one's own", async () => {
    expect(await outputs(withCache())).toBe('evil')
    if (plainly !== undefined) expect(await outputs(withCache(), plainly)).toBe('evil')
  })

  it('is not used where it is a link, which others may change', async () => {
    const installed = withCache()
    const cache = join(installed.root, 'dist', 'code-cache')
    cpSync(cache, join(installed.root, 'cache'))
    rmSync(cache)
    symlinkSync('../cache', cache)
    expect(await outputs(installed)).toBe('good')
  })

  itUnless(noRoot, "is not used where it is another user's", async () => {
    const installed = withCache()
    chownSync(join(installed.root, 'dist', 'code-cache'), 1, 1)
    expect([await outputs(installed), await outputs(installed, asNobody)]).toEqual(['good', 'good'])
  })

  itUnless(noPlainUser, 'is not used where others may write above it', async () => {
    for (const path of ['dist', '.', '..']) {
      const installed = withCache()
      chmodSync(join(installed.root, path), 0o777)
      expect(await outputs(installed, plainly), path).toBe('good')
    }
  })
})

it('both launchers keep the same variables', () => {
  const text = readFileSync(BUNDLE, 'utf8')
  const names = Array.from(text.matchAll(/\$\{(\w+)\+"(\w+)=\$(\w+)"\}/g), ([, ...names]) => names)
  for (const [tested, given, value] of names) expect([given, value]).toEqual([tested, tested])
  expect(names.map(([name]) => name).sort()).toEqual([...kept.KEPT].sort())
  expect(text).toContain(`\nPATH=${kept.PATH}\n`)
})
