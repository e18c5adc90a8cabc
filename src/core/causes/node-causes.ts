/** The causes of a node's plan, each named by its findings. */
import { causeOf } from '../codes/codes.ts'
import type { Cause, CauseOf, CauseSubject } from '../plan/cause.ts'
import type { Blocked, Operation, Plan, PodRef, Problem, VolumeRef, Waiting } from '../plan/plan.ts'
import { shownVolume } from '../plan/plan-names.ts'
import { Causes } from './find-causes.ts'

type Parts = Pick<Plan, 'operations' | 'waiting' | 'problems'>

/** Where a finding is made, it may say that its cause is another thing than what it is about. */
type WithOf<T> = T & { readonly of?: CauseOf }

/** The same findings, each with the key of its cause; and the causes, those that stop most first. */
export function nameCauses({ operations, waiting, problems }: Parts): Parts & { readonly causes: readonly Cause[] } {
  const causes = new Causes()
  const keys = new Map<string, string>()
  const named = operations.map((operation) => {
    const key = causeOfOperation(operation, causes, keys)
    if (operation.blocked === undefined || key === undefined) return operation
    keys.set(operation.id, key)
    return { ...operation, blocked: withKey(operation.blocked, key) }
  })
  return {
    operations: named,
    waiting: waiting.map((wait) => withKey(wait, causes.add(findingOfWait(wait)))),
    problems: problems.map((problem) => withKey(problem, causes.add(findingOfProblem(problem)))),
    causes: causes.all(),
  }
}

function withKey<T extends object>(finding: WithOf<T>, cause: string): T & { cause: string } {
  const { of: _, ...rest } = finding
  return { ...(rest as unknown as T), cause }
}

/** An operation that waits for a blocked one has the cause of that one. */
function causeOfOperation(operation: Operation, causes: Causes, keys: ReadonlyMap<string, string>): string | undefined {
  const { blocked, after, pod, volume, id, attachment } = operation
  if (blocked === undefined) return undefined
  const about = { operation: id, pods: pod === undefined ? [] : [pod], volume: nameOf(operation) }
  if (causeOf(blocked.code) === 'follows') {
    const before = after.map((each) => keys.get(each)).find((key) => key !== undefined)
    if (before !== undefined) {
      causes.follow(before, about)
      return before
    }
  }
  const { code, message, hint, of } = blocked as WithOf<typeof blocked>
  return causes.add({
    from: 'operation',
    ...{ code, message, hint, of },
    subject:
      subjectOf(pod, volume) ?? (attachment === undefined ? NODE : { object: `VolumeAttachment ${attachment.name}` }),
    ...about,
    pod,
    driver: volume?.driver,
  })
}

const NODE: CauseSubject = {}

/** For what follows from a blocked operation, and is not an operation itself. */
export function followsFrom(operation: Pick<Operation, 'pod' | 'volume'>, { code, of }: WithOf<Blocked>): CauseOf {
  const { pod, volume } = operation
  const driver = causeOf(code) === 'driver' ? volume?.driver : undefined
  const subject = driver === undefined ? subjectOf(pod, volume) : { driver }
  return { code, ...(subject !== undefined && { subject }), ...of, follows: true }
}

function findingOfWait(wait: WithOf<Waiting>): Parameters<Causes['add']>[0] {
  const { code, message, hint, of, pod, volume, until } = wait
  return {
    from: 'wait',
    ...{ code, message, hint, of, until, pod },
    subject: subjectOf(pod, volume) ?? NODE,
    pods: pod === undefined ? [] : [pod],
    volume: nameOf(wait),
    driver: volume?.driver,
  }
}

function findingOfProblem(problem: WithOf<Problem>): Parameters<Causes['add']>[0] {
  const { code, message, hint, of, severity, about } = problem
  const pod = about.podRef ?? (about.pod === undefined ? undefined : { uid: about.pod })
  return {
    from: 'problem',
    ...{ code, message, hint, of, severity, pod },
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
