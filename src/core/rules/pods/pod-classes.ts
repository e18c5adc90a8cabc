/**
 * Which pods are alive, and which are orphaned: the class of every pod UID that the API, the disk, the mount table, the
 * runtime or the process table knows. Everything destructive depends on this file (S3, S9, S10).
 */

import { compareText } from '../../base/text.ts'
import type { Pod } from '../../kube/api/objects.ts'
import type { ProblemCode } from '../../messages/codes.ts'
import { whyTerminatedKept } from '../../node/kubelet/kubelet-flags.ts'
import { isListedWhole } from '../../volumes/api-lookup.ts'
import type { PodRef } from '../../volumes/finding.ts'
import type { ActualInputs } from '../../volumes/on-disk/actual-inputs.ts'
import { isMirrorPod, isTerminalPhase, isTerminating, onDiskUid, protectedUids } from '../../volumes/pods.ts'
import type { StaticSources } from './static-sources.ts'
import { knownPods, type Witnesses } from './witnesses.ts'

/**
 * Desired: in the list and meant to run. Frozen: must not be touched, for the reason in `why`.
 * Finished: in the list, deleted or terminal, and not alive. Gone: not in a complete list, not alive, not static.
 */
type PodClassName = 'Desired' | 'Frozen' | 'Finished' | 'Gone'

export interface PodClass {
  readonly uid: string
  readonly class: PodClassName
  readonly ref: PodRef
  /** The API's object; for a static pod its mirror. */
  readonly pod: Pod | undefined
  readonly alive: boolean
  readonly why?: WhyFrozen
}

/** Why a pod is Frozen; the message continues the pod's name. */
interface WhyFrozen {
  readonly is: keyof typeof FROZEN
  readonly code: ProblemCode
  readonly message: string
}

/** What keeps a pod from being touched, and the code of it. */
const FROZEN = {
  unseen: 'ReadFailed',
  unlisted: 'PodListIncomplete',
  static: 'MayBeStatic',
  stranger: 'UnknownPodProcess',
  running: 'PodStillRunning',
  runningUnlisted: 'PodGoneButRunning',
  perhapsRunning: 'AlivenessUnknown',
  kept: 'TerminatedKept',
} as const satisfies Readonly<Record<string, ProblemCode>>

/** Desired and Frozen pods keep the volumes that they have (S5). */
export function isLiving(pod: PodClass): boolean {
  return pod.class === 'Desired' || pod.class === 'Frozen'
}

export type PodClasses = ReturnType<typeof classifyPods>

/**
 * @param blockUids UIDs that only a block map or publish path knows
 * @returns classes of every UID, sorted by UID
 */
export function classifyPods(
  inputs: ActualInputs,
  witnesses: Witnesses,
  statics: StaticSources,
  blockUids: Iterable<string>,
) {
  const { snapshot, tree } = inputs
  const listed = new Map<string, Pod>()
  const shielded = new Set<string>()
  // The last object counts. S10: the UID in a mirror pod's annotation never replaces an ordinary pod's own UID; if two
  // objects have the same UID, the one that is meant to run counts.
  for (const pod of (snapshot.api?.pods ?? []).toSorted((a, b) => weightOf(a) - weightOf(b))) {
    listed.set(onDiskUid(pod), pod)
    for (const uid of protectedUids(pod)) shielded.add(uid)
  }
  // S9: a running pod counts even without a directory: the kubelet removes the directory before the containers end (O2).
  const running = [...(snapshot.runtime?.pods ?? []).map(({ uid }) => uid), ...(snapshot.processes ?? [])]
  const uids = new Set<string>([
    ...listed.keys(),
    // mkfs makes it where `pods` is a file system of its own.
    ...tree.childDirs('pods').filter((uid) => uid !== 'lost+found'),
    ...inputs.podsWithMounts(),
    ...blockUids,
    ...running.filter((uid) => witnesses.isAlive(uid)),
  ])
  const sandboxes = new Map((snapshot.runtime?.pods ?? []).map((sandbox) => [sandbox.uid, sandbox]))
  const unseen = sectionUnseen(inputs)
  const listComplete = podListIsComplete(inputs)

  const listedVerdict = (uid: string, pod: Pod, alive: boolean): Verdict => {
    if (isMirrorPod(pod) && !statics.mayRun(pod)) {
      if (alive)
        return frozen('running', 'its manifest was removed, but a sandbox, container or process of it still runs')
      // S10: protected as long as the mirror pod exists, which only the kubelet deletes (O27).
      return frozen('static', 'its manifest was removed, but its mirror pod is still in the API')
    }
    // The kubelet creates a deleted mirror pod again: only its phase says whether the static pod has ended (R220).
    const ending = isTerminalPhase(pod) || (isTerminating(pod) && !isMirrorPod(pod))
    if (!ending) return 'Desired'
    if (unseen !== undefined) return frozen('unseen', unseen)
    if (alive) return frozen('running', `it ${endingOf(pod)}, but a sandbox, container or process of it still runs`)
    const blind = witnesses.blindFor(uid)
    if (blind !== undefined) return frozen('perhapsRunning', blind)
    const keepers = whyTerminatedKept(snapshot)
    return keepers === undefined ? 'Finished' : frozen('kept', `it has ended, and its volumes are kept (${keepers})`)
  }

  const unlistedVerdict = (ref: PodRef, alive: boolean): Verdict => {
    const { uid } = ref
    if (unseen !== undefined) return frozen('unseen', unseen)
    if (!listComplete) return frozen('unlisted', 'the list of pods may be incomplete')
    if (shielded.has(uid)) return frozen('static', 'a mirror pod has this UID')
    if (alive && !knownPods(inputs).has(uid))
      return frozen('stranger', 'a process is in its cgroup, but nothing else on this node knows the pod')
    // Nobody deleted a static pod whose mirror pod is missing: it is meant to run (R230).
    const running = alive ? statics.mayRunAs(ref) : undefined
    if (running !== undefined) return frozen('static', running)
    if (alive)
      return frozen(
        'runningUnlisted',
        'it was deleted from the API, but a sandbox, container or process of it still runs',
      )
    const blind = witnesses.blindFor(uid)
    if (blind !== undefined) return frozen('perhapsRunning', blind)
    const owner = statics.mayOwn(uid)
    return owner === undefined ? 'Gone' : frozen('static', owner)
  }

  const classOf = (uid: string): PodClass => {
    const [pod, sandbox] = [listed.get(uid), sandboxes.get(uid)]
    const ref = {
      namespace: pod?.metadata.namespace ?? sandbox?.namespace,
      name: pod === undefined ? sandbox?.name : pod.metadata.name,
      uid,
    }
    const alive = witnesses.isAlive(uid)
    const verdict = pod === undefined ? unlistedVerdict(ref, alive) : listedVerdict(uid, pod, alive)
    const base = { uid, ref, pod, alive }
    return typeof verdict === 'string' ? { ...base, class: verdict } : { ...base, class: 'Frozen', why: verdict }
  }

  const all = [...uids].toSorted(compareText).map(classOf)
  const byUid = new Map(all.map((entry) => [entry.uid, entry]))
  return { all, gone: all.filter((pod) => pod.class === 'Gone'), of: (uid: string) => byUid.get(uid) }
}

type Verdict = Exclude<PodClassName, 'Frozen'> | WhyFrozen

function frozen(is: WhyFrozen['is'], message: string): WhyFrozen {
  return { is, code: FROZEN[is], message }
}

/** How a pod that is ending does so, in words: in a terminal phase it may never have been deleted (R209). */
export function endingOf(pod: Pod): string {
  return isTerminating(pod) || !isTerminalPhase(pod) ? 'is terminating' : `has phase ${pod.status?.phase}`
}

/** Sorts ordinary pods after mirror pods, and pods that are meant to run after those that are terminating. */
function weightOf(pod: Pod): number {
  return (isMirrorPod(pod) ? 0 : 2) + (isTerminalPhase(pod) || isTerminating(pod) ? 0 : 1)
}

/** Without the mount table or the disk nothing is known to be unused; without the loop devices no map can be torn down. */
export function sectionUnseen(inputs: ActualInputs): string | undefined {
  return (
    placesUnseen(inputs) ?? (inputs.snapshot.blockDevices === undefined ? 'the loop devices were not read' : undefined)
  )
}

/** Why nobody can say that a path is not there, or that nothing is mounted on it. */
export function placesUnseen({ snapshot, mounts }: ActualInputs): string | undefined {
  if (mounts.all.length === 0) return 'the mount table was not read'
  return snapshot.tree === undefined ? "the kubelet's directories were not read" : undefined
}

/** S3: a failed or missing list proves no pod absent. */
export function podListIsComplete({ snapshot }: ActualInputs): boolean {
  return isListedWhole(snapshot.api, 'pods')
}
