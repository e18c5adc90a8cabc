/**
 * What a monitor is to know of a node, out of one look: countable, and only what has been wrong for long enough. A healthy node that
 * is busy (pods come and go, the kubelet has yet to clean up) shows none of it.
 */
import { causeOf, type ProblemCode } from '../codes/codes.ts'
import { mayBeOne } from '../desired/may-be.ts'
import { about } from '../json/json-schema.ts'
import { integer, object, oneOf, optional, type ShapeOf, text } from '../json/shape.ts'
import { onceFor } from '../lang/once-for.ts'
import type { OperationKind, Problem, Waiting } from '../plan/plan.ts'
import { podTexts } from '../plan/pod-texts.ts'
import { waitToSettle } from '../reconcile/context/context.ts'
import { podTimes } from '../reconcile/context/pod-facts.ts'
import type { Decided } from '../reconcile/decisions.ts'
import { type PodClass, podListIsComplete, sectionUnseen } from '../reconcile/pods/pod-classes.ts'
import type { Status, StatusRow } from '../status/status.ts'

export const TROUBLE_KINDS = ['error', 'deadMount', 'orphanedPod', 'leakedDevice', 'blocked', 'waiting'] as const
export type TroubleKind = (typeof TROUBLE_KINDS)[number]

export const troubleShape = object({
  kind: oneOf(...TROUBLE_KINDS),
  key: about('The same in the next look, if it is the same trouble.', text),
  what: about('The pod, volume, path or code, for people.', text),
  forMs: optional(about('Of what waits: for how many milliseconds.', integer)),
})

export interface Trouble extends ShapeOf<typeof troubleShape> {}

/** Kinds whose error says that something could not be known: the answer is then unknown, not wrong. */
const UNREAD: ReadonlySet<ProblemCode> = new Set<ProblemCode>([
  'AlivenessUnknown',
  'LazyMemoryUnusable',
  'LinkInPlace',
  'MayBeInUse',
])

export function isUnknowing({ severity, code }: Pick<Problem, 'severity' | 'code'>): boolean {
  return severity === 'error' && (causeOf(code) === 'unread' || UNREAD.has(code))
}

/** @param decided a plan of the whole node, with what --orphans asks for */
export function troublesOf(decided: Decided, status: Status): Trouble[] {
  const { plan, context } = decided
  const orphaned = context.classes.all.filter((pod) => isSettledOrphan(decided, pod))
  return [
    ...causeTroubles(decided),
    ...(context.inputs.snapshot.deadMounts ?? []).map(({ path }) => trouble('deadMount', path, path)),
    ...orphaned.map(({ uid, ref }) => trouble('orphanedPod', uid, namesOf(context)(ref))),
    ...leakedDevices(decided, status).map(({ volume }) =>
      trouble('leakedDevice', volume.uniqueName ?? volume.name, volume.name),
    ),
    ...plan.waiting.flatMap((wait) => waitingFor(decided, wait)),
    ...context.classes.all.flatMap((pod) => terminatingFor(decided, pod)),
  ]
}

/** Causes that need a person, each once however much hangs on it; dead mounts are counted separately, waits by how long they last. */
function causeTroubles({ context, plan: { problems, refused, summary } }: Decided): Trouble[] {
  const { causes = [] } = summary
  const wrong = new Set(
    problems.filter((each) => each.severity === 'error' && !isUnknowing(each)).map(({ cause }) => cause),
  )
  return causes.flatMap(({ key, kind, severity, code, subject, affects }) => {
    const isBlocking = severity === 'error' && affects.operations.length > 0 && refused === undefined
    const { driver, pod, volume, object, path } = subject
    const name = driver ?? (pod && namesOf(context)(pod)) ?? volume ?? object ?? path
    const what = name === undefined ? code : `${name} (${code})`
    if (kind === 'dead-mount' || !(wrong.has(key) || isBlocking)) return []
    return [trouble(wrong.has(key) ? 'error' : 'blocked', key, what)]
  })
}

function trouble(kind: TroubleKind, key: string, what: string): Trouble {
  return { kind, key: `${kind} ${key}`, what }
}

/** The beginning of a UID that no other pod of the node has is enough for volctl explain, and the line is short. */
const namesOf = onceFor(({ classes }: Decided['context']) => podTexts(classes.all.map(({ ref }) => ref)))

/** Of an orphaned pod something is left that has not changed for the settle time (S11). */
function isSettledOrphan({ context }: Decided, pod: PodClass): boolean {
  if (pod.class !== 'Gone') return false
  return waitToSettle(context, pod, () => podTimes(context, pod)) === undefined
}

/**
 * Staged or mapped, and no pod of this node has it, or wants it: the kubelet forgets such volumes (R517). What a pod wants has to
 * be known for that (S3), and no volume of a pod that could not be resolved may be this one (S4).
 */
function leakedDevices({ context: { inputs, desired } }: Decided, { rows }: Status): StatusRow[] {
  if (sectionUnseen(inputs) !== undefined || !podListIsComplete(inputs)) return []
  const ofPods = new Set(rows.flatMap(({ pod, volume }) => (pod === undefined ? [] : (volume.uniqueName ?? []))))
  return rows.filter(
    ({ pod, staged, volume: { uniqueName, plugin, driver } }) =>
      pod === undefined &&
      staged !== undefined &&
      staged !== 'DeviceNotMounted' &&
      (uniqueName === undefined || !ofPods.has(uniqueName)) &&
      !desired.unresolved.some(({ mayBe }) => mayBeOne(mayBe, { plugin, driver })),
  )
}

const MOUNTING: ReadonlySet<OperationKind> = new Set(['MountVolume', 'MapVolume', 'AttachVolume'])

/** A pod waits for its volumes since it was bound to this node, or since this node was booted. */
function waitingFor({ context }: Decided, { kind, pod, volume, code }: Waiting): Trouble[] {
  if (pod === undefined || !MOUNTING.has(kind)) return []
  const object = context.classes.of(pod.uid)?.pod
  const times = [object?.metadata.creationTimestamp, object?.status?.startTime].flatMap((time) =>
    time == null ? [] : [Date.parse(time)],
  )
  const since = Math.max(...times, context.bootTime ?? Number.NEGATIVE_INFINITY)
  const key = `${pod.uid} ${volume?.uniqueName ?? volume?.podVolumeName}`
  return [{ ...trouble('waiting', key, `${namesOf(context)(pod)} (${code})`), forMs: ageOf(context.now, since) }]
}

/** deletionTimestamp is when the pod's grace period ends. */
function terminatingFor({ context }: Decided, { uid, ref, why, pod }: PodClass): Trouble[] {
  const deleted = pod?.metadata.deletionTimestamp
  if (why?.code !== 'PodStillRunning' || deleted == null) return []
  return [
    {
      ...trouble('waiting', uid, `${namesOf(context)(ref)} (terminating)`),
      forMs: ageOf(context.now, Date.parse(deleted)),
    },
  ]
}

/** What has no known beginning, or one in the future, counts as just begun (S28). */
function ageOf(now: number, since: number): number {
  const age = now - since
  return Number.isFinite(age) && age > 0 ? age : 0
}
