/** Static pods: which directories may belong to a pod that the API does not know (S10, R225-R230). */

import type { Pod } from '../../kube/api/objects.ts'
import { said } from '../../messages/findings.ts'
import type { Problem } from '../../plan/plan.ts'
import { isListedWhole } from '../../volumes/api-lookup.ts'
import { type PodRef, THE_NODE } from '../../volumes/finding.ts'
import type { ActualInputs } from '../../volumes/on-disk/actual-inputs.ts'
import { isMirrorPod, onDiskUid } from '../../volumes/pods.ts'

export type StaticSources = ReturnType<typeof judgeStaticSources>

/** The UID that a kubelet gives a static pod whose manifest names none (R227). */
const MANIFEST_HASH = /^[0-9a-f]{32}$/
const RFC4122 = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i

/** Matches every static pod manifest to a mirror pod and a directory; where that fails, pods are frozen (S10). */
export function judgeStaticSources(inputs: ActualInputs) {
  const { snapshot } = inputs
  const source = snapshot.staticPods
  const manifests = source?.manifests ?? []
  const unread = whyUnread(inputs)
  const unmatched = unread ?? whyUnmatched(inputs)
  const named = new Set(manifests.flatMap(({ uid }) => (uid ? [uid] : [])))
  const hashed = manifests.find(({ uid }) => !uid)
  /** Why this UID, which the API does not list, may be a static pod's; undefined: it is not a static pod's. */
  const mayOwn = (uid: string): string | undefined => {
    if (named.has(uid)) return 'a static pod manifest names this UID'
    if (unmatched !== undefined && !RFC4122.test(uid)) return unmatched
    // A mirror pod shows the hash of the manifest that it was made from: after an edit the static pod has another hash
    // (R227, R230).
    if (hashed === undefined || !MANIFEST_HASH.test(uid)) return undefined
    return `its UID may be the hash of ${hashed.file}, if that file was edited after the mirror pod was created`
  }
  const hasManifest = (pod: PodName): boolean =>
    manifests.some((manifest) => isMirrorOf(pod, manifest, snapshot.nodeName))
  const mayHaveManifest = (pod: PodName): boolean => unread !== undefined || hasManifest(pod)
  const at = source?.path ? { path: source.path } : undefined
  const problem: Problem = {
    severity: source === undefined ? 'warning' : 'info',
    ...said('StaticPodsUnmatched', { unmatched }),
    about: at ?? {},
    subject: at ?? THE_NODE,
  }
  return {
    mayOwn,
    /** The same of a pod that runs: the container runtime has its name, and a static pod has its manifest's (R228). */
    mayRunAs: ({ uid, namespace, name }: PodRef): string | undefined => {
      const mayBe = named.has(uid) || name === undefined || mayHaveManifest({ namespace, name })
      return mayBe ? mayOwn(uid) : undefined
    },
    /** True if the manifest of this mirror pod was read. Only then are volumes mounted for the pod (S10). */
    isRead: ({ metadata }: Pod): boolean => hasManifest(metadata),
    /** True if the manifest of this mirror pod is, or may be, still there. */
    mayRun: ({ metadata }: Pod): boolean => mayHaveManifest(metadata),
    // Without the list of pods no mirror pod is known: that is what is said then.
    problems:
      unmatched === undefined || (unread === undefined && !isListedWhole(snapshot.api, 'pods')) ? [] : [problem],
  }
}

/** Why there may be manifests that nobody read. */
function whyUnread({ snapshot: { staticPods: source, kubelet } }: ActualInputs): string | undefined {
  if (source === undefined) return 'the static pod manifests were not read'
  const url = kubelet?.config?.staticPodURL
  if (typeof url === 'string' && url !== '') return `static pods also come from ${url}, which volctl does not read`
  return source.path && !source.readable ? `the static pod manifests in ${source.path} could not be read` : undefined
}

function whyUnmatched({ snapshot, tree }: ActualInputs): string | undefined {
  const mirrors = (snapshot.api?.pods ?? []).filter(isMirrorPod)
  for (const manifest of snapshot.staticPods?.manifests ?? []) {
    const mirror = mirrors.find((pod) => isMirrorOf(pod.metadata, manifest, snapshot.nodeName))
    const uid = manifest.uid ?? (mirror && onDiskUid(mirror))
    if (mirror === undefined || uid === undefined || !tree.isDir(`pods/${uid}`)) {
      return `static pod manifest ${manifest.file} has no matching mirror pod and directory`
    }
  }
  return undefined
}

interface PodName {
  readonly namespace?: string
  readonly name: string
}

/** R228: a static pod's name is the manifest's, a dash and the node's name in lower case; its mirror pod has the same. */
function isMirrorOf(
  { namespace, name }: PodName,
  manifest: { name: string; namespace: string },
  nodeName: string,
): boolean {
  return (
    name === `${manifest.name}-${nodeName.toLowerCase()}` &&
    (namespace ?? 'default') === (manifest.namespace || 'default')
  )
}
