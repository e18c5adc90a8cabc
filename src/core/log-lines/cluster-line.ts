/** From a line to the cause, in a cluster: what its sentence means, and what its names are there. Pure. */

import { orName } from '../cluster/context/kubectl.ts'
import type { ClusterExplanation } from '../cluster/explain/cluster-explanation.ts'
import type { AskedCluster } from '../cluster/explain/explain-cluster.ts'
import { VolctlError } from '../errors/errors.ts'
import { AmbiguousThing } from '../explain/match-name.ts'
import { defined } from '../lang/defined.ts'
import { firstFew } from '../lang/first-few.ts'
import { mainOf, sentenceView, whatIsSaid } from './explain-line.ts'
import type { LineAnswer, LineView, NameView } from './line-explanation.ts'
import type { LineName, NameKind } from './line-name.ts'
import type { LogLine } from './log-line.ts'
import { asksFor, SPECIFIC } from './name-answers.ts'
import { sentenceOf } from './sentences/sentences.ts'
import { namesIn } from './take-names.ts'

export interface ClusterLineExplanation extends LineAnswer {
  readonly apiVersion: 'volctl.io/v1'
  readonly kind: 'LineExplanation'
  readonly scope: 'cluster'
  readonly line: LineView
  /** Absent: the cluster could not be read. */
  readonly cluster?: ClusterExplanation['cluster']
  /** RFC 3339: when the reading of the cluster began. */
  readonly createdAt?: string
  /** Of the most specific thing that was found. */
  readonly explanation?: ClusterExplanation
}

interface Resolved {
  readonly view: NameView
  readonly explained?: ClusterExplanation
}

/** @param cluster absent: it could not be read, and names stay what they are */
export function answerInCluster(
  line: LogLine,
  cluster: AskedCluster | undefined,
): { readonly answer: LineAnswer; readonly explanation?: ClusterExplanation } {
  const { name, also, ...said } = whatIsSaid(line)
  const sentence = name && {
    ...sentenceView(name, line, undefined),
    ...defined(sentenceOf(name).inCluster ?? {}),
  }
  if (cluster === undefined) return { answer: { ...defined({ sentence }), ...said, also, names: [] } }
  const resolved = resolveNames(cluster, namesIn(line))
  const main = mainOf(resolved, name)
  const names = resolved.map(({ view }) => view)
  return {
    answer: { ...defined({ sentence, main: main?.view }), ...said, also, names },
    ...defined({ explanation: main?.explained }),
  }
}

/** The most telling first, each thing once. */
function resolveNames(cluster: AskedCluster, names: readonly LineName[]): Resolved[] {
  const rank = ({ kind }: LineName): number => (SPECIFIC.includes(kind) ? SPECIFIC.indexOf(kind) : SPECIFIC.length)
  const seen = new Set<string>()
  const all = names.toSorted((a, b) => rank(a) - rank(b)).map((name) => resolveName(cluster, name))
  const distinct = all.filter(({ explained }) => {
    if (explained === undefined) return true
    const identity = identityOf(explained)
    return !seen.has(identity) && seen.add(identity) !== undefined
  })
  const isKnown = distinct.some(({ explained }) => explained !== undefined)
  // What a pod that is gone called its volume nobody knows any more.
  return distinct.filter(({ view }) => view.found || view.kind !== 'podVolume' || !isKnown)
}

/** A volume by whatever name; the same on another node is another thing only for its attachment. */
function identityOf({ subject, chains }: ClusterExplanation): string {
  const names = new Set(chains.flatMap(({ volume }) => volume?.uniqueName ?? []))
  const isVolume = ['PersistentVolumeClaim', 'PersistentVolume', 'Volume'].includes(subject.kind)
  const [only] = names
  return isVolume && names.size === 1 && only !== undefined ? only : `${subject.kind} ${subject.name}`
}

const OF_NODES: readonly NameKind[] = ['path', 'device', 'configMap', 'secret']
const MOST_ALIKE = 3

function resolveName({ state, explain }: AskedCluster, lineName: LineName): Resolved {
  const { kind, name } = lineName
  const missing = (says: string): Resolved => ({ view: { kind, name, found: false, says } })
  if (kind === 'path' || kind === 'device')
    return missing('it is on a node, and was not looked for: kubectl volctl on NODE explain WHAT')
  if (OF_NODES.includes(kind)) return missing('was not read: nothing is attached for it')
  let ambiguous: string | undefined
  for (const ask of kind === 'node' ? [`node/${name}`] : asksFor(lineName, false)) {
    try {
      const explained = explain(ask)
      const { verdict, subject } = explained
      return { view: { kind, name, found: true, says: verdict.message, ask, subject, verdict }, explained }
    } catch (error) {
      if (!(error instanceof VolctlError)) throw error
      if (error instanceof AmbiguousThing)
        ambiguous = `is ambiguous here: ${firstFew(error.asks, MOST_ALIKE, 'and ').join(', ')}`
    }
  }
  if (ambiguous !== undefined) return { view: { kind, name, found: true, says: ambiguous } }
  return missing(
    absentText(
      kind,
      name,
      Object.values(state.lists).every((list) => list.state === 'whole'),
    ),
  )
}

function absentText(kind: NameKind, name: string, isWhole: boolean): string {
  const caveat = isWhole ? '' : '; but not everything could be read'
  if (kind === 'attachment') return `no such VolumeAttachment any more${caveat}`
  if (kind === 'pod' || kind === 'podUid') return `no such pod, or it has no volume that can be attached${caveat}`
  if (kind === 'node') return `no such node ${orName(name)}${caveat}`
  return `not found in the cluster${caveat}`
}
