import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { csiGlobalDir } from '../../../src/core/names.ts'
import type { CsiDriver } from '../csi-driver/start.ts'

/**
 * What the files of each volume hold: of a staged volume as it is mounted, of another as its backing image or directory
 * has it. The image itself is no measure, since mounting writes into a file system's own records.
 */
export function contentHashes(driver: CsiDriver, handles: readonly string[]): Record<string, string> {
  return Object.fromEntries(handles.map((handle) => [handle, hashOfVolume(driver, handle)]))
}

function hashOfVolume(driver: CsiDriver, handle: string): string {
  const staged = join(driver.rootDir, csiGlobalDir(driver.name, handle), 'globalmount')
  if (isMounted(staged)) return hashOfTree(staged)
  const kept = join(driver.stateDir, 'volumes', Buffer.from(handle).toString('hex'))
  if (existsSync(`${kept}.img`)) return withImageMounted(`${kept}.img`, hashOfTree)
  return existsSync(kept) ? hashOfTree(kept) : 'not made yet'
}

function withImageMounted(image: string, use: (directory: string) => string): string {
  const directory = mkdtempSync(join(tmpdir(), 'volctl-image-'))
  execFileSync('mount', ['-o', 'ro,loop', image, directory])
  try {
    return use(directory)
  } finally {
    execFileSync('umount', [directory])
    rmdirSync(directory)
  }
}

function isMounted(path: string): boolean {
  return readFileSync('/proc/self/mountinfo', 'utf8').includes(` ${path} `)
}

function hashOfTree(directory: string): string {
  const hash = createHash('sha256')
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true })
  for (const entry of entries.toSorted((a, b) => (pathOf(a) < pathOf(b) ? -1 : 1))) {
    if (entry.name === 'lost+found') continue
    hash.update(`${pathOf(entry).slice(directory.length)}\0`)
    if (entry.isFile()) hash.update(readFileSync(pathOf(entry)))
  }
  return hash.digest('hex')
}

function pathOf(entry: { parentPath: string; name: string }): string {
  return join(entry.parentPath, entry.name)
}
