/**
 * Makes all that a release consists of, in out/: executables, tarballs with install.sh, .deb, .rpm, the image, npm's
 * package, and SHA256SUMS. From the same source with the same tools the same bytes. `npm run package [-- x64]` for one machine only.
 */
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  mkdirSync,
  mkdtempDisposableSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CAPTURE } from './build.ts'
import type { Arch } from './package/debian-libraries.ts'
import { writeDeb, writeRpm } from './package/distributions.ts'
import { makeExecutable } from './package/executable.ts'
import { leastRoot } from './package/fetched.ts'
import { writeImage } from './package/image.ts'
import { EMULATOR, run } from './package/run.ts'
import { about, archiveOf, compressed, type Effort, writeTree } from './package/tree.ts'
import { sourceDate } from './source-commit.ts'

const root = join(import.meta.dirname, '..')
const ARCHES: readonly Arch[] = ['x64', 'arm64']

/** What a package needs that is not the executable itself. */
export interface Packing {
  readonly arch: Arch
  readonly executable: string
  readonly effort: Effort
  /** Of the packages; default: that of package.json. */
  readonly version?: string
}

/** Writes tarball, .deb and .rpm beside each other; returns their common name, without an ending. */
export async function makePackages(out: string, packing: Packing): Promise<string> {
  const { arch, executable, effort, version = about.version } = packing
  const date = sourceDate(root)
  const name = releaseName(arch, version)
  using temporary = mkdtempDisposableSync(join(tmpdir(), 'volctl-package-'))
  const work = temporary.path
  const tree = join(work, 'tree')
  await writeTree(join(tree, 'usr'), { arch, executable, home: '/usr' })
  writeRpm(tree, { arch, version, date, effort, path: join(out, `${name}.rpm`) })
  writeDeb(tree, { arch, version, date, effort, path: join(out, `${name}.deb`) })
  await writeTree(join(work, name), { arch, executable, home: '/usr/local' })
  writeFileSync(join(out, `${name}.tar.gz`), compressed(archiveOf(work, [name], date), effort))
  return join(out, name)
}

function releaseName(arch: Arch, version: string = about.version): string {
  return `volctl-${version}-linux-${arch}`
}

/** Runs what was made, with the oldest glibc that it is for; another machine's under an emulator. */
async function tryOut(arch: Arch, executable: string): Promise<void> {
  const before = arch === process.arch ? [] : [EMULATOR, '-L', await leastRoot(arch)]
  for (const args of [['--version'], ['plan', '--snapshot', CAPTURE]])
    run('env', ['-i', ...before, executable, ...args])
}

/** Only of a whole release: krew's manifest names every machine. */
function writeKrewManifest(out: string): void {
  const sum = (arch: Arch): string => sha256(join(out, `${releaseName(arch)}.tar.gz`))
  writeFileSync(join(out, 'volctl.yaml'), krewManifest(about.version, { x64: sum('x64'), arm64: sum('arm64') }))
}

/**
 * The manifest of the kubectl plugin for krew: deploy/krew/volctl.yaml with the version and the sums of the tarballs.
 *
 * @param sums SHA-256 of each tarball, in hexadecimal. @throws Error for anything else
 */
export function krewManifest(version: string, sums: Readonly<Record<Arch, string>>): string {
  const wrong = Object.values(sums).find((sum) => !/^[0-9a-f]{64}$/.test(sum))
  if (wrong !== undefined) throw new Error(`not a SHA-256: ${wrong}`)
  // What stands above the document says how to make it.
  const text = readFileSync(join(root, 'deploy', 'krew', 'volctl.yaml'), 'utf8').replaceAll(/^#.*\n/gm, '')
  return text.replaceAll('SHA256_X64', sums.x64).replaceAll('SHA256_ARM64', sums.arm64).replaceAll('VERSION', version)
}

function sha256(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex')
}

function writeSums(out: string): void {
  const names = readdirSync(out).filter((name) => /^volctl[-.]/.test(name) || name === 'install.sh')
  const lines = names.toSorted().map((name) => {
    console.log(`${name.padEnd(44)} ${(statSync(join(out, name)).size / 1e6).toFixed(1).padStart(7)} MB`)
    return `${sha256(join(out, name))}  ${name}\n`
  })
  writeFileSync(join(out, 'SHA256SUMS'), lines.join(''))
}

if (import.meta.main) {
  const [wanted] = process.argv.slice(2)
  const out = join(root, 'out')
  rmSync(out, { recursive: true, force: true })
  mkdirSync(out)
  const date = sourceDate(root)
  const executables = new Map<Arch, string>()
  for (const arch of ARCHES.filter((each) => wanted === undefined || each === wanted)) {
    const executable = join(out, releaseName(arch))
    await makeExecutable(arch, join(root, 'dist'), executable)
    await tryOut(arch, executable)
    await makePackages(out, { arch, executable, effort: 'small' })
    executables.set(arch, executable)
  }
  await writeImage(executables, date, 'small', join(out, `volctl-${about.version}-linux.oci.tar`))
  copyFileSync(join(root, 'scripts', 'install.sh'), join(out, 'install.sh'))
  if (wanted === undefined) writeKrewManifest(out)
  run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', out], { cwd: root })
  writeSums(out)
}
