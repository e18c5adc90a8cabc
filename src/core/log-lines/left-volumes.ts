/** What is left of a pod that is gone, and why the kubelet does not clean it up. */
import type { Explanation, Place, VolumeView } from '../explain/explanation.ts'
import { count } from '../lang/count.ts'

/** @returns each volume with something of the pod on disk; empty where the answer is not about a pod that is gone */
export function leftVolumes({ subject, pods, volumes, inputs }: Explanation): string[] {
  if (subject.kind !== 'Pod') return []
  const gone = new Set(pods.flatMap((each) => (each.class === 'Gone' ? each.pod.uid : [])))
  return volumes.flatMap((view) => {
    const places = view.places.filter(({ pod, exists }) => exists && pod !== undefined && gone.has(pod.uid))
    return places.length === 0 ? [] : [leftText(view, places, inputs.kubelet.state === 'running')]
  })
}

function leftText(
  { volume: { name, plugin, mode }, verdict }: VolumeView,
  places: readonly Place[],
  isKubeletUp: boolean,
): string {
  const of = (role: Place['role']): Place[] => places.filter((place) => place.role === role)
  const mounted = [...of('target'), ...of('map')].some(({ mounts }) => mounts.length > 0)
  const subPaths = of('subPath').length
  const what = mounted
    ? 'is mounted'
    : subPaths > 0
      ? `has ${count(subPaths, 'sub-path')} mounted`
      : 'has its directory left'
  const dead = places.find((place) => place.dead !== undefined)
  const [file] = of('stateFile')
  const because = (): string | undefined => {
    if (dead) return `its mount is dead: ${dead.dead}`
    if (plugin === 'kubernetes.io/csi' && mode === 'Filesystem') {
      if (file === undefined && of('target').length > 0)
        return `vol_data.json of ${name} is missing: the kubelet does not know its driver, and leaves it for ever`
      if (file?.state.startsWith('unusable')) return `vol_data.json of ${name} is ${file.state}`
    }
    if (!mounted && subPaths > 0)
      return 'its own directory is gone, and the kubelet takes sub-paths off with that alone'
    if (!mounted && file !== undefined) return 'a file is left in it, and the kubelet removes empty directories alone'
    // What blocks an emptyDir is its content, which volctl deletes on request alone: no reason of the kubelet's.
    if (verdict.state === 'problem') return verdict.message
    if (verdict.state === 'blocked' && plugin !== 'kubernetes.io/empty-dir') return verdict.message
    return isKubeletUp ? undefined : 'no kubelet runs on this node'
  }
  const why = because()
  return `volume ${name} ${what}${why === undefined ? '' : `; ${why}`}`
}
