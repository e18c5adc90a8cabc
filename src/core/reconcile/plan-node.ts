/**
 * The central idea: a node's state in, a plan out. Pure and deterministic; no clock, no disk, no network. `pass.ts` decides
 * the operations; this file does the rest.
 */

import { present } from '../base/text.ts'
import type { Insecure } from '../kube/api/resources.ts'
import type { CauseKind } from '../messages/code-entry.ts'
import { type Code, causeOf, isCodeOf, remedyOf } from '../messages/codes.ts'
import { said, saidOfAny } from '../messages/findings.ts'
import { type Draft, finishOperations, ON_NODE } from '../plan/draft.ts'
import { refuseInsecureApi } from '../plan/insecure-api.ts'
import { withCauses } from '../plan/name-causes.ts'
import { namedPart } from '../plan/part-of-plan.ts'
import type { Basis, FileIdentity, Operation, Plan, PlanInputs, PlanOptions, Problem, Refusal } from '../plan/plan.ts'
import { type PlanContext, useCredential } from '../rules/context.ts'
import { machineOf, reportAccepted } from '../rules/machine.ts'
import { isLiving, type PodClasses, podListIsComplete, sectionUnseen } from '../rules/pods/pod-classes.ts'
import { missingPodsDirectory } from '../rules/pods/witnesses.ts'
import { refusalOf } from '../rules/refusals.ts'
import { readFailures, spoilsList, subjectOf } from '../volumes/api-lookup.ts'
import type { Because } from '../volumes/finding.ts'
import { baseName } from '../volumes/on-disk/tree.ts'
import { STATE_FILES } from '../volumes/registry.ts'
import type { ApiSnapshot, NodeState, TreeEntry } from '../volumes/snapshot.ts'
import type { StepOp } from '../volumes/steps.ts'
import { namedAmong, namedFindings, reportUnmatchedNames } from './filter-operations.ts'
import { knowsOtherNodes } from './identity/volume-facts.ts'
import { runPass } from './pass.ts'
import { makeContext } from './plan-context.ts'
import { reportProblems } from './report/report-problems.ts'

/**
 * Plans one reconcile pass over one node. Same state and options in, same bytes out.
 *
 * @param look `again` in an apply: the apply may have torn down what the flags name
 */
export function planNode(state: NodeState, options: PlanOptions, look: Look = 'first'): Plan {
  return decideNode(state, options, look).plan
}

type Look = 'first' | 'again'

/** The plan and what it was decided on. */
export interface Decided {
  readonly plan: Plan
  readonly context: PlanContext
}

export function decideNode(state: NodeState, options: PlanOptions, look: Look = 'first'): Decided {
  const context = makeContext(state, options)
  const { inputs, witnesses, statics, findings } = context
  findings.problems.push(...witnesses.problems, ...statics.problems)
  reportMissingSections(context)

  // A node that was seen only in part is not planned: every phase would take what it cannot see for absent.
  const unseen = sectionUnseen(inputs)
  if (unseen === undefined && podListIsComplete(inputs)) runPass(context)
  else {
    const why = unseen ?? 'the pod list may be incomplete'
    const path = inputs.rootDir
    findings.unchanged.push({ path, rule: 'S3', why: `nothing is planned here: ${why}`, subject: { path } })
  }
  reportProblems(context)
  // A plan reports this; an apply is refused.
  const insecure = refuseInsecureApi(describeApi(inputs.snapshot.api), options)
  if (insecure !== undefined) findings.problem('warning', insecure, ON_NODE)
  if (look === 'first') reportUnmatchedNames(context, options)
  return { plan: planOf(context), context }
}

function planOf(context: PlanContext): Plan {
  const { inputs, options, classes, ledger, findings } = context
  const { snapshot } = inputs
  const machine = machineOf(inputs, options)
  reportAccepted(context, machine)
  const refused = refusalOf(context, machine)
  const blocked = refused && blockOf(refused)
  const isNamed = namedFindings(context)
  const named = namedAmong(findings.operations, options, ledger, ({ after }) => after)
  const is = { operation: (draft: Draft) => named.has(draft), wait: isNamed, problem: isNamed }
  const { kept, filtered, waiting, problems } = namedPart(findings, options, is)
  const finished = finishOperations<Draft, Operation>(kept)
    .map((operation) => withBasis(operation, context))
    .map((operation) => (blocked === undefined ? operation : { ...operation, blocked }))
  const parts = {
    operations: finished,
    waiting: waiting.map((wait) => adviseRefused(wait, refused)),
    problems: problems.map((problem) => adviseRefused(withPodRef(problem, classes), refused)),
  }
  return {
    apiVersion: 'volctl.io/v1',
    kind: 'Plan',
    scope: 'node',
    node: snapshot.nodeName,
    rootDir: inputs.rootDir,
    bootID: snapshot.bootID,
    createdAt: snapshot.capturedAt,
    volctlVersion: options.volctlVersion,
    inputs: describeInputs(context, machine),
    ...withCauses(parts, filtered),
    complete: findings.complete,
    refused,
  }
}

/** A person knows a pod by its name. */
function withPodRef(problem: Problem, classes: PodClasses): Problem {
  const ref = problem.about.pod === undefined ? undefined : classes.of(problem.about.pod)?.ref
  return ref?.name === undefined ? problem : { ...problem, about: { ...problem.about, podRef: ref } }
}

/** What the plan says it was computed from, and which safety rules could not be judged. */
function describeInputs(context: PlanContext, machine: PlanInputs['machine']): PlanInputs {
  const { inputs, classes, kubelet } = context
  const { api, runtime } = inputs.snapshot
  const podDirs = inputs.tree.childDirs('pods').length
  return {
    api: describeApi(api),
    kubelet,
    actual: { mounts: inputs.mounts.all.length, podDirs },
    runtime: { source: runtime?.source ?? 'none', pods: runtime?.pods.length ?? 0 },
    machine,
    pods: {
      listed: api?.pods.length ?? 0,
      onDisk: podDirs,
      gone: classes.gone.length,
    },
    unjudged: unjudgedGuards(context),
  }
}

function describeApi(api: ApiSnapshot | undefined): PlanInputs['api'] {
  // An unknown word of a newer version is still a warning.
  const known = (word: Insecure): Insecure => (word === 'PlainHttp' ? word : 'TlsNotVerified')
  const { server = '', user, resourceVersion, insecure, podListCheck } = { ...api }
  return {
    server,
    user,
    resourceVersion,
    insecure: insecure && known(insecure),
    secondLookInsecure: podListCheck?.insecure && known(podListCheck.insecure),
  }
}

function unjudgedGuards(context: PlanContext): PlanInputs['unjudged'] {
  const { api, inUse } = context.inputs.snapshot
  const unchecked = api?.podListCheck?.problem
  const unlike = `the pod list was not checked against a second one: ${unchecked}`
  const holders = 'holders, other mount namespaces, superblocks and open devices are checked at apply'
  const elsewhere = 'attachments of other nodes cannot be listed with this credential'
  return present(
    unchecked !== undefined && { rule: 'S2', message: unlike },
    !inUse && { rule: 'S21', message: holders },
    !knowsOtherNodes(context) && { rule: 'S30', message: elsewhere },
  )
}

const REMOVING: ReadonlySet<StepOp> = new Set(['unlink', 'rmdir', 'deleteContent'])

/**
 * The operation with what it was decided on, beside its mounts: the pod's object in the API, and the files that it removes or needs
 * to call a driver (S26). Only facts that every look reads, so that live and offline plans are equal: attributes of a pod that
 * still runs are never read.
 */
function withBasis(operation: Operation, context: PlanContext): Operation {
  const pod = operation.pod && context.classes.of(operation.pod.uid)
  const files = pod !== undefined && isLiving(pod) ? [] : filesOf(operation, context)
  const { uid, resourceVersion } = { ...pod?.pod?.metadata }
  const basis: Basis = {
    pod: operation.pod && { listed: pod?.pod !== undefined, uid, resourceVersion },
    files: files.length > 0 ? files : undefined,
  }
  return (basis.pod ?? basis.files) === undefined ? operation : { ...operation, basis }
}

function filesOf({ steps, paths }: Operation, { inputs }: PlanContext): FileIdentity[] {
  const emptied = new Set(steps.flatMap(({ op, target }) => (op === 'deleteContent' ? target : [])))
  const removed = steps.flatMap(({ op, target }) => (REMOVING.has(op) ? target : []))
  const found = new Set([...removed, ...paths.filter((path) => STATE_FILES.has(baseName(path)))])
  return [...found].flatMap((path) => {
    // Such attributes are those of the kubelet's own tmpfs, not of the directory below it.
    if (inputs.mounts.at(path).length > 0) return []
    const { type, dev, ino, size, mtime }: Partial<TreeEntry> = { ...inputs.tree.get(inputs.relative(path)) }
    // No identity without attributes.
    if (dev === undefined || ino === undefined) return []
    const more = type === 'dir' ? { mtime: emptied.has(path) ? mtime : undefined } : { size, mtime }
    return { path, dev, ino, ...more }
  })
}

/** Causes whose next steps are right only if the API is right about pods. */
const TRUSTS_THE_API: ReadonlySet<CauseKind | undefined> = new Set<CauseKind>(['alive', 'data'])

/**
 * A problem or a wait, without a next step that the refusal makes dangerous: the pods of another cluster, or of one that was restored
 * from a backup, are not in the API either.
 */
function adviseRefused<T extends Pick<Problem, 'hint'> & { readonly code: Code; readonly because?: Because }>(
  advice: T,
  refused: Refusal | undefined,
): T {
  const { code, hint = remedyOf(code) } = advice
  if (refused === undefined || hint === undefined || !TRUSTS_THE_API.has(causeOf(code))) return advice
  return {
    ...advice,
    hint: `First find out why the plan is refused (${refused.code}); stop and remove nothing before.`,
  }
}

function blockOf({ code, message, hint }: Refusal): Operation['blocked'] {
  return { code: isCodeOf('blocked', code) ? code : 'Refused', message, hint }
}

const SECTIONS = [
  'api',
  'mountinfo',
  'tree',
  'runtime',
  'processes',
  'deadMounts',
  'staticPods',
  'kubelet',
  'blockDevices',
  'csiSockets',
] as const

/**
 * A missing section is a source that failed: it is reported, and the plan is incomplete (contract, Snapshot).
 */
function reportMissingSections({ inputs, findings }: PlanContext): void {
  const { snapshot } = inputs
  for (const section of SECTIONS) {
    const missing =
      section === 'mountinfo' ? inputs.mounts.all.length === 0 && !snapshot.mountinfo : snapshot[section] === undefined
    if (!missing) continue
    const because = { subject: { object: `section ${section}` } }
    findings.incomplete('error', said('ReadFailed.section', { section }), ON_NODE, 'Take a new snapshot.', because)
  }
  const missing = missingPodsDirectory(inputs)
  if (missing !== undefined) {
    const { path, hint } = missing
    findings.incomplete('error', saidOfAny('NodeUnreadable', 'noPods', { path }), { path, subject: { path } }, hint)
  }
  if (snapshot.api === undefined || podListIsComplete(inputs)) return
  const failure = readFailures(snapshot.api.errors).find((each) => each.resource === 'pods' && spoilsList(each, 'pods'))
  const why = failure === undefined ? '' : `: ${subjectOf(failure)} could not be read (${failure.text})`
  const hint =
    failure === undefined || failure.forbidden
      ? useCredential('list pods')
      : 'Make sure that the API server answers, or use another credential (--kubeconfig); then plan again.'
  findings.incomplete('error', said('PodListIncomplete.incomplete', { why }), ON_NODE, hint)
}
