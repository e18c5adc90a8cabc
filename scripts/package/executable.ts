/**
 * One executable: Node.js without its symbols, with the bundle, V8's code cache, and the rules that `explain` prints, inside.
 * The same source gives the same bytes.
 */
import { chmodSync, copyFileSync, cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { BUNDLES, SAME_BYTES, WARM_UP } from '../build.ts'
import type { Arch } from './debian-libraries.ts'
import { leastRoot, nodeFolder } from './fetched.ts'
import { EMULATOR, isInstalled, run } from './run.ts'

const root = join(import.meta.dirname, '..', '..')
/** As the libraries lie in a tarball, and in the root of an image. */
const LIBRARIES = '$ORIGIN/../lib/volctl'
const FOREIGN: Readonly<Record<Arch, string>> = { x64: 'x86_64-linux-gnu-', arm64: 'aarch64-linux-gnu-' }

/** Before the first line of JavaScript: nothing that the environment names is read (S34). The first three as bin/volctl has them. */
export const EXEC_ARGV: readonly string[] = [
  '--min-semi-space-size=8',
  '--max-semi-space-size=8',
  '--v8-pool-size=1',
  '--disable-sigusr1',
  '--openssl-config=/dev/null',
  '--icu-data-dir=/dev/null',
]

export interface Made {
  readonly path: string
  /** What is not as good as it could be, and why. */
  readonly lacks: readonly string[]
}

/**
 * @param dist of the build, whole
 * @param path of the executable to write
 */
export async function makeExecutable(arch: Arch, dist: string, path: string): Promise<Made> {
  const work = mkdtempSync(join(tmpdir(), 'volctl-executable-'))
  try {
    const lacks: string[] = []
    const node = join(work, 'node')
    copyFileSync(join(nodeFolder(arch), 'bin', 'node'), node)
    const strip = arch === process.arch ? 'strip' : `${FOREIGN[arch]}strip`
    if (isInstalled(strip)) run(strip, [node])
    else lacks.push(`the executable for ${arch} has its symbols: ${strip} is missing`)
    for (const name of [...BUNDLES, 'load-bundle.cjs', 'rules.md']) cpSync(join(dist, name), join(work, name))
    if (!(await makeCodeCache(arch, work)))
      lacks.push(`the executable for ${arch} has no code cache: ${EMULATOR} is missing`)
    await bundleStart(dist, join(work, 'start.cjs'))
    const assets = [...BUNDLES, 'rules.md', 'code-cache'].filter((name) => existsSync(join(work, name)))
    writeFileSync(join(work, 'config.json'), JSON.stringify(configuration(assets)))
    // From inside: Node.js writes the names of the files into the executable.
    run(process.execPath, ['--build-sea', 'config.json'], { cwd: work })
    // Last: of what patchelf has moved, Node.js would cut something off.
    run('patchelf', ['--set-rpath', LIBRARIES, join(work, 'volctl')])
    copyFileSync(join(work, 'volctl'), path)
    chmodSync(path, 0o755)
    return { path, lacks }
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

async function bundleStart(dist: string, outfile: string): Promise<void> {
  await build({
    entryPoints: [join(root, 'scripts', 'executable', 'start.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node26',
    format: 'cjs',
    minify: true,
    keepNames: true,
    charset: 'utf8',
    absWorkingDir: root,
    logLevel: 'warning',
    plugins: [
      {
        // Of this build, since that of the tests keeps one variable more.
        name: 'kept-environment',
        setup: ({ onResolve }) =>
          onResolve({ filter: /kept-environment\.cjs$/ }, () => ({ path: join(dist, 'kept-environment.cjs') })),
      },
    ],
  })
}

/** Every name is one in the working directory. */
function configuration(assets: readonly string[]): object {
  return {
    main: 'start.cjs',
    executable: 'node',
    output: 'volctl',
    disableExperimentalSEAWarning: true,
    // Of the small main script alone; the bundle's is an asset, made after a plan has run.
    useCodeCache: false,
    execArgv: EXEC_ARGV,
    execArgvExtension: 'none',
    assets: Object.fromEntries(assets.map((name) => [name, name])),
  }
}

/**
 * Made by the Node.js that will read it, since V8 takes no other's.
 *
 * @returns whether that Node.js can run here
 */
async function makeCodeCache(arch: Arch, folder: string): Promise<boolean> {
  const node = join(nodeFolder(arch), 'bin', 'node')
  const [program = '', ...before] = arch === process.arch ? [node] : [EMULATOR, '-L', await leastRoot(arch), node]
  if (!isInstalled(program)) return false
  const maker = join(root, 'scripts', 'make-code-cache.cjs')
  run(program, [...before, maker, folder])
  run(program, [...before, ...SAME_BYTES, maker, folder, ...WARM_UP])
  return true
}
