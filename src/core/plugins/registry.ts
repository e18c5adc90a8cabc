/** Every plugin that the kubelet of 1.36 registers (P1), and a stand-in for the others. */
import { configMap } from './configmap.ts'
import { csi } from './csi.ts'
import { downwardApi } from './downward-api.ts'
import { emptyDir } from './empty-dir.ts'
import { fc } from './fc.ts'
import { flexVolume } from './flex-volume.ts'
import { gitRepo } from './git-repo.ts'
import { hostPath } from './host-path.ts'
import { image } from './image.ts'
import { iscsi } from './iscsi.ts'
import { localVolume } from './local-volume.ts'
import { nfs } from './nfs.ts'
import type { VolumePlugin } from './plugin.ts'
import { projected } from './projected.ts'
import { secret } from './secret.ts'
import { unknown } from './unknown.ts'

/** In the kubelet's order, flexVolume last. */
export const PLUGINS: readonly VolumePlugin[] = [
  emptyDir,
  gitRepo,
  hostPath,
  nfs,
  secret,
  iscsi,
  downwardApi,
  fc,
  configMap,
  projected,
  localVolume,
  csi,
  image,
  flexVolume,
]

const BY_NAME: ReadonlyMap<string, VolumePlugin> = new Map(
  PLUGINS.filter((plugin) => plugin !== flexVolume).map((plugin) => [plugin.name, plugin]),
)

/**
 * The plugin of this name. A name that is not in-tree belongs to a flexVolume driver; if it begins with kubernetes.io/, to a
 * plugin of an older version (P2, P4).
 */
export function pluginNamed(name: string): VolumePlugin {
  return BY_NAME.get(name) ?? (name.startsWith('kubernetes.io/') ? unknown : flexVolume)
}

/** Is this an in-tree plugin? Any other name belongs to a flexVolume driver, or to a plugin of an older version (P1). */
export function isInTree(name: string): boolean {
  return BY_NAME.has(name)
}
