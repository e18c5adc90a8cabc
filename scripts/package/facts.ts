/** What packages say of volctl. */
import pjson from '../../package.json' with { type: 'json' }
import type { Arch } from './debian-libraries.ts'

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

/** A release is compressed as small as it gets; what a test makes not at all. */
export type Effort = 'small' | 'quick'

/** A package of a distribution, to be made of a tree. */
export interface Package {
  readonly arch: Arch
  readonly version: string
  /** What every file is dated, in seconds. */
  readonly date: number
  readonly effort: Effort
  /** The file to write. */
  readonly path: string
}
