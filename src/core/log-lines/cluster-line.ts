/** From a line to the cause, in a cluster: what its sentence means, and what its names are there. Pure. */

import { orName } from '../cluster/context/kubectl.ts'
import type { ClusterExplanation } from '../cluster/explain/cluster-explanation.ts'
import type { AskedCluster } from '../cluster/explain/explain-cluster.ts'
import { defined } from '../lang/defined.ts'
import { mainOf, sentenceView, whatIsSaid } from './explain-line.ts'
import type { LineScope, NameView } from './line-explanation.ts'
import type { LineName } from './line-name.ts'
import type { LogLine } from './log-line.ts'
import { type AskedScope, asksFor, resolveNames } from './name-answers.ts'
import { sentenceOf } from './sentences/sentences.ts'
import { namesIn } from './take-names.ts'

const COMMAND = 'volctl explain --cluster'

/** @param cluster absent: it could not be read, and names stay what they are */
export function clusterScope(cluster: AskedCluster | undefined): LineScope<ClusterExplanation> {
  const { server, clusterUID, capturedAt } = { ...cluster?.state }
  const asked = server === undefined ? undefined : { server, ...defined({ uid: clusterUID }) }
  return {
    head: { scope: 'cluster', ...defined({ cluster: asked, createdAt: capturedAt }) },
    answer: (line) => answerLine(line, cluster),
    command: COMMAND,
  }
}

function answerLine(
  line: LogLine,
  cluster: AskedCluster | undefined,
): ReturnType<LineScope<ClusterExplanation>['answer']> {
  const { name, also, ...said } = whatIsSaid(line)
  const sentence = name && {
    ...sentenceView(name, line, undefined),
    ...defined(sentenceOf(name).inCluster ?? {}),
  }
  const resolved = cluster === undefined ? [] : resolveNames(namesIn(line), askedIn(cluster))
  const main = mainOf(resolved, name)
  const names = resolved.map(({ view }) => view)
  return {
    answer: { ...defined({ sentence, main: main?.view }), ...said, also, names },
    ...defined({ explained: main?.explained }),
  }
}

function askedIn({ state, explain }: AskedCluster): AskedScope<ClusterExplanation> {
  const isWhole = Object.values(state.lists).every((list) => list.state === 'whole')
  return {
    explain,
    told: (explained) => explained,
    volumeOf,
    hasVolumes: () => true,
    asksFor: (name) => (name.kind === 'node' ? [`node/${name.name}`] : asksFor(name, false)),
    unasked,
    absentText: (name) => `${absentText(name)}${isWhole ? '' : '; but not everything could be read'}`,
    command: COMMAND,
  }
}

/** By whatever name; the same on another node is another thing only for its attachment. */
function volumeOf({ subject, chains }: ClusterExplanation): string | undefined {
  const names = new Set(chains.flatMap(({ volume }) => volume?.uniqueName ?? []))
  const isVolume = ['PersistentVolumeClaim', 'PersistentVolume', 'Volume'].includes(subject.kind)
  return isVolume && names.size === 1 ? [...names][0] : undefined
}

function unasked({ kind }: LineName): Pick<NameView, 'found' | 'says'> | undefined {
  if (kind === 'path' || kind === 'device')
    return { found: false, says: 'it is on a node, and was not looked for: kubectl volctl on NODE explain WHAT' }
  if (kind === 'configMap' || kind === 'secret')
    return { found: false, says: 'was not read: nothing is attached for it' }
  return undefined
}

function absentText({ kind, name }: LineName): string {
  if (kind === 'attachment') return 'no such VolumeAttachment any more'
  if (kind === 'pod' || kind === 'podUid') return 'no such pod, or it has no volume that can be attached'
  return kind === 'node' ? `no such node ${orName(name)}` : 'not found in the cluster'
}
