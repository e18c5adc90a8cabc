/** From a line to the cause: what its sentence means, and what its names are on this node. Pure. */
import type { Explained } from '../explain/explain.ts'
import type { Verdict } from '../explain/explanation.ts'
import { defined } from '../lang/defined.ts'
import type { NodeState } from '../model/node-state.ts'
import { fill, type KnownVolume } from './fill.ts'
import { flattened } from './go-quoting.ts'
import type { LineAnswer, LineScope, LineView, SentenceView } from './line-explanation.ts'
import type { NameKind } from './line-name.ts'
import { placeOf } from './line-place.ts'
import type { LogLine } from './log-line.ts'
import { type Resolved, resolveNames, SPECIFIC } from './name-answers.ts'
import { type AskedNode, askedOn } from './node-names.ts'
import { SPEAKERS } from './sentences/sentence.ts'
import { isFrame, isGeneral, type SentenceName, sentenceOf, sentencesIn } from './sentences/sentences.ts'
import { namesIn } from './take-names.ts'

/** @param node absent: it could not be looked at, and names stay what they are */
export function nodeScope(node: AskedNode | undefined): LineScope<Explained> {
  const { nodeName, capturedAt } = { ...node?.state.snapshot }
  return {
    head: defined({ node: nodeName, createdAt: capturedAt }),
    answer: (line) => answerLine(line, node),
    command: 'volctl explain',
  }
}

/** Nothing on this node is explained where the line is another's. */
function answerLine(line: LogLine, node: AskedNode | undefined): ReturnType<LineScope<Explained>['answer']> {
  const { name, also, ...said } = whatIsSaid(line)
  if (node === undefined) {
    const sentence = name === undefined ? undefined : sentenceView(name, line, undefined)
    return { answer: { ...defined({ sentence }), ...said, also, names: [] } }
  }
  const names = namesIn(line)
  const { otherNode, elsewhere } = placeOf(line, names, node.state.snapshot)
  const there = elsewhere ? otherNode?.name : undefined
  const resolved = resolveNames(names, askedOn(node, there)).map((each) => withUnchecked(each, name))
  const main = mainOf(resolved, name)
  const volumes = main?.explained?.explanation.volumes ?? []
  const volume = volumes.length === 1 ? volumes[0]?.volume : undefined
  const sentence = name === undefined ? undefined : sentenceView(name, line, node.state, { there, volume })
  return {
    answer: {
      ...defined({ sentence, otherNode, main: main?.view }),
      ...said,
      also,
      names: resolved.map(({ view }) => view),
    },
    ...(elsewhere ? {} : defined({ explained: main?.explained })),
  }
}

export function lineView({ format, time, host, program, severity, source, message, cut }: LogLine): LineView {
  return { format, ...defined({ time, host, program, severity, source }), message, cut }
}

interface WhatIsSaid extends Pick<LineAnswer, 'also' | 'failed' | 'says'> {
  readonly name?: SentenceName
}

/** The cause, what failed around it, and what is left for the reader's own eyes. */
export function whatIsSaid(line: LogLine): WhatIsSaid {
  const [name, ...also] = sentencesIn(line)
  if (name === undefined) return { also }
  const isItself = (isFrame(name) && !isEnvelope(name)) || sentenceOf(name).harmless === true
  const frame = isItself ? undefined : outermost(also)
  const failed = frame === undefined ? undefined : sentenceOf(frame).means
  return { name, also, ...defined({ failed, says: leavesOpen(name) ? lastWords(line) : undefined }) }
}

/** Of what failed around the cause that which says most. */
function outermost(names: readonly SentenceName[]): SentenceName | undefined {
  const failed = names.filter((name) => isFrame(name) && sentenceOf(name).speaker !== true)
  return failed.findLast((name) => !isEnvelope(name)) ?? failed.at(-1)
}

function isEnvelope(name: SentenceName): boolean {
  return sentenceOf(name).envelope === true
}

/** A frame alone, what any program may fail with, or many things of one kind: which one is in words that no table has. */
function leavesOpen(name: SentenceName): boolean {
  return isFrame(name) || isGeneral(name) || sentenceOf(name).open === true
}

/** Of many words the first say of what, and the last why. */
const FIRST_WORDS = 100
const LAST_WORDS = 200
/** Behind what comes before a reason: "desc = ", "Output: ", the " : " behind a name. */
const BEFORE_REASON = /^.*(?: desc = |\bOutput: |["')\]] : )/s

/** Under what keys programs write why. */
const REASONS = ['err', 'error', 'Error', 'reason', 'record', 'stderr']
/** A reason that is itself JSON has its words in there. */
const INNER = /"(?:message|details|stderr)":"((?:[^"\\]|\\.){1,8000})"/

/** The end of the line, as whoever wrote the reason put it. */
function lastWords({ message, values }: LogLine): string | undefined {
  const given = REASONS.flatMap((key) => values.get(key) ?? []).find((each) => each.includes(' ')) ?? message
  const whole = given.startsWith('{') ? flattened(INNER.exec(given)?.[1] ?? given) : given
  const words = whole.replace(BEFORE_REASON, '').replaceAll(/\s+/g, ' ').trim()
  const cut =
    words.length > FIRST_WORDS + LAST_WORDS ? `${words.slice(0, FIRST_WORDS)} … ${words.slice(-LAST_WORDS)}` : words
  return cut === '' ? undefined : cut
}

/**
 * @param line absent: the sentence alone, of the catalogue
 * @param state absent: the texts name the kubelet's usual unit
 * @param there the other node that the line is about
 * @param volume the one thing that it is about, where the node knows it
 */
export function sentenceView(
  name: SentenceName,
  line: LogLine | undefined,
  state: NodeState | undefined,
  { there, volume }: { readonly there?: string | undefined; readonly volume?: KnownVolume | undefined } = {},
): SentenceView {
  const { by = [], means, why, next, volctl, codes = [], rules = [], harmless } = sentenceOf(name)
  const here = (text: string): string =>
    fill(text, line, volume)
      .replaceAll('{unit}', () => (there === undefined ? state?.snapshot.kubelet?.unit : undefined) ?? 'kubelet')
      .replaceAll('{node}', () => there ?? state?.snapshot.nodeName ?? 'NODE')
  return {
    name,
    by: by.map((each) => SPEAKERS[each]),
    means: here(means),
    next: here(next),
    ...defined({ why: why && here(why), volctl: volctl && here(volctl) }),
    codes,
    rules,
    harmless: harmless === true,
  }
}

/** "as it should be" would be read as if the trouble of the line were over. */
function withUnchecked<E>(resolved: Resolved<E>, name: SentenceName | undefined): Resolved<E> {
  const unchecked = name === undefined ? undefined : sentenceOf(name).unchecked
  const { view } = resolved
  if (unchecked === undefined || view.verdict?.state !== 'nothing' || view.kind === 'driver') return resolved
  const says = `nothing is wrong with mounts and attachments, but ${unchecked}: the trouble of the line stands until somebody has seen to it`
  return { ...resolved, view: { ...view, says, unchecked: true } }
}

const FIRST: Readonly<Record<'pod' | 'driver' | 'volume', readonly NameKind[]>> = {
  pod: ['podUid', 'pod'],
  driver: ['driver'],
  volume: [],
}
const WORST: readonly Verdict['state'][] = ['problem', 'blocked', 'waiting', 'operation', 'nothing']

/** Of several alike the one that is worst off. */
export function mainOf<E>(
  resolved: readonly Resolved<E>[],
  sentence: SentenceName | undefined,
): Resolved<E> | undefined {
  const about = sentence === undefined ? undefined : sentenceOf(sentence).about
  const order = [...FIRST[about ?? 'volume'], ...SPECIFIC, 'node']
  const found = resolved.filter(({ explained }) => explained !== undefined)
  const rank = ({ view }: Resolved<E>): number => order.indexOf(view.kind)
  const worst = ({ view }: Resolved<E>): number => WORST.indexOf(view.verdict?.state ?? 'nothing')
  return found.toSorted((a, b) => rank(a) - rank(b) || worst(a) - worst(b))[0]
}
