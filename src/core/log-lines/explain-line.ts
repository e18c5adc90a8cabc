/** From a line to the cause: what its sentence means, and what its names are on this node. Pure. */
import type { Verdict } from '../explain/explanation.ts'
import { defined } from '../lang/defined.ts'
import type { NodeState } from '../model/node-state.ts'
import type { LineAnswer, LineView, NameView, SentenceView } from './line-explanation.ts'
import type { NameKind } from './line-name.ts'
import type { LogLine } from './log-line.ts'
import { type AskedNode, type Resolved, resolveNames, SPECIFIC } from './name-answers.ts'
import { type Sentence, SPEAKERS } from './sentences/sentence.ts'
import { SENTENCES, type SentenceName, sentencesIn } from './sentences/sentences.ts'
import { namesIn } from './take-names.ts'

/** The answer, and what the most specific thing was explained as. */
export interface AnsweredLine {
  readonly answer: LineAnswer
  readonly main?: Resolved
}

/** @param node absent: it could not be looked at, and names stay what they are */
export function answerLine(line: LogLine, node: AskedNode | undefined): AnsweredLine {
  const [name, ...also] = sentencesIn(line)
  const sentence = name === undefined ? undefined : sentenceView(name, node?.state)
  if (node === undefined) return { answer: { ...defined({ sentence }), also, names: [] } }
  const resolved = resolveNames(node, namesIn(line))
  const main = mainOf(resolved, name)
  const otherNode = otherNodeOf(resolved, node.state) ?? otherHost(line, main, node.state)
  return {
    answer: { ...defined({ sentence, otherNode, main: main?.view }), also, names: resolved.map(({ view }) => view) },
    ...defined({ main }),
  }
}

export function lineView({ format, time, host, program, severity, source, message, cut }: LogLine): LineView {
  return { format, ...defined({ time, host, program, severity, source }), message, cut }
}

/** @param state absent: the texts name the kubelet's usual unit */
export function sentenceView(name: SentenceName, state: NodeState | undefined): SentenceView {
  const { by, means, why, next, volctl, codes, rules, harmless }: Sentence = SENTENCES[name]
  const here = (text: string): string =>
    text
      .replaceAll('{unit}', () => state?.snapshot.kubelet?.unit ?? 'kubelet')
      .replaceAll('{node}', () => state?.snapshot.nodeName ?? 'NODE')
  return {
    name,
    by: by.map((each) => SPEAKERS[each]),
    means,
    why: here(why),
    next: here(next),
    volctl: here(volctl),
    codes,
    rules,
    harmless: harmless === true,
  }
}

const FIRST: Readonly<Record<'pod' | 'driver' | 'volume', readonly NameKind[]>> = {
  pod: ['podUid', 'pod'],
  driver: ['driver'],
  volume: [],
}
const WORST: readonly Verdict['state'][] = ['problem', 'blocked', 'waiting', 'operation', 'nothing']

/** Of several alike the one that is worst off. */
function mainOf(resolved: readonly Resolved[], sentence: SentenceName | undefined): Resolved | undefined {
  const about = sentence === undefined ? undefined : (SENTENCES[sentence] as Sentence).about
  const order = [...FIRST[about ?? 'volume'], ...SPECIFIC]
  const found = resolved.filter(({ explained }) => explained !== undefined)
  const rank = ({ view }: Resolved): number => order.indexOf(view.kind)
  const worst = ({ view }: Resolved): number => WORST.indexOf(view.verdict?.state ?? 'nothing')
  return found.toSorted((a, b) => rank(a) - rank(b) || worst(a) - worst(b))[0]
}

function otherNodeOf(resolved: readonly Resolved[], { snapshot }: NodeState): LineAnswer['otherNode'] {
  const nodes = resolved.map(({ view }) => view).filter(({ kind }: NameView) => kind === 'node')
  const other = nodes.find(({ name }) => name !== snapshot.nodeName)
  if (other === undefined) return undefined
  const both = nodes.some(({ name }) => name === snapshot.nodeName)
  const says = both
    ? `the line also names node ${other.name}; this one is ${snapshot.nodeName}: run volctl explain on both`
    : `the line is about node ${other.name}, and this one is ${snapshot.nodeName}: run volctl explain there`
  return { name: other.name, says }
}

/** Where nothing of the line is found, and it was written elsewhere: hosts may have other names than their nodes. */
function otherHost(
  { host }: LogLine,
  main: Resolved | undefined,
  { snapshot: { nodeName } }: NodeState,
): LineAnswer['otherNode'] {
  if (host === undefined || main !== undefined || firstLabel(host) === firstLabel(nodeName)) return undefined
  return {
    name: host,
    says: `the line was written on host ${host}, and this node is ${nodeName}: if they are not the same, run volctl explain there`,
  }
}

function firstLabel(name: string): string | undefined {
  return name.split('.')[0]?.toLowerCase()
}
