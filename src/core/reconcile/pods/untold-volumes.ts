/** Volumes that a pod which runs may have, and that its directory does not tell any more (S9, O2, R827). */
import type { ActualInputs } from '../../actual/actual-inputs.ts'
import { baseName } from '../../actual/tree.ts'
import { unescapeQualifiedName } from '../../names/volume-names.ts'
import { pluginNamed } from '../../plugins/registry.ts'
import type { PodClass } from './pod-classes.ts'

/** A volume of a pod that must not be disturbed, which nothing tells: it may be any. */
export interface UnknownVolume {
  readonly pod: PodClass
  /** What there is of it, in words. */
  readonly what: string
  /** Of any plugin, of any CSI driver, or of the driver that the PersistentVolume of its name has. */
  readonly of: 'any' | 'csi' | { readonly driver: string }
}

/**
 * Of a pod whose directory could not be read, any volume may be. Of one that runs and that the API does not list, only
 * its directory tells the volumes. The kubelet makes `volumes`
 * for every pod; it takes a volume's directory away before the containers end, and leaves the one of the plugin (O2).
 * @param tells whether a sub-path or a block map is left that a CSI volume's name is known by
 */
export function untoldVolumes({ tree }: ActualInputs, pod: PodClass, tells: boolean): UnknownVolume[] {
  const base = `pods/${pod.uid}`
  const volumes = `${base}/volumes`
  const plugins = [...tree.children(volumes), ...tree.children(`${base}/volumeDevices`)]
  const read = [base, volumes, `${base}/volumeDevices`].map((path) => tree.get(path))
  const unread = [...read, ...plugins].find((entry) => entry?.error !== undefined)
  if (unread !== undefined) return [{ pod, what: `${unread.path} could not be read (${unread.error})`, of: 'any' }]
  if (pod.pod !== undefined || !pod.alive) return []
  if (!tree.isDir(volumes)) return [{ pod, what: 'no directory tells its volumes', of: 'any' }]
  return plugins.flatMap(({ path }): UnknownVolume[] => {
    const family = pluginNamed(unescapeQualifiedName(baseName(path))).tearDown
    if ((family === 'csi' ? tells : family !== 'mount') || tree.children(path).length > 0) return []
    return [{ pod, what: `${path} is empty: what it had is not known`, of: family === 'csi' ? 'csi' : 'any' }]
  })
}

/** May containers of a pod that the API does not list still have what its directories show empty (O2). */
export function mayRunUnlisted(pod: PodClass): boolean {
  return pod.pod === undefined && (pod.alive || pod.why?.code === 'AlivenessUnknown')
}
