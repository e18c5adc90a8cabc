/** The SELinux label that a volume is mounted with (C68, R310, R311), by the pod, the host's policy and the volume's plugin or driver (R010). */

import { present } from '../base/text.ts'
import type { SelinuxOptions } from '../kube/api/objects.ts'
import type { VolumeToMount } from './desired-state.ts'
import { isGateOn } from './kubelet-version.ts'
import { isForOnePod } from './node-affinity.ts'
import type { ActualInputs } from './on-disk/actual-inputs.ts'
import { allContainers } from './pods.ts'
import { pluginNamed } from './registry.ts'

/** `label` is empty if the volume is mounted without one. */
type WantedLabel = { readonly label: string } | { readonly unclear: string }

const NONE: WantedLabel = { label: '' }

/** @returns `unclear`: why the label is not known; the volume must not be mounted then */
export function wantedLabel(inputs: ActualInputs, volume: VolumeToMount): WantedLabel {
  const { mode, persistentVolume, plugin, pod } = volume
  /** Undefined: the host's policy was not read. */
  const { selinux } = inputs.snapshot
  if (mode === 'Block' || persistentVolume === undefined || selinux?.enabled === false) return NONE
  // R310: only a volume that a single pod may use: no other pod can want another label.
  if (!isGateOn(inputs.snapshot, 'SELinuxMount') && !isForOnePod(persistentVolume)) return NONE
  const { takesLabel = () => false } = pluginNamed(plugin)
  const takes = takesLabel(inputs, volume)
  const options = optionsOf(volume)
  const isUsed = takes !== false && pod.spec.securityContext?.seLinuxChangePolicy !== 'Recursive'
  // One label that is not used need not be known; several are an error all the same.
  if (options.length === 0 || (options.length === 1 && !isUsed)) return NONE
  if (selinux === undefined) return { unclear: 'it is not known whether this node has SELinux' }
  if (selinux.error !== undefined) return { unclear: `the host's SELinux policy could not be read: ${selinux.error}` }
  // The level may contain colons.
  const [user, role, type, ...levels] = (selinux.fileLabel ?? '').split(':')
  if (!user || !role || !type) return NONE
  const defaultLevel = levels.join(':')
  if (options.some(({ level }) => !level) && defaultLevel !== '') {
    return { unclear: 'its seLinuxOptions have no level, so the kubelet chooses one at random' }
  }
  // Role and type of the pod apply to its processes, not to a file's label.
  const labels = [
    ...new Set(options.map((each) => present(each.user || user, role, type, each.level || defaultLevel).join(':'))),
  ]
  const [label = '', second] = labels
  if (second !== undefined) return { unclear: `its containers want different labels: ${labels.join(' and ')}` }
  if (!isUsed) return NONE
  if (takes === undefined) return { unclear: 'its CSIDriver could not be read' }
  // The label is put between quotes in a list of mount options.
  return /^[\w.:,-]+$/.test(label) ? { label } : { unclear: `${label} is not a valid SELinux label` }
}

/** R313: the quotes keep the commas of the level together. */
export function labelOption(label: string): readonly string[] {
  return label === '' ? [] : [`context="${label}"`]
}

/** The options of each container that mounts the volume, otherwise the pod's; containers without any are ignored. */
function optionsOf({ pod, podVolumeNames }: VolumeToMount): SelinuxOptions[] {
  const ofPod = pod.spec.securityContext
  return allContainers(pod)
    .filter(({ volumeMounts }) => volumeMounts?.some(({ name }) => podVolumeNames.includes(name)))
    .map(({ securityContext }) => securityContext?.seLinuxOptions ?? ofPod?.seLinuxOptions ?? {})
    .filter(({ user, role, type, level }) => user || role || type || level)
}
