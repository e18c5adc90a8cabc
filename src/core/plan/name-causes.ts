/** The causes of a plan of either scope, each named by its findings: what each finding is about. */
import { causeOf } from '../messages/codes.ts'
import type { Because, Cause, CauseSubject } from './cause.ts'
import type { ClusterOperation, ClusterPlan, ClusterProblem, ClusterWaiting } from './cluster-plan.ts'
import { type Names, nameFindings, subjectAmong } from './find-causes.ts'
import type { Blocked, Operation, Plan, Problem, Waiting } from './plan.ts'
import { shownVolume } from './plan-names.ts'

type Parts<Of extends Plan | ClusterPlan> = Pick<Of, 'operations' | 'waiting' | 'problems'>

/** The same findings, each with the key of its cause; and the causes, those that stop most first. */
export function nameCauses(parts: Parts<Plan>): Parts<Plan> & { readonly causes: readonly Cause[] } {
  return nameFindings(parts, { work: ofWork, problem: ofProblem })
}

/** The same of a cluster, where the subjects are volumes on nodes. */
export function nameClusterCauses(
  parts: Parts<ClusterPlan>,
): Parts<ClusterPlan> & { readonly causes: readonly Cause[] } {
  return nameFindings(parts, { work: ofClusterWork, problem: ofClusterProblem })
}

type Work = Pick<Operation | Waiting, 'pod' | 'volume' | 'subject'> & Pick<Operation, 'attachment'>

function ofWork(work: Work): Names {
  const { pod, volume, subject: whose } = work
  return {
    ...{ subject: subjectOf(work), whose, pod, driver: volume?.driver },
    pods: pod === undefined ? [] : [pod],
    volume: volume && shownVolume(work),
  }
}

function subjectOf({ pod, volume, attachment }: Work): CauseSubject {
  if (volume === undefined) return subjectAmong(pod === undefined ? { attachment: attachment?.name } : { pod })
  return subjectAmong({ pod, volume: shownVolume({ volume, pod }) })
}

/** For what follows from a blocked operation, and is not an operation itself. */
export function followsFrom(work: Work, { code, because }: Blocked & { readonly because?: Because }): Because {
  const driver = causeOf(code) === 'driver' ? work.volume?.driver : undefined
  const subject = driver === undefined ? subjectOf(work) : { driver }
  return { code, subject, whose: work.subject, ...because, follows: true }
}

function ofProblem({ about, subject: whose }: Problem): Names {
  const { podRef, pod: uid, volume, path, driver } = about
  const pod = podRef ?? (uid === undefined ? undefined : { uid })
  return {
    ...{ whose, pod, driver },
    pods: [],
    volume: undefined,
    subject: subjectAmong({ driver, volume, pod, path }),
  }
}

function ofClusterWork({ pods, volume, attachment, node, subject: whose }: ClusterOperation | ClusterWaiting): Names {
  const name = volume?.name ?? (typeof attachment === 'string' ? attachment : 'a volume')
  return {
    ...{ whose, node, pods, pod: undefined, driver: volume?.driver },
    subject: { volume: name, nodes: [node] },
    volume: `${name} on node ${node}`,
  }
}

function ofClusterProblem({ about, subject: whose }: ClusterProblem): Names {
  const { volume, pods = [], nodes, driver, ...others } = about
  const [pod] = pods
  const one = nodes?.length === 1 ? nodes : undefined
  const subject = volume === undefined ? { ...others, pod, driver, nodes } : { volume: volume.name, nodes: one }
  return { ...{ whose, pods, pod, driver }, volume: undefined, subject: subjectAmong(subject) }
}
