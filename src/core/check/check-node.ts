/** One look at a node as a monitor sees it: ok, not ok or unknown, the three answers of a node-problem-detector plugin. Pure. */
import { causeOf, type ProblemCode } from '../codes/codes.ts'
import { mayBeOne } from '../desired/may-be.ts'
import { about } from '../json/json-schema.ts'
import { integer, list, matching, object, oneOf, optional, type ShapeOf, text } from '../json/shape.ts'
import { count } from '../lang/count.ts'
import { onceFor } from '../lang/once-for.ts'
import type { OperationKind, Plan, Problem, Waiting } from '../plan/plan.ts'
import { podTexts } from '../plan/plan-names.ts'
import { waitToSettle } from '../reconcile/context/context.ts'
import { podTimes } from '../reconcile/context/pod-facts.ts'
import type { Decided } from '../reconcile/decisions.ts'
import { type PodClass, podListIsComplete, sectionUnseen } from '../reconcile/pods/pod-classes.ts'
import { statusOf } from '../status/node-status.ts'
import type { Status, StatusRow } from '../status/status.ts'

// What a monitor is to know of a node, out of one look: countable, and only what has been wrong for long enough. A healthy node
// that is busy (pods come and go, the kubelet has yet to clean up) shows none of it.

export const TROUBLE_KINDS = ['error', 'deadMount', 'orphanedPod', 'leakedDevice', 'blocked', 'waiting'] as const
type TroubleKind = (typeof TROUBLE_KINDS)[number]

const troubleShape = object({
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

function isUnknowing({ severity, code }: Pick<Problem, 'severity' | 'code'>): boolean {
  return severity === 'error' && (causeOf(code) === 'unread' || UNREAD.has(code))
}

/** @param decided a plan of the whole node, with what --orphans asks for */
function troublesOf(decided: Decided, status: Status): Trouble[] {
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

export const CHECK_STATUS = { ok: 0, notOk: 1, unknown: 2 } as const
type CheckStatus = keyof typeof CHECK_STATUS

export const checkShape = object({
  apiVersion: oneOf('volctl.io/v1'),
  kind: oneOf('Check'),
  status: about('Exit status 0, 1 and 2.', oneOf(...(Object.keys(CHECK_STATUS) as readonly CheckStatus[]))),
  /** Printable ASCII. */
  line: about('What is printed without -o.', matching(/^[ -~]{0,80}$/, 'a line of printable ASCII')),
  node: optional(about('Absent where the node could not be looked at.', text)),
  createdAt: optional(about('RFC 3339: when the node was looked at.', text)),
  volctlVersion: text,
  troubles: about(
    'All that is wrong; what waits makes the node not ok once it has waited for more than 10 minutes.',
    list<Trouble>(troubleShape),
  ),
})

/** `volctl check -o json`. Fields are stable once released; new ones may come. */
export interface Check extends ShapeOf<typeof checkShape> {}

export interface Look {
  readonly decided: Decided
  readonly status: Status
  readonly troubles: readonly Trouble[]
}

/** @param decided of a plan of the whole node with --orphans: orphaned pods count with everything that is left of them */
export function examine(decided: Decided): Look {
  const { status } = statusOf(decided, {})
  return { decided, status, troubles: troublesOf(decided, status) }
}

/** What was there in both looks: what a busy kubelet was about to do is done by the second. */
export function inBoth(first: Look, second: Look): Look {
  const keys = new Set(first.troubles.map(({ key }) => key))
  return { ...second, troubles: second.troubles.filter(({ key }) => keys.has(key)) }
}

export function checkOf({
  decided: { plan },
  status: { rows, node, createdAt, volctlVersion },
  troubles,
}: Look): Check {
  // What is refused may be another cluster's word on these pods, or another machine's: nobody knows what is wrong here.
  const { refused } = plan
  const judged =
    refused === undefined
      ? judge(troubles, rows.length, doubtOf(plan))
      : unknownBecause(`refused (${refused.code}): ${refused.message}`)
  return { ...HEAD, ...judged, node, createdAt, volctlVersion, troubles }
}

/** Where nothing could be looked at. */
export function failedCheck(why: string, volctlVersion: string): Check {
  return { ...HEAD, ...unknownBecause(why), volctlVersion, troubles: [] }
}

const HEAD = { apiVersion: 'volctl.io/v1', kind: 'Check' } as const

type Judged = Pick<Check, 'status' | 'line'>

/**
 * @param volumes how many were looked at
 * @param doubt why the node may not have been seen whole; undefined: it was
 */
export function judge(troubles: readonly Trouble[], volumes: number, doubt: string | undefined): Judged {
  const wrong = TROUBLE_KINDS.flatMap((kind) => troubles.filter((each) => each.kind === kind && isLongEnough(each)))
  const [first] = wrong
  if (first !== undefined) {
    const counts = countsText(wrong)
    return {
      status: 'notOk',
      line: lineOf('not ok', `${counts}: ${first.what}${wrong.length > 1 ? ', ...' : ''}`, counts),
    }
  }
  if (doubt !== undefined) return unknownBecause(doubt)
  return { status: 'ok', line: lineOf('ok', count(volumes, 'volume')) }
}

function unknownBecause(why: string): Judged {
  return { status: 'unknown', line: lineOf('unknown', why) }
}

/** Why "nothing is wrong" may not be true. */
function doubtOf({ problems, complete }: Plan): string | undefined {
  const unknowing = problems.find(isUnknowing)
  if (unknowing !== undefined) return `${unknowing.code}: ${unknowing.message}`
  return complete ? undefined : 'something that may matter could not be read'
}

/** For how long a pod may wait for a volume, or to terminate. */
const PATIENCE_MS = 10 * 60_000

function isLongEnough({ kind, forMs = 0 }: Trouble): boolean {
  return kind !== 'waiting' || forMs > PATIENCE_MS
}

const NOUNS: Readonly<Record<TroubleKind, readonly [one: string, many: string]>> = {
  error: ['error', 'errors'],
  deadMount: ['dead mount', 'dead mounts'],
  orphanedPod: ['orphaned pod', 'orphaned pods'],
  leakedDevice: ['leaked device', 'leaked devices'],
  blocked: ['obstacle', 'obstacles'],
  waiting: ['volume or pod waits too long', 'volumes or pods wait too long'],
}

function countsText(troubles: readonly Trouble[]): string {
  return [...Map.groupBy(troubles, ({ kind }) => kind)]
    .map(([kind, { length }]) => count(length, ...NOUNS[kind]))
    .join(', ')
}

/** node-problem-detector cuts what is longer (max_output_length). */
const MOST_CHARACTERS = 80

/** @param texts from the one that says most to the shortest: the first that fits is taken; where none does, the last is cut */
function lineOf(status: string, ...texts: readonly string[]): string {
  const lines = texts.map((text) => `${status}: ${plainAscii(text)}`)
  const fitting = lines.find((line) => line.length <= MOST_CHARACTERS)
  return fitting ?? `${lines.at(-1)?.slice(0, MOST_CHARACTERS - 3)}...`
}

/** The line is cut by bytes, and goes into a condition of the Node. */
function plainAscii(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/[^ -~]/g, '?')
}
