/** The causes of a cluster's plan, each named by its findings; the subjects are volumes on nodes. */
import { type Code, isOfNode } from '../codes/codes.ts'
import type { Cause, CauseOf, CauseSubject } from '../plan/cause.ts'
import type {
  ClusterAbout,
  ClusterBlocked,
  ClusterOperation,
  ClusterPlan,
  ClusterProblem,
  ClusterWaiting,
} from '../plan/cluster-plan.ts'
import { rowsOf } from '../plan/subject.ts'
import { type Finding, nameFindings } from './find-causes.ts'

type Parts = Pick<ClusterPlan, 'operations' | 'waiting' | 'problems'>

/** The same findings, each with the key of its cause; and the causes, those that stop most first. */
export function nameClusterCauses(parts: Parts): Parts & { readonly causes: readonly Cause[] } {
  return nameFindings(parts, { operation: findingOfOperation, wait: findingOfWait, problem: findingOfProblem })
}

function findingOfOperation(
  { pods, volume, node, id, subject }: ClusterOperation,
  { code, message, hint }: ClusterBlocked,
): Finding {
  const name = onNode(volume.name, node)
  return {
    from: 'operation',
    ...{ code, message, hint, pods },
    subject: { object: name },
    ...{ rows: rowsOf(subject), place: placeOf(code, node) },
    operation: id,
    volume: name,
    driver: volume.driver,
  }
}

function findingOfWait(wait: ClusterWaiting): Finding {
  const { code, message, hint, until, pods, volume, attachment, node, subject } = wait
  const name = onNode(volume?.name ?? attachment ?? 'a volume', node)
  return {
    from: 'wait',
    ...{ code, message, hint, until, pods },
    subject: { object: name },
    ...{ rows: rowsOf(subject), place: placeOf(code, node) },
    volume: name,
    driver: volume?.driver,
  }
}

function findingOfProblem(problem: ClusterProblem & { readonly of?: CauseOf }): Finding {
  const { code, message, hint, severity, about, subject, of } = problem
  return {
    from: 'problem',
    ...{ code, message, hint, severity },
    subject: subjectOf(about),
    ...{ rows: rowsOf(subject), of },
    pods: about.pods ?? [],
    driver: about.driver,
    pod: about.pods?.[0],
  }
}

function placeOf(code: Code, node: string): CauseSubject | undefined {
  return isOfNode(code) ? { object: `node ${node}` } : undefined
}

function subjectOf({ volume, claim, attachment, pods, nodes, driver, list }: ClusterAbout): CauseSubject {
  const node = nodes?.length === 1 ? nodes[0] : undefined
  if (volume !== undefined) return { object: node === undefined ? volume.name : onNode(volume.name, node) }
  if (claim !== undefined) return { object: `PersistentVolumeClaim ${claim}` }
  if (attachment !== undefined) return { object: `VolumeAttachment ${attachment}` }
  const [pod] = pods ?? []
  if (pod !== undefined) return { pod }
  if (driver !== undefined) return { driver }
  if (nodes !== undefined) return { object: `node ${nodes.join(', ')}` }
  return list === undefined ? {} : { object: `list of ${list}` }
}

function onNode(volume: string, node: string): string {
  return `${volume} on node ${node}`
}
