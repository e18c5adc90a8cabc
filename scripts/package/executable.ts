/**
 * One executable: Node.js without its symbols, with the bundle and V8's code cache inside. The same source gives the same bytes.
 */
import { chmodSync, copyFileSync, cpSync, mkdirSync, mkdtempDisposableSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { build } from 'esbuild'
import { BUNDLES, SAME_BYTES, WARM_UP } from '../build.ts'
import { withoutVariables } from '../executable/read-early.ts'
import { type Arch, thisArch } from './debian-libraries.ts'
import { leastRoot, nodeFolder } from './fetched.ts'
import { EMULATOR, run } from './run.ts'

const root = join(import.meta.dirname, '..', '..')
/** As the libraries lie in a tarball, and in the root of an image. */
const LIBRARIES = '$ORIGIN/../lib/volctl'
const FOREIGN: Readonly<Record<Arch, string>> = { x64: 'x86_64-linux-gnu-', arm64: 'aarch64-linux-gnu-' }

/** Before the first line of JavaScript: nothing that the environment names is read (S34). The first three as bin/volctl has them. */
const EXEC_ARGV: readonly string[] = [
  '--min-semi-space-size=8',
  '--max-semi-space-size=8',
  '--v8-pool-size=1',
  '--disable-sigusr1',
  '--openssl-config=/dev/null',
  '--icu-data-dir=/dev/null',
]

/** Every name is one in the working directory. */
const CONFIGURATION = {
  main: 'start.cjs',
  executable: 'node',
  output: 'volctl',
  disableExperimentalSEAWarning: true,
  // Of the small main script alone; the bundle's is an asset, made after a plan has run.
  useCodeCache: false,
  execArgv: EXEC_ARGV,
  execArgvExtension: 'none',
  assets: Object.fromEntries([...BUNDLES, 'code-cache'].map((name) => [name, name])),
}

/**
 * @param dist of the build, whole
 * @param path of the executable to write
 */
export async function makeExecutable(arch: Arch, dist: string, path: string): Promise<void> {
  using temporary = mkdtempDisposableSync(join(tmpdir(), 'volctl-executable-'))
  const work = temporary.path
  const node = join(work, 'node')
  copyFileSync(join(nodeFolder(arch), 'bin', 'node'), node)
  run(arch === process.arch ? 'strip' : `${FOREIGN[arch]}strip`, [node])
  writeFileSync(node, withoutVariables(readFileSync(node)))
  for (const name of [...BUNDLES, 'load-bundle.cjs']) cpSync(join(dist, name), join(work, name))
  await makeCodeCache(arch, work)
  await bundleStart(dist, join(work, 'start.cjs'))
  writeFileSync(join(work, 'config.json'), JSON.stringify(CONFIGURATION))
  // From inside: Node.js writes the names of the files into the executable.
  run(process.execPath, ['--build-sea', 'config.json'], { cwd: work })
  // Last: of what patchelf has moved, Node.js would cut something off.
  run('patchelf', ['--set-rpath', LIBRARIES, join(work, 'volctl')])
  copyFileSync(join(work, 'volctl'), path)
  chmodSync(path, 0o755)
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

/** Made by the Node.js that will read it, since V8 takes no other's. */
async function makeCodeCache(arch: Arch, folder: string): Promise<void> {
  const node = join(nodeFolder(arch), 'bin', 'node')
  const [program = '', ...before] = arch === process.arch ? [node] : [EMULATOR, '-L', await leastRoot(arch), node]
  const maker = join(root, 'scripts', 'make-code-cache.cjs')
  run(program, [...before, maker, folder])
  run(program, [...before, ...SAME_BYTES, maker, folder, ...WARM_UP])
}

// The tests' own for this machine, as a release has it but for its bundle (build.ts): test/helpers/volctl-program.ts.
if (import.meta.main) {
  const path = join(root, 'dist-executable', 'volctl')
  mkdirSync(dirname(path), { recursive: true })
  await makeExecutable(thisArch(), join(root, 'dist-tests', 'dist'), path)
  console.error(`made ${path}`)
}
