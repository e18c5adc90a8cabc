/**
 * What a refused plan says of its parts. The pods of another cluster, or of one that was restored from a backup, are not in the API
 * either: that must not make volctl advise to stop one of them.
 */
import type { CauseKind } from '../codes/cause-kinds.ts'
import { causeOf, isCodeOf, type ProblemCode, type WaitingCode } from '../codes/codes.ts'
import { readFailures, spoilsList, subjectOf } from '../desired/read-failures.ts'
import { defined } from '../lang/defined.ts'
import { type Findings, ON_NODE } from '../plan/draft.ts'
import type { Operation, Refusal } from '../plan/plan.ts'
import type { PlanContext } from './context/context.ts'
import { useCredential } from './context/hints.ts'
import { podListIsComplete } from './pods/pod-classes.ts'
import { missingPodsDirectory } from './pods/pods-directory.ts'

/** Causes whose next steps are right only if the API is right about pods. */
const TRUSTS_THE_API: ReadonlySet<CauseKind | undefined> = new Set<CauseKind>(['alive', 'data'])

interface Advice {
  readonly code: ProblemCode | WaitingCode
  readonly hint?: string
}

/** A problem or a wait, without a next step that the refusal makes dangerous. */
export function adviseRefused<T extends Advice>(advice: T, refused: Refusal | undefined): T {
  if (refused === undefined || advice.hint === undefined || !TRUSTS_THE_API.has(causeOf(advice.code))) return advice
  return {
    ...advice,
    hint: `First find out why the plan is refused (${refused.code}); stop and remove nothing before.`,
  }
}

export function blockRefused(operation: Operation, { code, message, hint }: Refusal): Operation {
  return {
    ...operation,
    blocked: { code: isCodeOf('blocked', code) ? code : 'Refused', message, ...defined({ hint }) },
  }
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
 * Sources that failed: each is an error of the plan, which is then incomplete.
 * A missing section is a source that failed: it is reported, and the plan is incomplete (contract, Snapshot).
 */
export function reportMissingSections({ inputs }: PlanContext, findings: Findings): void {
  const { snapshot } = inputs
  for (const section of SECTIONS) {
    const missing =
      section === 'mountinfo' ? inputs.mounts.size === 0 && !snapshot.mountinfo : snapshot[section] === undefined
    if (!missing) continue
    findings.complete = false
    findings.problem(
      'error',
      'ReadFailed',
      `section ${section} is missing; what it would show is unknown`,
      ON_NODE,
      'Take a new snapshot.',
      { subject: { object: `section ${section}` } },
    )
  }
  const missing = missingPodsDirectory(inputs)
  if (missing !== undefined) {
    findings.complete = false
    const about = { path: missing.path, subject: { path: missing.path } }
    findings.problem('error', 'NodeUnreadable', missing.message, about, missing.hint)
  }
  if (snapshot.api !== undefined && !podListIsComplete(inputs)) {
    findings.complete = false
    const failure = readFailures(snapshot.api.errors).find(
      (each) => each.resource === 'pods' && spoilsList(each, 'pods'),
    )
    const why = failure === undefined ? '' : `: ${subjectOf(failure)} could not be read (${failure.text})`
    findings.problem(
      'error',
      'PodListIncomplete',
      `the pod list is incomplete, so no pod counts as deleted${why}`,
      ON_NODE,
      failure === undefined || failure.forbidden
        ? useCredential('list pods')
        : 'Make sure that the API server answers, or use another credential (--kubeconfig); then plan again.',
    )
  }
}
