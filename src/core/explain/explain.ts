/**
 * All that is known about one pod, claim, PersistentVolume, VolumeAttachment, volume, driver, mount, path or device of a node: from the
 * same look, and by the same pass, as a plan. Pure: who holds it is asked of the live node alone (live-holders.ts).
 */

import { alike, present } from '../base/text.ts'
import type { Ledger } from '../facts/ledger.ts'
import type { VolumeRow } from '../facts/row.ts'
import type { Scope } from '../facts/scope.ts'
import { namespacedName } from '../kube/api/names.ts'
import { undeletedRoot } from '../linux/paths.ts'
import { advice, commandLine, type Hint } from '../messages/command.ts'
import { stopPod } from '../plan/commands.ts'
import { type AdviceContext, withAdvice } from '../plan/next-steps.ts'
import { partOf } from '../plan/part-of-plan.ts'
import type { NextStep, Operation, Plan } from '../plan/plan.ts'
import { readyAmong } from '../plan/plan-summary.ts'
import { type Decision, podVerdict } from '../reconcile/decisions.ts'
import { namedAmong } from '../reconcile/filter-operations.ts'
import type { Decided } from '../reconcile/plan-node.ts'
import { howToStart, type PlanContext } from '../rules/context.ts'
import type { PodClass } from '../rules/pods/pod-classes.ts'
import type { Holders, NameOf } from '../users/find-holders.ts'
import type { Held } from '../users/live-holders.ts'
import { podOf } from '../volumes/finding.ts'
import type { ActualInputs } from '../volumes/on-disk/actual-inputs.ts'
import { type Asked, type Concern, concernOf, predecessors } from './concern.ts'
import { describeVolume, NOTHING_HERE } from './describe-volume.ts'
import { type JudgedDriver, judgeDriver } from './driver.ts'
import type { Explanation, HoldersView, PodView, Subject, Verdict } from './explanation.ts'
import { isDeviceFile } from './place-target.ts'
import { asker } from './target-scope.ts'
import { type Because, byWorst, deadVerdict, nothingVerdict, verdictOf } from './verdict.ts'

/** With the places at which holders are looked for. */
export interface Explained extends Held {
  readonly explanation: Explanation
  /** The planner's own word on each thing that it left or acted on. */
  readonly decisions: readonly Decision[]
}

/**
 * For several questions about one look.
 *
 * @param given what commands that are proposed are made of
 * @returns asks what a name, kind/name, a UID, an absolute path, or a device is; throws VolctlError NotFound, AmbiguousName
 */
export function explainer(decided: Decided, given: AdviceContext) {
  const { context } = decided
  const ask = asker(context)
  return (what: string): Explained => {
    const asked = ask(what)
    const concern = concernOf(decided, asked.scope)
    const explanation = explanationOf(decided, what, asked, concern, { ...given, asked: what })
    return { explanation, decisions: concern.decisions, ...heldAt(context, asked, explanation.operations) }
  }
}

function explanationOf(
  decided: Decided,
  what: string,
  asked: Asked,
  concern: Concern,
  given: AdviceContext,
): Explanation {
  const { context } = decided
  const { pods: uids, driver: own } = asked.scope
  const pods = uids.flatMap((uid) => context.classes.of(uid) ?? [])
  const rows = own ? context.ledger.concerningDriver(own.name).filter(isHere) : asked.scope.volumes
  const volumes = rows.map((volume) => describeVolume(decided, volume, uids))
  const { scope: _, ...part } = narrowedPlan(decided, concern, given)
  const driver = own && judgeDriver(context, own.name, rows.length > 0)
  const broken = driver?.broken && driver
  const next = part.summary.next ?? (broken ? nextOfDriver(decided, broken, given) : [])
  const plan = { ...part, summary: { ...part.summary, ...(next.length > 0 && { next }) } }
  const because = driver ? { why: driver.fine } : becauseOf(context, asked.subject, pods, concern)
  const probed = [...asked.places, ...volumes.flatMap((view) => view.dead ?? [])]
  const [dead] = probed.flatMap(({ path, dead }) => (dead === undefined ? [] : { path, dead }))
  // A hint is said once.
  const looks = `${driver?.steps[0]?.command}` === next[0]?.command
  const verdict = verdictOf(concern, plan.summary.causes ?? [], {
    dead: driver ? driver.broken : dead && deadVerdict(dead),
    untouchable: untouchable(pods, concern),
    ofPod: pods.length === 1,
    nothing: because
      ? nothingVerdict(because)
      : (volumes[0]?.verdict ?? nothingVerdict({ why: asked.because ?? NOTHING_HERE })),
  })
  return {
    ...plan,
    kind: 'Explanation',
    what,
    subject: asked.subject,
    verdict,
    notes: [
      ...pods.flatMap((pod) => podNotes(context, pod, concern)),
      ...(broken && !looks ? broken.steps.map(({ command, why }) => advice`${why}: ${command}`) : []),
    ],
    identity: asked.identity,
    chain: driver?.chain ?? byWorst(volumes)[0]?.chain ?? asked.chain ?? [],
    pods: podViews(context, asked.scope),
    volumes,
    places: asked.places,
    // Of a snapshot.
    holders: {
      known: false,
      processes: [],
      namespaces: [],
      loops: [],
      kernel: [],
      notes: ['who holds it is not part of a snapshot: run volctl explain on the node'],
    },
  }
}

/** Volumes that only the API has, for other nodes, are not this one's. */
function isHere({ wanted, unresolved, havingUids, staged, maps, globals, attachment }: VolumeRow): boolean {
  const parts = [wanted, unresolved, staged, maps, globals].map(({ length }) => length)
  return attachment !== undefined || havingUids.size > 0 || parts.some((length) => length > 0)
}

/** The answer with who holds it, as the live node shows it: more than those who are in the way of an operation, which its block names. */
export function withHolders(explanation: Explanation, found: Holders, nameOf: NameOf): Explanation {
  const { processes, namespaces, loops, kernel, unseen } = found
  const holders: HoldersView = {
    known: true,
    processes: alike(processes, ({ pid }) => pid).map((own) => {
      const [{ pid, process: command, of }] = own
      return { pid, command, holds: own.map(({ what, path }) => ({ what, path })), ...(of && nameOf(of)) }
    }),
    namespaces: namespaces.map(({ pid, process: command, mountPoints, of }) => ({
      pid,
      command,
      mountPoints,
      ...(of && nameOf(of)),
    })),
    loops,
    kernel,
    notes: unseen.map(({ text }) => text),
  }
  return { ...explanation, holders }
}

/** Where somebody may keep it busy: what is mounted, directories that hold a volume's data without a mount, devices. */
function heldAt(
  { inputs }: PlanContext,
  { scope, places, devices = [] }: Asked,
  operations: readonly Operation[],
): Held {
  const mounts = scope.volumes.flatMap((volume) => volume.mounts)
  const mounted = mounts.map(({ mountPoint }) => inputs.plain(mountPoint))
  const onDisk = scope.volumes.flatMap((volume) => volume.onDisk.map(({ dir }) => inputs.absolute(dir)))
  const asked = places.filter((place) => place.mounts.length > 0).map(({ path }) => path)
  // Bound on maps and published files: the device, whose openers hold it.
  const bound = mounts.filter(isDeviceFile).map(({ root }) => undeletedRoot(root).slice(1))
  return {
    heldAt: [...new Set([...mounted, ...onDisk, ...asked])],
    content: operations.flatMap(contentOf),
    rootDir: inputs.rootDir,
    devices: [...new Set([...bound, ...devices])],
  }
}

/** Directories that it empties, and mounts with which an emptyDir in memory ends. */
function contentOf({ steps, deletes, pod, expects = [] }: Operation): Held['content'] {
  const emptied = steps.filter(({ op }) => op === 'deleteContent').map(({ target }) => target)
  const ending = deletes === undefined ? [] : expects.map(({ path }) => path)
  const going = new Set(expects.flatMap(({ layers }) => layers.map(({ id }) => id)))
  return [...new Set([...emptied, ...ending])].map((path) => ({ path, going, podUid: pod?.uid }))
}

function narrowedPlan({ plan, context }: Decided, concern: Concern, given: AdviceContext): Plan {
  const { operations, waiting, problems } = concern
  const before = predecessors(plan.operations, operations)
  const part = partOf(plan, new Set<object>([...before, ...operations, ...waiting, ...problems]), 0)
  const scope = scopeWords(part.operations, plan, context.ledger)
  const applyFlags = [...given.applyFlags, ...(scope ?? [])]
  // Where no flags narrow it, the command carries out all that is ready, and says so.
  const { ready = 0 } = part.summary
  const done = scope === undefined && ready > 0 ? readyAmong(plan.operations).size : ready
  const advised = withAdvice({ ...part, summary: { ...part.summary, ready: done } }, { ...given, applyFlags })
  return { ...part, summary: { ...advised.summary, ready: part.summary.ready } }
}

/** With a kubelet that runs the driver's pod by name; else what comes next on the node. */
function nextOfDriver(
  { plan, context }: Decided,
  { chain, steps }: JudgedDriver,
  given: AdviceContext,
): readonly NextStep[] {
  const isUp = context.kubelet.state === 'running'
  const own = steps.map(({ command, why }) => ({ command: `${command}`, why }))
  if (isUp && chain[0]?.pod !== undefined) return own
  const { next = [] } = withAdvice(plan, given).summary
  return next.length > 0 || !isUp ? next : own
}

/**
 * Flags with which a plan has all that is ready among these and nothing else; all of them where nothing is ready. Undefined: the whole
 * plan is the narrowest.
 */
function scopeWords(operations: readonly Operation[], plan: Plan, ledger: Ledger): string[] | undefined {
  const ready = readyAmong(operations)
  const isMeant = ready.size === 0 ? () => true : ({ id }: Operation) => isReady.has(id)
  const wanted = ready.size === 0 ? operations : operations.filter(({ id }) => ready.has(id))
  const { pod, volume } = wanted[0] ?? {}
  const volumes = [volume?.name, volume?.uniqueName].flatMap((name) => name ?? [])
  // Of one name there may be several pods.
  const named = pod?.name === undefined ? [] : [[namespacedName(pod)]]
  const pods = pod === undefined ? [] : [[pod.uid]]
  const scopes = [
    ...[...pods, ...named].map((each) => ({ pods: each, volumes: [] })),
    ...[[], ...pods].flatMap((each) => volumes.map((name) => ({ pods: each, volumes: [name] }))),
  ]
  const all = plan.operations
  const byId = new Map(all.map((operation) => [operation.id, operation]))
  const isReady = readyAmong(all)
  const found = scopes.find((scope) => {
    const chosen = namedAmong(all, scope, ledger, ({ after }) => after.flatMap((id) => byId.get(id) ?? []))
    return [...chosen].filter(isMeant).length === wanted.length && wanted.every((each) => chosen.has(each))
  })
  if (found === undefined) return undefined
  return [...found.pods.flatMap((each) => ['--pod', each]), ...found.volumes.flatMap((each) => ['--volume', each])]
}

// What is said of a pod: how it is judged, and what is to be known or done that no plan says.

/** @param pod is explained as a whole */
function podNotes({ inputs }: PlanContext, pod: PodClass, { operations, waiting }: Concern): Hint[] {
  const { deletionTimestamp, finalizers = [] } = { ...pod.pod?.metadata }
  if (deletionTimestamp === undefined) return []
  const kept = `The API server keeps the pod until its finalizers are removed: ${finalizers.join(', ')}; they do not concern its volumes`
  return present(endingNote(inputs, pod, operations.length + waiting.length > 0), finalizers.length > 0 && kept)
}

/** A pod that is being deleted goes from the API once its kubelet reports that it has ended. */
function endingNote(
  { snapshot: { kubelet } }: ActualInputs,
  { uid, class: name }: PodClass,
  isBusy: boolean,
): Hint | undefined {
  const isUp = kubelet?.running === true
  if (name === 'Frozen' && !isUp)
    return advice`Without a kubelet nothing stops the pod's containers: ${howToStart(kubelet)}, or stop them: ${commandLine(...stopPod(uid))}`
  if (name !== 'Finished' || (isUp && isBusy)) return undefined
  if (!isUp)
    return advice`Then ${howToStart(kubelet)}: only the kubelet reports to the API server that the pod has ended and may be deleted`
  const log = kubelet?.unit === undefined ? '' : advice` (${commandLine('journalctl', '-u', kubelet.unit)})`
  return advice`The kubelet has to report to the API server that the pod has ended; if it does not, read its log${log}`
}

/** Pods that are asked about, then those of the volumes. */
function podViews({ classes, witnesses }: PlanContext, { pods, volumes }: Scope): PodView[] {
  const uids = new Set(pods.length > 0 ? pods : volumes.flatMap(({ podUids }) => [...podUids]))
  return [...uids].flatMap((uid) => {
    const found = classes.of(uid)
    if (found === undefined) return []
    const { pod, ref } = found
    const [rule, why] = podVerdict(found)
    return {
      pod: ref,
      class: found.class,
      rule,
      why,
      listed: pod !== undefined,
      phase: pod?.status?.phase,
      deletedAt: pod?.metadata.deletionTimestamp,
      signsOfLife: witnesses.signsOfLife(uid),
    }
  })
}

// Why nothing is to be done, and why nothing may be.

/** For a pod that is terminating, or that may still run (S9, S10): in the plan's words, where it has any. */
function untouchable(pods: readonly PodClass[], { problems }: Concern): Verdict | undefined {
  const found = pods.find((each) => each.class === 'Frozen')
  if (found === undefined) return undefined
  const [rule, why] = podVerdict(found)
  const code = found.why?.code
  const said = problems.find((each) => each.code === code && podOf(each.subject) === found.uid)
  const state = code === 'PodStillRunning' ? 'waiting' : 'problem'
  return { state, message: said?.message ?? why, code, rule }
}

/** Why nothing is to be done, where that is so; undefined: for what its volume says, if it has one. */
function becauseOf(
  { inputs }: PlanContext,
  subject: Subject,
  pods: readonly PodClass[],
  { decisions }: Concern,
): Because | undefined {
  const verdicts = pods.map((pod) => [pod.uid, ...podVerdict(pod)] as const)
  const [first, ...others] = verdicts
  if (others.length > 0) {
    const each = verdicts.map(([uid, , why]) => `${uid}: ${why}`)
    return { why: `${each.length} pods have this name on this node; ${each.join('; ')}` }
  }
  if (first !== undefined) return { rule: first[1], why: first[2] }
  if (subject.kind !== 'VolumeAttachment') return undefined
  const stays = decisions.find(({ path }) => path.endsWith(`/${subject.name}`))
  if (stays !== undefined) return { why: `the volume stays attached: ${stays.why}`, rule: stays.rule }
  const { api, nodeName } = inputs.snapshot
  const attachment = api?.volumeAttachments.find(({ metadata }) => metadata.name === subject.name)
  if (attachment === undefined || attachment.spec.nodeName === nodeName) return undefined
  return { why: `the attachment is of node ${attachment.spec.nodeName}: run volctl there` }
}
