/** Volumes that a running pod may still have although its directory no longer shows which (S9, O2, R827). */
import type { ActualInputs } from '../../actual/actual-inputs.ts'
import { baseName } from '../../actual/tree.ts'
import { unescapeQualifiedName } from '../../names/volume-names.ts'
import { pluginNamed } from '../../plugins/registry.ts'
import type { PodClass } from './pod-classes.ts'

/** A volume of a pod that must not be disturbed, which could not be identified: it may be any volume. */
export interface UnidentifiedVolume {
  readonly pod: PodClass
  /** What is known about the volume, in words. */
  readonly what: string
  /** Of any plugin, of any CSI driver, or of the driver of the PersistentVolume with this name. */
  readonly of: 'any' | 'csi' | { readonly driver: string }
}

/**
 * A pod whose directory could not be read may have any volume. If a running pod is not listed by the API, only its directory
 * shows the volumes. The kubelet creates `volumes` for every pod; it removes a volume's directory before the containers end,
 * and leaves the plugin's directory (O2).
 * @param hasCsiTraces whether a sub-path or a block map is left that names a CSI volume
 */
export function unidentifiedVolumes(
  { tree }: ActualInputs,
  pod: PodClass,
  hasCsiTraces: boolean,
): UnidentifiedVolume[] {
  const base = `pods/${pod.uid}`
  const volumes = `${base}/volumes`
  const plugins = [...tree.children(volumes), ...tree.children(`${base}/volumeDevices`)]
  const read = [base, volumes, `${base}/volumeDevices`].map((path) => tree.get(path))
  const unread = [...read, ...plugins].find((entry) => entry?.error !== undefined)
  if (unread !== undefined) return [{ pod, what: `${unread.path} could not be read (${unread.error})`, of: 'any' }]
  if (pod.pod !== undefined || !pod.alive) return []
  if (!tree.isDir(volumes)) return [{ pod, what: 'its volumes directory does not exist', of: 'any' }]
  return plugins.flatMap(({ path }): UnidentifiedVolume[] => {
    const family = pluginNamed(unescapeQualifiedName(baseName(path))).tearDown
    if ((family === 'csi' ? hasCsiTraces : family !== 'mount') || tree.children(path).length > 0) return []
    return [
      { pod, what: `${path} is empty, so which volumes it held is not known`, of: family === 'csi' ? 'csi' : 'any' },
    ]
  })
}

/** True if containers of a pod that the API does not list may still use volumes whose directories are already empty (O2). */
export function mayRunUnlisted(pod: PodClass): boolean {
  return pod.pod === undefined && (pod.alive || pod.why?.code === 'AlivenessUnknown')
}
