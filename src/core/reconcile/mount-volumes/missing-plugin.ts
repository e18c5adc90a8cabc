/** Volumes whose plugin this kubelet lacks, by its version and feature gates (O44). */
import type { VolumeToMount } from '../../desired/desired-state.ts'
import type { Wait } from '../../plan/draft.ts'
import { image } from '../../plugins/image.ts'
import { pluginNamed } from '../../plugins/registry.ts'
import type { PlanContext } from '../context/context.ts'
import { kubeletVersion } from '../obstacles/kubelet-version.ts'

const GATE = 'ImageVolume'
/** Minor versions of Kubernetes 1: from the first on the gate is on unless it is turned off, from the second on it cannot be. */
const ON_FROM = 35
const LOCKED_FROM = 36

/**
 * Why the kubelet never sets the volume up, and starts no container of the pod; undefined: nothing shows that. A pod that runs
 * shows that it could.
 */
export function missingPlugin({ inputs, witnesses }: PlanContext, volume: VolumeToMount): Wait | undefined {
  if (pluginNamed(volume.plugin) !== image || witnesses.isAlive(volume.podUid)) return undefined
  const { api, kubelet } = inputs.snapshot
  const version = kubeletVersion(api?.node)
  if (version === undefined || version.major !== 1 || version.minor >= LOCKED_FROM) return undefined
  const gates = kubelet?.config?.featureGates as Readonly<Record<string, unknown>> | null | undefined
  const isOn = gates?.[GATE] ?? gates?.AllBeta ?? version.minor >= ON_FROM
  if (isOn === true) return undefined
  return {
    code: 'PluginMissing',
    message: `the kubelet (${version.text}) has no plugin for image volumes: its feature gate ${GATE} is off`,
    hint: `Set ${GATE}: true in featureGates of the kubelet's configuration and restart the kubelet, or run the pod on a node with Kubernetes 1.${ON_FROM} or newer.`,
  }
}
