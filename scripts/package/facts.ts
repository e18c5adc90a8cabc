/** What packages say of volctl. */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import pjson from '../../package.json' with { type: 'json' }

export const about = {
  version: pjson.version,
  license: pjson.license,
  maintainer: 'The volctl authors <noreply@volctl.io>',
  summary: 'diagnose and repair the volumes of a Kubernetes node',
  description: [
    'volctl is the volume manager of the kubelet as a tool that runs once: it looks at',
    'a node, says what is mounted, wanted and left over, and carries that out if asked.',
  ],
} as const

/** How hard to compress: a release is small, a test is quick. */
export type Effort = 'small' | 'quick'

/** The size of all files below, rounded up. */
export function kibibytes(path: string): number {
  const files = readdirSync(path, { withFileTypes: true, recursive: true }).filter((entry) => entry.isFile())
  const bytes = files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)
  return Math.ceil(bytes / 1024)
}
