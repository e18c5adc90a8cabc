import { readdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { Scene } from '../../helpers/scene/scene.ts'

/** All that a repair may change, and all that it must not. */
export interface Fingerprint {
  readonly files: readonly string[]
  readonly mounts: readonly string[]
  /** Attachments that were deleted. */
  readonly attachments: readonly string[]
  readonly contents: Readonly<Record<string, string>>
}

export async function fingerprint(scene: Scene): Promise<Fingerprint> {
  const { rootDir } = scene
  const mounts = scene.mountPoints().map((path) => relative(rootDir, path))
  const requests = await scene.api.requests()
  const gone = requests.filter(({ method }) => method === 'DELETE').map(({ path }) => path.split('/').at(-1) ?? '')
  return {
    files: filesOf(rootDir, mounts),
    mounts,
    attachments: [...new Set(gone)].sort(),
    contents: scene.contentHashes(),
  }
}

function filesOf(rootDir: string, mounts: readonly string[]): string[] {
  const walk = (path: string): string[] =>
    readdirSync(join(rootDir, path), { withFileTypes: true }).flatMap((entry) => {
      const below = join(path, entry.name)
      return entry.isDirectory() && !mounts.includes(below) ? [`${below}/`, ...walk(below)] : [below]
    })
  return walk('.').toSorted()
}
