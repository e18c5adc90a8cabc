/** The two forms in which people have volctl, and the other programs that rows start. */
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { makeExecutable } from '../package/executable.ts'

const root = join(import.meta.dirname, '..', '..')

export interface Programs {
  /** As a tarball or package has it. */
  readonly executable: string
  /** As npm installs it. */
  readonly bundle: string
  /** One directory for each name. */
  directory(name: string): string
}

export type Form = 'executable' | 'bundle'

/** Makes the executable of the build in dist-tests/, which looks at the bench's node. @throws where a program that packages it is missing */
export async function makePrograms(directory: Programs['directory']): Promise<Programs> {
  const executable = join(directory('executable'), 'volctl')
  await makeExecutable(process.arch === 'arm64' ? 'arm64' : 'x64', join(root, 'dist-tests', 'dist'), executable)
  return { executable, bundle: join(root, 'dist-tests', 'bin', 'volctl'), directory }
}

/** A script that makes only the reads and calls of a row's subject: floor.cjs. */
export function floor(...args: readonly string[]): readonly string[] {
  return [process.execPath, join(root, 'scripts', 'bench', 'floor.cjs'), ...args]
}

/** Debian's kubectl, unpacked and not installed: it clashes with other packages of the same file. */
export function debianKubectl(directory: string): { readonly path: string } | { readonly missing: string } {
  const download = spawnSync('apt-get', ['download', 'kubernetes-client'], { cwd: directory, encoding: 'utf8' })
  const archive = readdirSync(directory).find((name) => name.endsWith('.deb'))
  if (download.status !== 0 || archive === undefined) {
    const why = download.error?.message ?? download.stderr.trim().split('\n').at(-1)
    return { missing: `Debian's kubernetes-client cannot be downloaded (${why})` }
  }
  const unpacked = spawnSync('dpkg', ['-x', archive, 'unpacked'], { cwd: directory, encoding: 'utf8' })
  return unpacked.status === 0
    ? { path: join(directory, 'unpacked', 'usr', 'bin', 'kubectl') }
    : { missing: `Debian's kubernetes-client cannot be unpacked (${unpacked.stderr.trim()})` }
}

/** Is there such a program? */
export function isThere(program: string): boolean {
  return spawnSync('sh', ['-c', 'command -v "$1"', 'sh', program]).status === 0
}
