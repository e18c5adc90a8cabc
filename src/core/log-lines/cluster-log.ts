/** The distinct troubles of a log of kube-controller-manager or of an external attacher, asked of a cluster. */
import type { AskedCluster } from '../cluster/explain/explain-cluster.ts'
import { defined } from '../lang/defined.ts'
import { answerInCluster } from './cluster-line.ts'
import { explainLogIn } from './explain-log.ts'
import type { LogExplanation } from './log-explanation.ts'
import type { ReadLog } from './read-log.ts'

/** @param asked absent: the cluster could not be read */
export function explainLogInCluster(log: ReadLog, asked: AskedCluster | undefined): LogExplanation {
  return explainLogIn(log, {
    head: { scope: 'cluster', ...(asked && clusterHead(asked)) },
    answer: (line) => {
      const { answer, explanation } = answerInCluster(line, asked)
      return { answer, isExplained: explanation !== undefined }
    },
    command: 'volctl explain --cluster',
  })
}

/** Which cluster was asked, and as of when. */
export function clusterHead({ state }: AskedCluster): Pick<LogExplanation, 'cluster' | 'createdAt'> {
  const { server, clusterUID, capturedAt } = state
  return { cluster: { server, ...defined({ uid: clusterUID }) }, createdAt: capturedAt }
}
