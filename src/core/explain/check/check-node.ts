/** One look at a node as a monitor sees it: ok, not ok or unknown, the three answers of a node-problem-detector plugin. Pure. */

import { count, counted } from '../../base/text.ts'
import { causeOf, type ProblemCode } from '../../messages/codes.ts'
import { OPERATIONS } from '../../plan/kinds.ts'
import { podTexts, shownSubject } from '../../plan/names.ts'
import type { Problem } from '../../plan/plan.ts'
import type { Decided } from '../../reconcile/plan-node.ts'
import { waitToSettle } from '../../rules/unread.ts'
import { about, maybe } from '../../trust/json-schema.ts'
import { integer, keyOf, list, matching, object, oneOf, type ShapeOf, text } from '../../trust/shape.ts'
import type { PodRef } from '../../volumes/finding.ts'
import { verdictsOf, wholeStatus } from '../status/node-status.ts'
import type { StatusRow } from '../status/status.ts'

/** What is wrong, in the order of the line. Of a healthy node that is busy (pods come and go, the kubelet cleans up) there is none of it. */
const NOUNS = {
  error: ['error', 'errors'],
  deadMount: ['dead mount', 'dead mounts'],
  orphanedPod: ['orphaned pod', 'orphaned pods'],
  leakedDevice: ['leaked device', 'leaked devices'],
  blocked: ['obstacle', 'obstacles'],
  waiting: ['volume or pod waits too long', 'volumes or pods wait too long'],
} satisfies Readonly<Record<string, readonly [one: string, many: string]>>
type TroubleKind = keyof typeof NOUNS

const troubleShape = object({
  kind: keyOf(NOUNS),
  key: about('The same in the next look, if it is the same trouble.', text),
  what: about('The pod, volume, path or code, for people.', text),
  forMs: maybe('Of what waits: for how many milliseconds.', integer),
})

export interface Trouble extends ShapeOf<typeof troubleShape> {}

export const CHECK_STATUS = { ok: 0, notOk: 1, unknown: 2 } as const
type CheckStatus = keyof typeof CHECK_STATUS

export const checkShape = object({
  apiVersion: oneOf('volctl.io/v1'),
  kind: oneOf('Check'),
  status: about('Exit status 0, 1 and 2.', keyOf(CHECK_STATUS)),
  /** Printable ASCII. */
  line: about('What is printed without -o.', matching(/^[ -~]{0,80}$/, 'a line of printable ASCII')),
  node: maybe('Absent where the node could not be looked at.', text),
  createdAt: maybe('RFC 3339: when the node was looked at.', text),
  volctlVersion: text,
  troubles: about(
    'All that is wrong; what waits makes the node not ok once it has waited for more than 10 minutes.',
    list(troubleShape),
  ),
})

/** `volctl check -o json`. Fields are stable once released; new ones may come. */
export interface Check extends ShapeOf<typeof checkShape> {}

export type Look = ReturnType<typeof examine>

/** @param decided of a plan of the whole node with --orphans: orphaned pods count with everything that is left of them */
export function examine(decided: Decided) {
  const { context } = decided
  const { all: rows } = wholeStatus(decided)
  // The beginning of a UID that no other pod of the node has is enough for volctl explain, and the line is short.
  const nameOf = podTexts(context.classes.all.map(({ ref }) => ref))
  // Of an orphaned pod something is left that has not changed for the settle time (S11).
  const orphans = context.classes.gone.filter((pod) => waitToSettle(context, pod) === undefined)
  const troubles = [
    ...causeTroubles(decided, nameOf),
    ...(context.inputs.snapshot.deadMounts ?? []).map(({ path }) => trouble('deadMount', path, path)),
    ...orphans.map(({ uid, ref }) => trouble('orphanedPod', uid, nameOf(ref))),
    ...leakedDevices(rows),
    ...waits(decided, nameOf),
  ]
  const rank = ({ kind }: Trouble): number => Object.keys(NOUNS).indexOf(kind)
  return { decided, rows, troubles: troubles.toSorted((a, b) => rank(a) - rank(b)) }
}

function trouble(kind: TroubleKind, key: string, what: string): Trouble {
  return { kind, key: `${kind} ${key}`, what }
}

/** Their error says that something could not be known: the answer is then unknown, not wrong. */
const UNREAD: readonly ProblemCode[] = ['AlivenessUnknown', 'LazyMemoryUnusable', 'LinkInPlace', 'MayBeInUse']

function isUnknowing({ severity, code }: Pick<Problem, 'severity' | 'code'>): boolean {
  return severity === 'error' && (causeOf(code) === 'unread' || UNREAD.includes(code))
}

/** Causes that need a person, each once however much hangs on it; dead mounts are counted separately, waits by how long they last. */
function causeTroubles({ plan: { problems, summary } }: Decided, nameOf: (pod: PodRef) => string): Trouble[] {
  const errors = problems.filter((each) => each.severity === 'error' && !isUnknowing(each))
  const wrong = new Set(errors.map(({ cause }) => cause))
  return (summary.causes ?? []).flatMap(({ key, kind, severity, code, subject, affects }) => {
    const isBlocking = severity === 'error' && affects.operations.length > 0
    if (kind === 'dead-mount' || !(wrong.has(key) || isBlocking)) return []
    const { pod } = subject
    const name = shownSubject(pod === undefined ? subject : { pod }, nameOf)
    return [trouble(wrong.has(key) ? 'error' : 'blocked', key, name === undefined ? code : `${name} (${code})`)]
  })
}

/** Staged or mapped, and no pod of this node has it, or may want it (S3, S4): the kubelet forgets such volumes (R517). */
function leakedDevices(rows: readonly StatusRow[]): Trouble[] {
  const ofPods = new Set(rows.flatMap(({ pod, volume }) => (pod === undefined ? [] : (volume.uniqueName ?? []))))
  return rows.flatMap(({ pod, staged = 'DeviceNotMounted', desired, volume: { name, uniqueName = name } }) => {
    const isLeft = pod === undefined && staged !== 'DeviceNotMounted' && desired === 'notWanted'
    return isLeft && !ofPods.has(uniqueName) ? [trouble('leakedDevice', uniqueName, name)] : []
  })
}

/** Pods that wait for a volume since they were bound to this node, and that run after their grace period; or since it was booted. */
function waits({ context, plan }: Decided, nameOf: (pod: PodRef) => string): Trouble[] {
  const { classes, now, bootTime = Number.NEGATIVE_INFINITY } = context
  const waiting = (key: string, what: string, ...times: readonly (string | null | undefined)[]): Trouble => {
    const age = now - Math.max(bootTime, ...times.flatMap((time) => (time == null ? [] : Date.parse(time))))
    // What has no known beginning, or one in the future, counts as just begun (S28).
    return { ...trouble('waiting', key, what), forMs: Number.isFinite(age) && age > 0 ? age : 0 }
  }
  return [
    ...plan.waiting.flatMap(({ kind, pod, volume, code }) => {
      if (pod === undefined || OPERATIONS[kind].work !== 'up') return []
      const { metadata, status } = { ...classes.of(pod.uid)?.pod }
      const key = `${pod.uid} ${volume?.uniqueName ?? volume?.podVolumeName}`
      return [waiting(key, `${nameOf(pod)} (${code})`, metadata?.creationTimestamp, status?.startTime)]
    }),
    ...classes.all.flatMap(({ uid, ref, why, pod }) => {
      const deleted = pod?.metadata.deletionTimestamp
      const isOver = why?.code === 'PodStillRunning' && deleted != null
      return isOver ? [waiting(uid, `${nameOf(ref)} (terminating)`, deleted)] : []
    }),
  ]
}

/** What was there in both looks: what a busy kubelet was about to do is done by the second. */
export function inBoth(first: Look, second: Look): Look {
  const keys = new Set(first.troubles.map(({ key }) => key))
  return { ...second, troubles: second.troubles.filter(({ key }) => keys.has(key)) }
}

export function checkOf(look: Look): Check {
  const { node, createdAt, volctlVersion } = look.decided.plan
  const [status, why] = judge(look)
  return { ...answer(status, why), node, createdAt, volctlVersion, troubles: look.troubles }
}

/** Where nothing could be looked at. */
export function failedCheck(why: string, volctlVersion: string): Check {
  return { ...answer('unknown', why), volctlVersion, troubles: [] }
}

/** For how long a pod may wait for a volume, or to terminate. */
const PATIENCE_MS = 10 * 60_000

function judge({ decided: { plan }, rows, troubles }: Look): readonly [CheckStatus, why: string] {
  const { refused, problems, complete } = plan
  // It may be another cluster's word on these pods, or another machine's: nobody knows what is wrong here.
  if (refused !== undefined) return ['unknown', `refused (${refused.code}): ${refused.message}`]
  const wrong = troubles.filter(({ kind, forMs = 0 }) => kind !== 'waiting' || forMs > PATIENCE_MS)
  const counts = [...Map.groupBy(wrong, ({ kind }) => kind)].map(([kind, own]) => count(own.length, ...NOUNS[kind]))
  const [first, ...others] = wrong
  if (first !== undefined) return ['notOk', `${counts.join(', ')}: ${first.what}${others.length > 0 ? ', ...' : ''}`]
  const unknowing = problems.find(isUnknowing)
  if (unknowing !== undefined) return ['unknown', `${unknowing.code}: ${unknowing.message}`]
  return complete ? ['ok', count(rows.length, 'volume')] : ['unknown', 'something that may matter could not be read']
}

/** node-problem-detector cuts what is longer (max_output_length), by bytes; the line goes into a condition of the Node. */
const MOST_CHARACTERS = 80

function answer(status: CheckStatus, why: string): Pick<Check, 'apiVersion' | 'kind' | 'status' | 'line'> {
  const text = `${status === 'notOk' ? 'not ok' : status}: ${why.replace(/\s+/g, ' ').replace(/[^ -~]/g, '?')}`
  const line = text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS - 3)}...` : text
  return { apiVersion: 'volctl.io/v1', kind: 'Check', status, line }
}

// The state of a node in numbers, in Prometheus' text format 0.0.4, for the node exporter's textfile collector.

/** Gauges only, as one look knows no rates: what plan and status count. @param look absent: the node could not be looked at */
export function gaugesOf({ status, createdAt, volctlVersion }: Check, look: Look | undefined): string {
  const at = createdAt === undefined ? Date.now() : Date.parse(createdAt)
  return [
    gauge('volctl_build_info', 'The volctl that looked. Always 1.', { [volctlVersion]: 1 }, 'version'),
    gauge('volctl_check_status', 'Result of volctl check: 0 ok, 1 not ok, 2 unknown.', CHECK_STATUS[status]),
    gauge('volctl_check_timestamp_seconds', 'When the node was looked at.', Math.round(at / 1000)),
    ...(look === undefined ? [] : nodeGauges(look)),
  ].join('')
}

function nodeGauges({ decided: { plan }, rows, troubles }: Look): string[] {
  const { complete, inputs } = plan
  const longestMs = Math.max(0, ...troubles.map(({ forMs = 0 }) => forMs))
  const codes = counted(plan.waiting.map(({ code }) => code))
  const severities = counted(plan.problems.map(({ severity }) => severity))
  return [
    gauge('volctl_volumes', 'Volumes by verdict of volctl status.', verdictsOf(rows), 'verdict'),
    gauge('volctl_troubles', 'What volctl check counts.', counted(troubles.map(({ kind }) => kind)), 'kind'),
    gauge('volctl_longest_wait_seconds', 'Of the pod that waits longest.', Math.round(longestMs / 1000)),
    gauge('volctl_operations', 'Operations of volctl plan --orphans.', plan.summary.operations, 'kind'),
    gauge('volctl_blocked_operations', 'Those of them that are blocked.', plan.summary.blocked),
    gauge('volctl_waiting', 'What waits for somebody else.', codes, 'code'),
    gauge('volctl_problems', 'Problems that volctl plan reports.', severities, 'severity'),
    gauge('volctl_plan_complete', '1 if everything that may matter could be read, else 0.', complete ? 1 : 0),
    gauge(
      'volctl_kubelet_running',
      '1 if a kubelet runs on this node, else 0.',
      inputs.kubelet.state === 'running' ? 1 : 0,
    ),
  ]
}

/**
 * @param of a number, or one for each value of the label; without any, nothing of its kind is on the node
 * @param label of values that are volctl's own words: nothing in them has to be escaped
 */
function gauge(name: string, help: string, of: number | Partial<Record<string, number>>, label = ''): string {
  const samples =
    typeof of === 'number'
      ? [`${name} ${of}\n`]
      : Object.entries(of).map(([value, n]) => `${name}{${label}="${snakeCase(value)}"} ${n}\n`)
  return samples.length === 0 ? '' : `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${samples.toSorted().join('')}`
}

/** Word by word, as labels of Prometheus are written: "deadMount" and "DeadMount" are "dead_mount". */
export function snakeCase(name: string): string {
  return name.replace(/(?<=[a-z0-9])[A-Z]|(?<=[A-Z])[A-Z](?=[a-z])/g, '_$&').toLowerCase()
}
