/** The causes of a cluster's plan, each named by its findings; the subjects are volumes on nodes. */
import { causeOf } from '../codes/codes.ts'
import type { Cause, CauseSubject } from '../plan/cause.ts'
import type {
  ClusterAbout,
  ClusterOperation,
  ClusterPlan,
  ClusterProblem,
  ClusterWaiting,
} from '../plan/cluster-plan.ts'
import { Causes } from './find-causes.ts'

type Parts = Pick<ClusterPlan, 'operations' | 'waiting' | 'problems'>

/** The same findings, each with the key of its cause; and the causes, those that stop most first. */
export function nameClusterCauses({ operations, waiting, problems }: Parts): Parts & {
  readonly causes: readonly Cause[]
} {
  const causes = new Causes()
  const keys = new Map<string, string>()
  const named = operations.map((operation) => {
    const key = causeOfOperation(operation, causes, keys)
    if (operation.blocked === undefined || key === undefined) return operation
    keys.set(operation.id, key)
    return { ...operation, blocked: { ...operation.blocked, cause: key } }
  })
  return {
    operations: named,
    waiting: waiting.map((wait) => ({ ...wait, cause: causes.add(findingOfWait(wait)) })),
    problems: problems.map((problem) => ({ ...problem, cause: causes.add(findingOfProblem(problem)) })),
    causes: causes.all(),
  }
}

function causeOfOperation(
  operation: ClusterOperation,
  causes: Causes,
  keys: ReadonlyMap<string, string>,
): string | undefined {
  const { blocked, after, pods, volume, node, id } = operation
  if (blocked === undefined) return undefined
  const about = { operation: id, pods, volume: onNode(volume.name, node) }
  if (causeOf(blocked.code) === 'follows') {
    const before = after.map((each) => keys.get(each)).find((key) => key !== undefined)
    if (before !== undefined) {
      causes.follow(before, about)
      return before
    }
  }
  const { code, message, hint } = blocked
  return causes.add({
    from: 'operation',
    ...{ code, message, hint },
    subject: { object: onNode(volume.name, node) },
    ...about,
    driver: volume.driver,
  })
}

function findingOfWait(wait: ClusterWaiting): Parameters<Causes['add']>[0] {
  const { code, message, hint, until, pods, volume, attachment, node } = wait
  const name = onNode(volume?.name ?? attachment ?? 'a volume', node)
  return {
    from: 'wait',
    ...{ code, message, hint, until, pods },
    subject: { object: name },
    volume: name,
    driver: volume?.driver,
  }
}

function findingOfProblem({ code, message, hint, severity, about }: ClusterProblem): Parameters<Causes['add']>[0] {
  return {
    from: 'problem',
    ...{ code, message, hint, severity },
    subject: subjectOf(about),
    pods: [],
    driver: about.driver,
    pod: about.pods?.[0],
  }
}

function subjectOf({ volume, claim, attachment, pods, nodes, driver, list }: ClusterAbout): CauseSubject {
  if (driver !== undefined) return { driver }
  const node = nodes?.length === 1 ? nodes[0] : undefined
  if (volume !== undefined) return { object: node === undefined ? volume.name : onNode(volume.name, node) }
  if (claim !== undefined) return { object: `PersistentVolumeClaim ${claim}` }
  if (attachment !== undefined) return { object: `VolumeAttachment ${attachment}` }
  const [pod] = pods ?? []
  if (pod !== undefined) return { pod }
  if (nodes !== undefined) return { object: `node ${nodes.join(', ')}` }
  return list === undefined ? {} : { object: list }
}

function onNode(volume: string, node: string): string {
  return `${volume} on node ${node}`
}
