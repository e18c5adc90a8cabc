import { readdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { Scene } from '../../helpers/scene/scene.ts'

/** Links in place of these are gone through, as the kubelet does. */
const STRUCTURE = ['pods', 'plugins']

/** All that a repair may change, and all that it must not. */
export interface Fingerprint {
  readonly files: readonly string[]
  readonly mounts: readonly string[]
  /** Names of the attachments that were deleted since the server's log was cleared. */
  readonly detached: readonly string[]
  readonly contents: Readonly<Record<string, string>>
}

export function fingerprint(scene: Scene): Fingerprint {
  const { rootDir } = scene
  const mounts = scene.mountPoints().map((path) => relative(rootDir, path))
  const requests = scene.api.requests()
  const deleted = requests.filter(({ method, status }) => method === 'DELETE' && status < 300)
  return {
    files: filesOf(rootDir, mounts),
    mounts,
    detached: [...new Set(deleted.map(({ path }) => path.split('/').at(-1) ?? ''))].sort(),
    contents: scene.contentHashes(),
  }
}

function filesOf(rootDir: string, mounts: readonly string[]): string[] {
  const walk = (path: string): string[] =>
    readdirSync(join(rootDir, path), { withFileTypes: true }).flatMap((entry) => {
      const below = join(path, entry.name)
      const isDirectory = entry.isDirectory() || STRUCTURE.includes(below)
      return isDirectory && !mounts.includes(below) ? [`${below}/`, ...walk(below)] : [below]
    })
  return walk('.').toSorted()
}
