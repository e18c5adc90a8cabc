import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'
import { csiGlobalDir } from '../../../src/core/volumes/volume-names.ts'
import type { CsiDriver } from '../csi-driver/start.ts'
import { mountPoints } from '../scenario.ts'
import { kernelPath } from '../structure-places.ts'
import { handleOf, type SceneVolume } from './api-objects.ts'

/**
 * The content of a CSI volume: a staged file system as mounted, another one as in its backing image or directory. The image
 * of a file system itself is no measure, since mounting writes to the file system's own records; a block volume's image is.
 */
export function hashOfCsiVolume(driver: CsiDriver, volume: SceneVolume): string {
  const handle = handleOf(volume)
  const kept = keptAt(driver, handle)
  const image = `${kept}.img`
  if (volume.kind === 'block') return existsSync(image) ? hashOfFile(image) : 'not made yet'
  const staged = stagedAt(driver, handle)
  if (mountPoints().includes(kernelPath(staged))) return hashOfTree(staged)
  if (existsSync(image)) return withImageMounted(image, driver.stateDir, hashOfTree)
  return existsSync(kept) ? hashOfTree(kept) : 'not made yet'
}

function keptAt({ stateDir }: CsiDriver, handle: string): string {
  return join(stateDir, 'volumes', Buffer.from(handle).toString('hex'))
}

function stagedAt({ rootDir, name }: CsiDriver, handle: string): string {
  return join(rootDir, csiGlobalDir(name, handle), 'globalmount')
}

/** Names, links and content of everything below, mounts included. */
export function hashOfTree(directory: string): string {
  const hash = createHash('sha256')
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true })
  for (const entry of entries.toSorted((a, b) => (pathOf(a) < pathOf(b) ? -1 : 1))) {
    if (entry.name === 'lost+found') continue
    hash.update(`${pathOf(entry).slice(directory.length)}\0`)
    if (entry.isSymbolicLink()) hash.update(readlinkSync(pathOf(entry)))
    if (entry.isFile()) hash.update(readFileSync(pathOf(entry)))
  }
  return hash.digest('hex')
}

function hashOfFile(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex')
}

function withImageMounted(image: string, parent: string, use: (directory: string) => string): string {
  const directory = mkdtempSync(join(parent, 'image-'))
  execFileSync('mount', ['-o', 'ro,loop', image, directory])
  try {
    return use(directory)
  } finally {
    execFileSync('umount', [directory])
    rmdirSync(directory)
  }
}

function pathOf(entry: { parentPath: string; name: string }): string {
  return join(entry.parentPath, entry.name)
}
