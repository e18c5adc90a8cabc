/**
 * The one idea: a node's state in, a plan out. Pure and deterministic; no clock, no disk, no network.
 *
 * The pass has the kubelet's phases in the order of the contract: unmount, mount or attach, unmount and detach devices,
 * orphans. Unmounts come first, so that a volume is free before anyone else gets it; device unmounts come after every
 * mount is decided, so that none is undone that a pod is about to need (R403, R833).
 */

import type { NodeState } from '../model/node-state.ts'
import type { ApiSnapshot, Insecure } from '../model/snapshot.ts'
import { Findings, finishOperations } from '../plan/draft.ts'
import type { Operation, OperationKind, Plan, PlanInputs, PlanOptions } from '../plan/plan.ts'
import { withBasis } from './basis.ts'
import type { PlanContext } from './context/context.ts'
import { filterOperations } from './context/filter-operations.ts'
import { blockBehindLinks } from './context/unread.ts'
import { machineOf, refuseWrongMachine, reportAccepted } from './identity/refuse-identity.ts'
import { knowsOtherNodes } from './identity/volume-facts.ts'
import { mountOrAttachVolumes } from './mount-volumes/mount-volumes.ts'
import { CoveredMounts } from './obstacles/covered.ts'
import { blockDeadDrivers } from './obstacles/dead-drivers.ts'
import { blockLazilyDetached } from './obstacles/lazily-detached.ts'
import { reportUnmatchedNames } from './obstacles/unmatched-names.ts'
import { makeContext } from './plan-context.ts'
import { refuseInsecureApi, refuseOutage } from './pods/guards.ts'
import { podListIsComplete, sectionUnseen } from './pods/pod-classes.ts'
import { missingPodsDirectory } from './pods/pods-directory.ts'
import { removeOrphanPodDirs } from './remove-orphan-pod-dirs.ts'
import { reportProblems } from './report/report-problems.ts'
import { detachVolumes } from './unmount-detach-devices/detach-volumes.ts'
import { unmapDevices, unmapVolumes } from './unmount-detach-devices/unmap-block.ts'
import { unmountDevices } from './unmount-detach-devices/unmount-devices.ts'
import { unmountOtherDevices } from './unmount-detach-devices/unmount-other-devices.ts'
import { unmountVolumes } from './unmount-volumes/unmount-volumes.ts'

/**
 * Plans one reconcile pass over one node. Same state and options in, same bytes out.
 *
 * @param look `again` in an apply: what the flags name may have been undone by it
 */
export function planNode(state: NodeState, options: PlanOptions, look: Look = 'first'): Plan {
  return decideNode(state, options, new Findings(), look).plan
}

type Look = 'first' | 'again'

/** The plan and what it was decided on. `findings` takes what the phases say, and, where it was made to, what they leave. */
export function decideNode(
  state: NodeState,
  options: PlanOptions,
  findings: Findings,
  look: Look = 'first',
): { readonly plan: Plan; readonly context: PlanContext } {
  const context = makeContext(state, options, findings)
  const { inputs, classes, witnesses } = context
  noteMissingSections(context, findings)

  // Of a node that was seen in part only, nothing can be told: every phase would take what it does not see for absent.
  const unseen = sectionUnseen(inputs)
  if (unseen === undefined && podListIsComplete(inputs)) runPass(context, findings)
  else {
    const why = unseen ?? 'the list of pods is not known to be complete'
    findings.leave(() => ({ path: inputs.rootDir, rule: 'S3', why: `nothing is decided here: ${why}` }))
  }
  reportProblems(context, findings)
  reportInsecureApi(context, findings)
  if (look === 'first') reportUnmatchedNames(context, findings)

  const machine = machineOf(inputs, options)
  reportAccepted(machine, findings)
  const refused = refuseWrongMachine(inputs, machine) ?? refuseOutage(inputs, classes, witnesses, options)
  const { kept, filtered } = filterOperations(findings.operations, context.options)
  const operations = finishOperations(kept)
    .map((operation) => withBasis(operation, context))
    .map((operation) => (refused === undefined ? operation : blockRefused(operation, refused)))
  const { snapshot } = inputs
  const plan: Plan = {
    apiVersion: 'volctl.io/v1',
    kind: 'Plan',
    scope: 'node',
    node: snapshot.nodeName,
    rootDir: inputs.rootDir,
    ...(snapshot.bootID === undefined ? {} : { bootID: snapshot.bootID }),
    createdAt: snapshot.capturedAt,
    volctlVersion: options.volctlVersion,
    inputs: describeInputs(context, machine),
    operations,
    waiting: findings.waiting,
    problems: findings.problems,
    summary: {
      operations: countByKind(operations),
      blocked: operations.filter((operation) => operation.blocked !== undefined).length,
      waiting: findings.waiting.length,
      problems: findings.problems.length,
      filtered,
    },
    complete: findings.complete,
    ...(refused === undefined ? {} : { refused }),
  }
  return { plan, context }
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

function runPass(context: PlanContext, findings: Findings): void {
  const { inputs, classes } = context
  const covered = new CoveredMounts(inputs.mounts)
  unmountVolumes(context, findings)
  unmapVolumes(context, findings)
  // Before those are decided that come after them, and again before detaches.
  covered.block(findings.operations)
  mountOrAttachVolumes(context, findings)
  blockBehindLinks(inputs, findings.operations)
  unmountDevices(context, findings)
  unmapDevices(context, findings)
  unmountOtherDevices(context, findings)
  covered.block(findings.operations)
  const gone = classes.all.filter((pod) => pod.class === 'Gone').length
  blockDeadDrivers(context, findings.operations, gone)
  detachVolumes(context, findings)
  blockLazilyDetached(context, findings)
  removeOrphanPodDirs(context, findings)
  blockBehindLinks(inputs, findings.operations)
}

/** A section that is not there is a source that failed: said, and the plan is not complete (contract, Snapshot). */
function noteMissingSections({ inputs }: PlanContext, findings: Findings): void {
  const { snapshot } = inputs
  for (const section of SECTIONS) {
    const missing =
      section === 'mountinfo' ? inputs.mounts.size === 0 && !snapshot.mountinfo : snapshot[section] === undefined
    if (!missing) continue
    findings.complete = false
    findings.problem(
      'error',
      'SectionMissing',
      `${section} is missing: what it would show is not known`,
      {},
      'Take a new snapshot.',
    )
  }
  const missing = missingPodsDirectory(inputs)
  if (missing !== undefined) {
    findings.complete = false
    findings.problem('error', 'NoPodsDirectory', missing.message, { path: missing.path }, missing.hint)
  }
  if (snapshot.api !== undefined && !podListIsComplete(inputs)) {
    findings.complete = false
    findings.problem('error', 'PodListIncomplete', 'the list of pods is not complete: nobody is taken for gone')
  }
}

function describeInputs(context: PlanContext, machine: PlanInputs['machine']): PlanInputs {
  const { inputs, classes } = context
  const { snapshot } = inputs
  return {
    api: describeApi(snapshot.api),
    kubelet: context.kubelet,
    actual: { mounts: inputs.mounts.size, podDirs: inputs.tree.childDirs('pods').length },
    runtime: { source: snapshot.runtime?.source ?? 'none', pods: snapshot.runtime?.pods.length ?? 0 },
    machine,
    pods: {
      listed: snapshot.api?.pods.length ?? 0,
      onDisk: inputs.tree.childDirs('pods').length,
      gone: classes.all.filter((pod) => pod.class === 'Gone').length,
    },
    unjudged: unjudgedGuards(context),
  }
}

function describeApi(api: ApiSnapshot | undefined): PlanInputs['api'] {
  // A word that this version does not know says no less.
  const known = (word: Insecure): Insecure => (word === 'PlainHttp' ? word : 'TlsNotVerified')
  const { server = '', user, resourceVersion, insecure, podListCheck } = { ...api }
  return {
    server,
    ...(user === undefined ? {} : { user }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
    ...(insecure === undefined ? {} : { insecure: known(insecure) }),
    ...(podListCheck?.insecure === undefined ? {} : { secondLookInsecure: known(podListCheck.insecure) }),
  }
}

/** Said by a plan; an apply is refused for it. */
function reportInsecureApi({ inputs, options }: PlanContext, findings: Findings): void {
  const refusal = refuseInsecureApi(describeApi(inputs.snapshot.api), options)
  if (refusal !== undefined) findings.problem('warning', 'InsecureApi', refusal.message, {}, refusal.hint)
}

function unjudgedGuards(context: PlanContext): PlanInputs['unjudged'] {
  const check = context.inputs.snapshot.api?.podListCheck
  return [
    ...(check?.problem === undefined
      ? []
      : [{ rule: 'S2', message: `the pod list was not compared: ${check.problem}` }]),
    { rule: 'S21', message: 'holders, other mount namespaces, superblocks and open devices are checked at apply' },
    ...(knowsOtherNodes(context)
      ? []
      : [{ rule: 'S30', message: 'attachments of other nodes cannot be listed with this credential' }]),
  ]
}

function blockRefused(operation: Operation, refused: NonNullable<Plan['refused']>): Operation {
  const code = refused.code === 'OutageSuspected' ? 'OutageSuspected' : 'Refused'
  return {
    ...operation,
    blocked: { code, message: refused.message, ...(refused.hint === undefined ? {} : { hint: refused.hint }) },
  }
}

function countByKind(operations: readonly Operation[]): Partial<Record<OperationKind, number>> {
  const counts: Partial<Record<OperationKind, number>> = {}
  for (const { kind } of operations) counts[kind] = (counts[kind] ?? 0) + 1
  return counts
}
