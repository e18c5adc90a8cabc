/** The SELinux label that a volume is mounted with (C68, R310, R311): a pure function of the pod and the host's policy. */

import type { Selinux } from '../facts/actual/snapshot.ts'
import type { SelinuxOptions } from '../kube/api/objects.ts'
import type { VolumeToMount } from './desired-state.ts'
import { isForOnePod } from './node-affinity.ts'
import { allContainers } from './pods.ts'

/** `label` is empty if the volume is mounted without one. */
export type WantedLabel = { readonly label: string } | { readonly unclear: string }

const NONE: WantedLabel = { label: '' }

interface LabelFacts {
  /** Undefined: the host's policy was not read. */
  readonly selinux: Selinux | undefined
  /** Does the volume's plugin, or its driver, mount with a label (R010)? Undefined: that is not known. */
  readonly takesLabel: boolean | undefined
  /** Feature gate SELinuxMount: volumes of every access mode are mounted with a label. */
  readonly everyAccessMode: boolean
}

/** @returns `unclear`: why the label is not known; the volume must not be mounted then */
export function wantedLabel(volume: VolumeToMount, { selinux, takesLabel, everyAccessMode }: LabelFacts): WantedLabel {
  if (volume.mode === 'Block' || !supports(volume, everyAccessMode) || selinux?.enabled === false) return NONE
  const options = optionsOf(volume)
  const isUsed = takesLabel !== false && volume.pod.spec.securityContext?.seLinuxChangePolicy !== 'Recursive'
  // One label that is not used need not be known; several are an error all the same.
  if (options.length === 0 || (options.length === 1 && !isUsed)) return NONE
  if (selinux === undefined) return { unclear: 'it is not known whether this node has SELinux' }
  if (selinux.error !== undefined) return { unclear: `the host's SELinux policy could not be read: ${selinux.error}` }
  const defaults = partsOf(selinux.fileLabel ?? '')
  if (defaults === undefined) return NONE
  if (options.some(({ level }) => !level) && defaults.level !== '') {
    return { unclear: 'its seLinuxOptions have no level, so the kubelet chooses one at random' }
  }
  const labels = [...new Set(options.map((each) => fileLabel(each, defaults)))]
  const [label = '', second] = labels
  if (second !== undefined) return { unclear: `its containers want different labels: ${labels.join(' and ')}` }
  if (!isUsed) return NONE
  if (takesLabel === undefined) return { unclear: 'its CSIDriver could not be read' }
  // The label is put between quotes in a list of mount options.
  return /^[\w.:,-]+$/.test(label) ? { label } : { unclear: `${label} is not a valid SELinux label` }
}

/** R313: the quotes keep the commas of the level together. */
export function labelOption(label: string): readonly string[] {
  return label === '' ? [] : [`context="${label}"`]
}

/** R310: only a volume that a single pod may use: no other pod can want another label. */
function supports({ persistentVolume }: VolumeToMount, everyAccessMode: boolean): boolean {
  return persistentVolume !== undefined && (everyAccessMode || isForOnePod(persistentVolume))
}

/** The options of each container that mounts the volume, otherwise the pod's; containers without any are ignored. */
function optionsOf({ pod, podVolumeNames }: VolumeToMount): SelinuxOptions[] {
  const ofPod = pod.spec.securityContext
  return allContainers(pod)
    .filter(({ volumeMounts }) => volumeMounts?.some(({ name }) => podVolumeNames.includes(name)))
    .map(({ securityContext }) => securityContext?.seLinuxOptions ?? ofPod?.seLinuxOptions ?? {})
    .filter(({ user, role, type, level }) => user || role || type || level)
}

interface Label {
  readonly user: string
  readonly role: string
  readonly type: string
  readonly level: string
}

/** The level may contain colons. */
function partsOf(text: string): Label | undefined {
  const [user, role, type, ...level] = text.split(':')
  return user && role && type ? { user, role, type, level: level.join(':') } : undefined
}

/** Role and type of the pod apply to its processes, not to a file's label. */
function fileLabel(options: SelinuxOptions, defaults: Label): string {
  const level = options.level || defaults.level
  return [options.user || defaults.user, defaults.role, defaults.type, ...(level === '' ? [] : [level])].join(':')
}
