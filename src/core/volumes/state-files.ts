import { VOLUME_DATA } from './csi-paths.ts'
import { PLUGINS } from './registry.ts'

/** Names of the files that a driver or a plugin needs to identify a volume (S14). */
export const STATE_FILES: ReadonlySet<string> = new Set([
  VOLUME_DATA,
  ...PLUGINS.flatMap(({ device }) => device?.record?.name ?? []),
])
