/** The causes of a node's plan, each named by its findings. */
import { causeOf } from '../codes/codes.ts'
import type { Cause, CauseOf, CauseSubject } from '../plan/cause.ts'
import type { Blocked, Operation, Plan, PodRef, Problem, VolumeRef, Waiting } from '../plan/plan.ts'
import { shownVolume } from '../plan/plan-names.ts'
import { type Finding, nameFindings } from './find-causes.ts'

type Parts = Pick<Plan, 'operations' | 'waiting' | 'problems'>

/** Where a finding is made, it may say that its cause is another thing than what it is about. */
type WithOf<T> = T & { readonly of?: CauseOf }

/** The same findings, each with the key of its cause; and the causes, those that stop most first. */
export function nameCauses(parts: Parts): Parts & { readonly causes: readonly Cause[] } {
  return nameFindings(parts, { operation: findingOfOperation, wait: findingOfWait, problem: findingOfProblem })
}

function findingOfOperation(operation: Operation, { code, message, hint, users, of }: WithOf<Blocked>): Finding {
  const { pod, volume, id, attachment, subject: whose } = operation
  return {
    from: 'operation',
    ...{ code, message, hint, users, of, pod, whose },
    subject:
      subjectOf(pod, volume) ?? (attachment === undefined ? NODE : { object: `VolumeAttachment ${attachment.name}` }),
    operation: id,
    pods: pod === undefined ? [] : [pod],
    volume: nameOf(operation),
    driver: volume?.driver,
  }
}

const NODE: CauseSubject = {}

/** For what follows from a blocked operation, and is not an operation itself. */
export function followsFrom(
  { pod, volume, subject: whose }: Pick<Operation, 'pod' | 'volume' | 'subject'>,
  { code, of }: WithOf<Blocked>,
): CauseOf {
  const driver = causeOf(code) === 'driver' ? volume?.driver : undefined
  const subject = driver === undefined ? subjectOf(pod, volume) : { driver }
  return { code, ...(subject !== undefined && { subject, whose }), ...of, follows: true }
}

function findingOfWait(wait: WithOf<Waiting>): Finding {
  const { code, message, hint, of, pod, volume, until, subject: whose } = wait
  return {
    from: 'wait',
    ...{ code, message, hint, of, until, pod, whose },
    subject: subjectOf(pod, volume) ?? NODE,
    pods: pod === undefined ? [] : [pod],
    volume: nameOf(wait),
    driver: volume?.driver,
  }
}

function findingOfProblem(problem: WithOf<Problem>): Finding {
  const { code, message, hint, of, severity, about, subject: whose } = problem
  const pod = about.podRef ?? (about.pod === undefined ? undefined : { uid: about.pod })
  return {
    from: 'problem',
    ...{ code, message, hint, of, severity, pod, whose },
    subject: subjectOfProblem(pod, about),
    pods: [],
    driver: about.driver,
  }
}

function subjectOfProblem(pod: PodRef | undefined, { volume, path, driver }: Problem['about']): CauseSubject {
  if (driver !== undefined) return { driver }
  if (volume !== undefined) return pod === undefined ? { volume } : { volume, pod }
  if (pod !== undefined) return { pod }
  return path === undefined ? NODE : { path }
}

function subjectOf(pod: PodRef | undefined, volume: VolumeRef | undefined): CauseSubject | undefined {
  if (volume !== undefined) {
    const name = shownVolume({ volume, ...(pod !== undefined && { pod }) })
    return pod === undefined ? { volume: name } : { volume: name, pod }
  }
  return pod && { pod }
}

function nameOf(finding: Pick<Waiting, 'pod' | 'volume'>): string | undefined {
  return finding.volume === undefined ? undefined : shownVolume(finding)
}
