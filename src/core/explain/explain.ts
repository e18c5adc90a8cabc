/**
 * All that is known about one pod, claim, PersistentVolume, VolumeAttachment, volume, mount, path or device of a node: from the
 * same look, and by the same pass, as a plan. Pure: who holds it is asked of the live node alone (live-holders.ts).
 */
import { undeletedRoot } from '../mountinfo/deleted.ts'
import type { NodeState } from '../node-state.ts'
import { onceFor } from '../once-for.ts'
import type { PlanOptions } from '../plan/plan.ts'
import { podName } from '../pod-name.ts'
import { type PlanContext, podRefOf } from '../reconcile/context.ts'
import { type Decided, planWithDecisions, podVerdict } from '../reconcile/decisions.ts'
import type { PodClass } from '../reconcile/pod-classes.ts'
import { adviceOn } from './advice.ts'
import { allCandidates, type Target } from './candidates.ts'
import { cluesOn } from './clues.ts'
import { type Concern, concernOf, type Scope } from './concerns.ts'
import { type DescribedVolume, describeVolume, NOTHING_HERE } from './describe-volume.ts'
import type { Explanation, Fact, Place, PodView, Subject, Verdict } from './explanation.ts'
import { findTarget, splitPrefix } from './find-target.ts'
import { identityOf } from './identity.ts'
import type { NodeVolume } from './node-volume.ts'
import { NodeVolumes } from './node-volumes.ts'
import { FROM_SNAPSHOT } from './not-asked.ts'
import { type PlaceTarget, placeTarget } from './path-target.ts'
import { type Because, verdictOf } from './verdict.ts'

export interface Explained {
  readonly explanation: Explanation
  /** Absolute paths on which somebody may keep it busy: its mounts, and directories of data on disk. */
  readonly heldAt: readonly string[]
  /** Names in /dev: raw block volumes' devices, and what was asked about. */
  readonly devices: readonly string[]
}

/**
 * @param what a name, kind/name, a UID, an absolute path, or a device
 * @throws VolctlError NotFound, AmbiguousName
 */
export function explain(state: NodeState, options: PlanOptions, what: string): Explained {
  return explainer(state, options)(what)
}

/** For several questions about one look: the pass is made once. */
export function explainer(state: NodeState, options: PlanOptions): (what: string) => Explained {
  const decided = planWithDecisions(state, options)
  const { context } = decided
  const volumes = new NodeVolumes(context)
  // A path is found without them.
  const candidates = onceFor((of: PlanContext) => allCandidates(of, volumes))
  const describe = onceFor((volume: NodeVolume) => describeVolume(context, decided, volume, []))
  return (what) => {
    const asked = isPlace(what)
      ? ofPlace(placeTarget(context, volumes, placeName(what)))
      : ofTarget(context, volumes, findTarget(context, candidates(context), what))
    const concern = concernOf(context.inputs, decided.plan, decided.decisions, asked.scope)
    const { only } = asked.scope
    const described = asked.scope.volumes.map((volume) =>
      only.length === 0 ? describe(volume) : describeVolume(context, decided, volume, only),
    )
    return {
      explanation: explanationOf(decided, options, { what, asked, concern, volumes: described }),
      heldAt: heldAt(context, asked),
      devices: [...new Set([...deviceFiles(asked.scope.volumes), ...(asked.devices ?? [])])],
    }
  }
}

interface Asked {
  readonly subject: Subject
  readonly identity: readonly Fact[]
  readonly places: readonly Place[]
  readonly scope: Scope
  /** Names in /dev, where it was a device. */
  readonly devices?: readonly string[]
  /** Why nothing is to be done, where it is no pod and no volume. */
  readonly because?: string | undefined
}

function isPlace(what: string): boolean {
  const { kind, name } = splitPrefix(what)
  if (kind === 'Path' || kind === 'Mount' || kind === 'Device') return true
  return what.startsWith('/') || /^\d+:\d+$/.test(kind === undefined ? what : name)
}

/** `mount//a` and `mount/a` are the same path, `device/loop3` is one in /dev. */
function placeName(what: string): string {
  const { kind, name } = splitPrefix(what)
  if (kind === undefined || what.startsWith('/')) return what
  if (kind === 'Device') return /^\d+:\d+$/.test(name) || name.startsWith('/') ? name : `/dev/${name}`
  return name.startsWith('/') ? name : `/${name}`
}

function ofPlace({ facts: identity, volumes, pods, paths, ...rest }: PlaceTarget): Asked {
  return { ...rest, identity, scope: { pods, only: pods, volumes, paths, attachments: [] } }
}

function ofTarget(context: PlanContext, volumes: NodeVolumes, target: Target): Asked {
  const identity = identityOf(context, target)
  if (target.kind === 'Pod') {
    const name = podName(podRefOf(context, target.uid))
    const scope = {
      pods: [target.uid],
      only: [target.uid],
      volumes: volumes.ofPod(target.uid),
      paths: [],
      attachments: [],
    }
    return { subject: { kind: 'Pod', name }, identity, places: [], scope }
  }
  const name = target.kind === 'PersistentVolumeClaim' ? `${target.namespace}/${target.name}` : target.name
  const own = target.volume === undefined ? [] : [target.volume]
  const attachments = target.kind === 'VolumeAttachment' && target.volume === undefined ? [name] : []
  return {
    subject: { kind: target.kind, name },
    identity,
    places: [],
    scope: { pods: [], only: [], volumes: own, paths: [], attachments },
  }
}

function explanationOf(
  { plan, context }: Decided,
  options: PlanOptions,
  {
    what,
    asked,
    concern,
    volumes,
  }: { what: string; asked: Asked; concern: Concern; volumes: readonly DescribedVolume[] },
): Explanation {
  const { node, rootDir, bootID, createdAt, volctlVersion, complete, refused } = plan
  const all = new Set([...concern.before, ...concern.operations])
  return {
    apiVersion: 'volctl.io/v1',
    kind: 'Explanation',
    what,
    node,
    rootDir,
    ...(bootID !== undefined && { bootID }),
    createdAt,
    volctlVersion,
    subject: asked.subject,
    identity: asked.identity,
    pods: podsOf(context, asked.scope),
    volumes: volumes.map(({ view }) => view),
    places: asked.places,
    verdict: withDeath(
      verdictOf(concern, becauseOf(context, asked, volumes, concern), untouchable(context, asked.scope)),
      [...asked.places, ...volumes.flatMap(({ view }) => view.places)],
    ),
    operations: plan.operations.filter((operation) => all.has(operation)),
    waiting: concern.waiting,
    problems: concern.problems,
    decisions: concern.decisions,
    holders: FROM_SNAPSHOT,
    advice: adviceOn(concern, plan, options, cluesOn(context, asked.scope.pods, concern, options)),
    complete,
    ...(refused !== undefined && { refused }),
  }
}

/** That a mount is dead is the first thing to know, whatever becomes of it. */
function withDeath(verdict: Verdict, places: readonly Place[]): Verdict {
  const { dead } = places.find((place) => place.dead !== undefined) ?? {}
  const [errno = dead] = /\bE[A-Z]+\b/.exec(dead ?? '') ?? []
  if (dead === undefined || errno === undefined || verdict.message.includes(errno)) return verdict
  return { ...verdict, message: `${verdict.message}; its mount is dead: ${dead}` }
}

/** Pods that are asked about, then those of the volumes. */
function podsOf(context: PlanContext, { pods, volumes }: Scope): PodView[] {
  const uids = new Set([...pods, ...(pods.length > 0 ? [] : volumes.flatMap(({ podUids }) => [...podUids]))])
  return [...uids].flatMap((uid) => podView(context, uid) ?? [])
}

function podView({ classes, witnesses }: PlanContext, uid: string): PodView | undefined {
  const found = classes.of(uid)
  if (found === undefined) return undefined
  const { pod, ref } = found
  const [rule, why] = podVerdict(found)
  const { phase } = { ...pod?.status }
  const { deletionTimestamp } = { ...pod?.metadata }
  return {
    pod: ref,
    class: found.class,
    rule,
    why,
    listed: pod !== undefined,
    ...(phase !== undefined && { phase }),
    ...(deletionTimestamp !== undefined && { deletedAt: deletionTimestamp }),
    signsOfLife: witnesses.signsOfLife(uid),
  }
}

/** Of one pod that is ending, or of which it is not known whether it lives (S9, S10). */
function untouchable({ classes, witnesses }: PlanContext, { pods: [uid, ...others] }: Scope): Verdict | undefined {
  const found = uid === undefined || others.length > 0 ? undefined : classes.of(uid)
  if (found?.class !== 'Frozen') return undefined
  const [rule, why] = podVerdict(found)
  const code = found.why?.code
  if (code !== 'PodStillRunning') return { state: 'problem', message: why, rule, ...(code !== undefined && { code }) }
  const { deletionTimestamp } = { ...found.pod?.metadata }
  const since = deletionTimestamp === undefined ? 'it is ending' : `it is being deleted (${deletionTimestamp})`
  const signs = witnesses.signsOfLife(found.uid).join(', ')
  return {
    state: 'waiting',
    message: `${since}, and still runs: ${signs}; its volumes come down when that has ended`,
    code,
    rule,
  }
}

/** Why nothing is to be done, where that is so. */
function becauseOf(
  context: PlanContext,
  { subject, scope, because }: Asked,
  [first]: readonly DescribedVolume[],
  { decisions }: Concern,
): Because {
  const { inputs, classes } = context
  const pod = classes.of(scope.pods[0] ?? '')
  if (pod !== undefined) return podBecause(pod, scope.volumes.length)
  const stays =
    subject.kind === 'VolumeAttachment' ? decisions.find(({ path }) => path.endsWith(`/${subject.name}`)) : undefined
  if (stays !== undefined) return { why: `it stays attached: ${stays.why}`, rule: stays.rule }
  if (first !== undefined) return first.because
  if (because !== undefined) return { why: because }
  const { api, nodeName } = inputs.snapshot
  const attachment = api?.volumeAttachments.find(({ metadata }) => metadata.name === subject.name)
  if (subject.kind === 'VolumeAttachment' && attachment !== undefined && attachment.spec.nodeName !== nodeName) {
    return { why: `it is to node ${attachment.spec.nodeName}: ask volctl there` }
  }
  return { why: NOTHING_HERE }
}

function podBecause(pod: PodClass, volumes: number): Because {
  const [rule, why] = podVerdict(pod)
  if (pod.class === 'Frozen') return { why, rule }
  if (pod.class !== 'Desired') {
    const ended = pod.class === 'Gone' ? 'it is not in the API' : 'it has ended'
    const left = volumes === 0 ? 'nothing of its volumes is here' : 'nothing of its volumes is left to undo'
    return { why: `${ended}, nothing of it runs, and ${left}`, rule }
  }
  const all =
    ['it has no volumes', 'its volume is as it should be'][volumes] ?? `its ${volumes} volumes are as they should be`
  return { why: `it is in the API and meant to run, and ${all}`, rule }
}

/** What is mounted, and directories that hold a volume's data without a mount. */
function heldAt({ inputs }: PlanContext, { scope, places }: Asked): string[] {
  const mounted = scope.volumes.flatMap(({ mounts }) => mounts.map(({ mountPoint }) => inputs.plain(mountPoint)))
  const onDisk = scope.volumes.flatMap(({ onDisk }) => onDisk.map(({ dir }) => inputs.absolute(dir)))
  const asked = places.filter(({ mounts }) => mounts.length > 0).map(({ path }) => path)
  return [...new Set([...mounted, ...onDisk, ...asked])]
}

/** Bound on maps and published files: the device, whose openers hold it. */
function deviceFiles(volumes: readonly NodeVolume[]): string[] {
  const files = volumes
    .flatMap(({ mounts }) => mounts)
    .filter(({ fsType, root }) => fsType === 'devtmpfs' && root !== '/')
    .map(({ root }) => undeletedRoot(root).slice(1))
  return [...new Set(files)]
}
