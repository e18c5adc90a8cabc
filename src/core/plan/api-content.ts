import type { VolumeRef } from './plan.ts'

/** Volumes that the kubelet fills from the API: nobody's data. */
const API_CONTENT: ReadonlySet<string> = new Set(
  ['configmap', 'secret', 'projected', 'downward-api'].map((name) => `kubernetes.io/${name}`),
)

export function isApiContent(volume: VolumeRef | undefined): boolean {
  return volume !== undefined && API_CONTENT.has(volume.plugin)
}
