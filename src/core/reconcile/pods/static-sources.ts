/** Static pods: which directories may belong to a pod that the API does not know (S10, R225-R230). */
import type { ActualInputs } from '../../actual/actual-inputs.ts'
import { isMirrorPod, onDiskUid } from '../../desired/pods.ts'
import type { Pod } from '../../model/objects.ts'
import type { Problem } from '../../plan/plan.ts'

export interface StaticSources {
  /** Why this UID, which the API does not list, may be a static pod's; undefined: it is not a static pod's. */
  mayOwn(uid: string): string | undefined
  /** True if the manifest of this mirror pod was read. Only then are volumes mounted for the pod (S10). */
  isRead(mirror: Pod): boolean
  /** True if the manifest of this mirror pod is, or may be, still there. */
  mayRun(mirror: Pod): boolean
  readonly problems: readonly Problem[]
}

/** The UID that a kubelet gives a static pod whose manifest names none (R227). */
const MANIFEST_HASH = /^[0-9a-f]{32}$/
const RFC4122 = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i

/** Matches every static pod manifest to a mirror pod and a directory; where that fails, pods are frozen (S10). */
export function judgeStaticSources(inputs: ActualInputs): StaticSources {
  const { snapshot, tree } = inputs
  const source = snapshot.staticPods
  const mirrors = (snapshot.api?.pods ?? []).filter(isMirrorPod)
  const named = new Set((source?.manifests ?? []).flatMap((manifest) => (manifest.uid ? [manifest.uid] : [])))
  const url = snapshot.kubelet?.config?.staticPodURL
  const unmatched = ((): string | undefined => {
    if (source === undefined) return 'the static pod manifests were not read'
    if (typeof url === 'string' && url !== '') return `static pods also come from ${url}, which volctl does not read`
    if (source.path && !source.readable) return `the static pod manifests in ${source.path} could not be read`
    for (const manifest of source.manifests) {
      const mirror = mirrors.find((pod) => isMirrorOf(pod, manifest, snapshot.nodeName))
      const uid = manifest.uid ?? (mirror && onDiskUid(mirror))
      if (mirror === undefined || uid === undefined || !tree.isDir(`pods/${uid}`)) {
        return `static pod manifest ${manifest.file} has no matching mirror pod and directory`
      }
    }
    return undefined
  })()
  const hashed = source?.manifests.find((manifest) => !manifest.uid)
  return {
    mayOwn: (uid) => {
      if (named.has(uid)) return 'a static pod manifest names this UID'
      if (unmatched !== undefined && !RFC4122.test(uid)) return unmatched
      // A mirror pod shows the hash of the manifest that it was made from: after an edit the static pod has another hash
      // (R227, R230).
      if (hashed === undefined || !MANIFEST_HASH.test(uid)) return undefined
      return `its UID may be the hash of ${hashed.file}, if that file was edited after the mirror pod was created`
    },
    isRead: (mirror) => source?.manifests.some((manifest) => isMirrorOf(mirror, manifest, snapshot.nodeName)) === true,
    mayRun: (mirror) =>
      source === undefined ||
      (Boolean(source.path) && !source.readable) ||
      (typeof url === 'string' && url !== '') ||
      source.manifests.some((manifest) => isMirrorOf(mirror, manifest, snapshot.nodeName)),
    problems:
      unmatched === undefined
        ? []
        : [
            {
              severity: source === undefined ? 'warning' : 'info',
              code: 'StaticPodsUnmatched',
              message: `${unmatched}: pod directories whose name is not an RFC 4122 UUID are left alone`,
              about: source?.path ? { path: source.path } : {},
            },
          ],
  }
}

/** R228: the mirror's name is the manifest's, a dash and the node's name in lower case. */
function isMirrorOf(pod: Pod, manifest: { name: string; namespace: string }, nodeName: string): boolean {
  return (
    pod.metadata.name === `${manifest.name}-${nodeName.toLowerCase()}` &&
    (pod.metadata.namespace ?? 'default') === (manifest.namespace || 'default')
  )
}
