/** Static pods: whose directory may belong to a pod that the API does not know (S10, R225-R230). */
import type { ActualInputs } from '../../actual/actual-inputs.ts'
import { isMirrorPod, onDiskUid } from '../../desired/pods.ts'
import type { Pod } from '../../model/objects.ts'
import type { Problem } from '../../plan/plan.ts'

export interface StaticSources {
  /** Could this UID, which the API does not list, be a static pod's? Says why, or undefined. */
  mayOwn(uid: string): string | undefined
  /** Was the manifest of this mirror pod read here? Only then anything is mounted for it (S10). */
  isRead(mirror: Pod): boolean
  /** Is the manifest of this mirror pod still there, or possibly there? */
  mayRun(mirror: Pod): boolean
  readonly problems: readonly Problem[]
}

/** What a kubelet calls a static pod whose manifest names no UID (R227). */
const MANIFEST_HASH = /^[0-9a-f]{32}$/
const RFC4122 = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i

/** Matches every static source to mirror pods and directories; what is not fully matched freezes (S10). */
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
        return `the static pod of ${manifest.file} is not matched to a mirror pod and a directory`
      }
    }
    return undefined
  })()
  const hashed = source?.manifests.find((manifest) => !manifest.uid)
  return {
    mayOwn: (uid) => {
      if (named.has(uid)) return 'a static pod manifest names this UID'
      if (unmatched !== undefined && !RFC4122.test(uid)) return unmatched
      // A mirror pod shows the hash that the manifest had: after an edit the static pod has another (R227, R230).
      if (hashed === undefined || !MANIFEST_HASH.test(uid)) return undefined
      return `it may be the hash of ${hashed.file}, if that was edited since its mirror pod was made`
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
              message: `${unmatched}: directories that are not named by an RFC 4122 UUID are left alone`,
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
