/**
 * The answer to a log line on a screen: what the sentence means, then what its names are on this node, and the next command last.
 * On a terminal the normal form fits the screen: what gives way first stands in GIVES_WAY. `-o wide` shows all, and the whole
 * explanation of the thing that the line is about.
 */
import type { HoldersView, ProcessView, Verdict } from '../explain/explanation.ts'
import { firstFew } from '../lang/first-few.ts'
import { isPlainWord } from '../lang/plain-word.ts'
import type { LineAnswer, LineExplanation, NameView, SentenceView } from '../log-lines/line-explanation.ts'
import type { NameKind } from '../log-lines/line-name.ts'
import { podAndContainer } from '../plan/pod-name.ts'
import { renderExplanation, stepsOf } from './explain-view.ts'
import type { Palette } from './palette.ts'
import type { Screen } from './screen.ts'
import { screenLines } from './screen-lines.ts'
import { terminalSafe } from './terminal-safe.ts'
import { seconds, sentence } from './words.ts'
import { type Width, wrapped } from './wrap.ts'

/** From what goes first to what goes last; what is not here stays. */
const GIVES_WAY = ['rules', 'volctl', 'names', 'why', 'advice', 'next step'] as const

interface Part {
  readonly what: (typeof GIVES_WAY)[number] | 'stays'
  readonly text: string
}

/** @param text '' where there is nothing to say */
function part(what: Part['what'], text: string): Part {
  return { what, text }
}

/** With `-o wide` also the whole explanation of the thing that the line is about. */
export function renderLine(answer: LineExplanation, screen: Screen): string {
  const { width, rows, wide } = screen
  const { explanation } = answer
  const parts = partsOf(answer, screen)
  if (!wide) return rows === undefined ? textOf(parts) : fitting(parts, rows - 1, width)
  return `${textOf(parts)}${explanation === undefined ? '' : `\n${renderExplanation(explanation, screen)}`}`
}

function textOf(parts: readonly Part[]): string {
  return parts.map(({ text }) => text).join('')
}

const LEFT_OUT = 'Left out for lack of room; -o wide shows all.\n'

/** All that stays, then as much of the rest as there is room for, what gives way last first. The last part stays. */
function fitting(parts: readonly Part[], rows: number, width: Width): string {
  if (screenLines(textOf(parts), width) <= rows) return textOf(parts)
  const end = `${LEFT_OUT}${textOf(parts.slice(-1))}`
  const all = parts.slice(0, -1)
  const shown = new Set(all.filter(({ what }) => what === 'stays'))
  let room = rows - screenLines(`${textOf([...shown])}${end}`, width)
  for (const last of GIVES_WAY.toReversed()) {
    for (const part of all.filter(({ what }) => what === last)) {
      const lines = screenLines(part.text, width)
      if (lines > room) continue
      room -= lines
      shown.add(part)
    }
  }
  return `${textOf(all.filter((part) => shown.has(part)))}${end}`
}

function partsOf(answer: LineExplanation, screen: Screen): Part[] {
  const { sentence } = answer
  const place = placeText(answer)
  const said = sentence === undefined ? unknownParts(answer, screen) : sentenceParts(sentence, screen, answer)
  const here = place === undefined ? [] : placeParts(answer, place, screen)
  // What is so here says more than what such a line means in general; where nothing was found, the meaning is the answer.
  const parts =
    answer.main === undefined || sentence === undefined ? [...said, ...below(here)] : [...here, ...below(said)]
  return [...otherNodePart(answer, screen), ...parts, ...lastParts(answer, screen)]
}

/** Behind a blank line. */
function below([first, ...rest]: readonly Part[]): Part[] {
  return first === undefined ? [] : [{ ...first, text: `\n${first.text}` }, ...rest]
}

/** Where it was looked; undefined: it could not be looked at. */
function placeText(answer: LineExplanation): string | undefined {
  const { createdAt = '' } = answer
  if ('scope' in answer) return answer.cluster && `In cluster ${answer.cluster.server}, as of ${seconds(createdAt)}:`
  return answer.node === undefined ? undefined : `On node ${answer.node}, as of ${seconds(createdAt)}:`
}

/** Before everything: what follows is not of this node. */
function otherNodePart({ otherNode }: LineAnswer, { paint, width }: Screen): Part[] {
  if (otherNode === undefined) return []
  return [part('stays', `${wrapped('', sentence(otherNode.says), width, paint.warn)}\n`)]
}

function unknownParts({ line }: LineExplanation, { paint, width }: Screen): Part[] {
  return [
    part('stays', wrapped('', 'volctl does not know this sentence. What it names:', width, paint.bold)),
    part('volctl', wrapped('  ', line.message, width, paint.dim)),
  ]
}

/** "a, b or c" */
function orText(texts: readonly string[]): string {
  return texts.length < 2 ? texts.join('') : `${texts.slice(0, -1).join(', ')} or ${texts.at(-1)}`
}

/** A sentence by its name. */
export function renderSentence(view: SentenceView, screen: Screen): string {
  return textOf([...sentenceParts(view, screen), ...lastParts({ sentence: view }, screen)])
}

const INDENT = 'What failed: '.length

function sentenceParts(
  { name, by, means, why, next, volctl, harmless }: SentenceView,
  { paint, width }: Screen,
  { failed, says }: Pick<LineAnswer, 'failed' | 'says'> = {},
): Part[] {
  const labelled = (label: string, text: string | undefined): string =>
    text === undefined ? '' : wrapped(`${label}:`.padEnd(INDENT), text, width)
  const said = by.length === 0 ? '' : `, said by ${orText(by)}`
  const title = `${name}${said}${harmless ? ': nothing is wrong in this line' : ''}`
  return [
    part('stays', wrapped('', title, width, harmless ? paint.good : paint.bad)),
    ...below([
      ...(failed === undefined ? [] : [part('why', labelled('What failed', failed))]),
      part('stays', labelled('Means', means)),
    ]),
    part('stays', labelled('It says', says && `"${says}"`)),
    part('why', labelled('Why', why)),
    part('stays', labelled('What to do', next)),
    part('volctl', labelled('volctl', volctl)),
  ]
}

const MOST_NAMES = 4
const MOST_STEPS = 2

/** What the names are here: the thing that the line is about first, with what holds it open, then the others, then what to do. */
function placeParts(answer: LineExplanation, place: string, screen: Screen): Part[] {
  const { main, explanation } = answer
  const { paint, width } = screen
  const steps = explanation === undefined ? [] : stepsOf(explanation).slice(0, MOST_STEPS)
  const holders = explanation !== undefined && 'holders' in explanation ? explanation.holders : undefined
  const parts = [
    part('stays', wrapped('', place, width, paint.bold)),
    part('stays', main === undefined ? '' : mainText(main, screen)),
    part('stays', holders === undefined ? '' : holdersText(holders, width)),
    ...otherNames(answer, screen),
    ...steps.map((text, index) => part(index > 0 ? 'advice' : 'next step', wrapped('  - ', text, width))),
  ]
  return parts.filter(({ text }) => text !== '')
}

/** Without a main one they are the answer. */
function otherNames({ names, main }: LineExplanation, screen: Screen): Part[] {
  const { paint, width, wide } = screen
  if (names.length === 0) return [part('stays', wrapped('  ', 'No pod, volume, path or driver in this line.', width))]
  const others = names.filter(({ kind, name }) => kind !== main?.kind || name !== main.name)
  const few = wide ? others : others.slice(0, MOST_NAMES)
  const more = others.length - few.length
  return [
    ...few.map((name) => part(main === undefined ? 'stays' : 'names', nameText(name, screen))),
    part('names', more === 0 ? '' : wrapped('  ', `and ${more} more names (-o wide)`, width, paint.dim)),
  ]
}

const MOST_HOLDERS = 3

/** In one sentence; the whole explanation has how, and on which paths. */
function holdersText({ processes, namespaces, loops, kernel }: HoldersView, width: Width): string {
  const all = [
    ...processes.map((process) => `${process.command} (pid ${process.pid})${ofContainer(process)}`),
    ...namespaces.map((each) => `the mount namespace of ${each.command} (pid ${each.pid})${ofContainer(each)}`),
    ...loops.map(({ device }) => device),
    ...kernel,
  ]
  return all.length === 0
    ? ''
    : wrapped('    ', `Held open by ${firstFew(all, MOST_HOLDERS, 'and ').join(', ')}.`, width)
}

function ofContainer({ pod, container }: Pick<ProcessView, 'pod' | 'container'>): string {
  return pod === undefined ? '' : ` of ${podAndContainer({ pod, container })}`
}

function mainText(main: NameView, { paint, width }: Screen): string {
  const { verdict, says } = main
  const code = verdict?.code === undefined ? '' : `${verdict.code}: `
  return [
    wrapped('  ', labelOf(main), undefined, paint.bold),
    wrapped('    ', `${code}${says}`, width, colourOfName(main, paint)),
  ].join('')
}

/** In the normal form only the state of what the line names besides; `-o wide` and JSON have the whole verdict. */
function nameText(name: NameView, { paint, width, wide }: Screen): string {
  const { verdict } = name
  const text = `${labelOf(name)}: ${wide ? name.says : shortly(name)}`
  return wrapped('  ', text, width, verdict === undefined ? paint.dim : undefined)
}

/** Of a driver only whether it works: what becomes of its volumes is said of these. */
function shortly({ kind, verdict, says, unchecked }: NameView): string {
  if (verdict === undefined) return says
  if (unchecked) return 'nothing that volctl would do'
  if (kind === 'driver' && verdict.state === 'nothing') return says
  if (kind === 'driver' && verdict.state !== 'problem') return 'answers and is registered'
  return `${STATES[verdict.state]}${verdict.code === undefined ? '' : ` (${verdict.code})`}`
}

const STATES: Readonly<Record<Verdict['state'], string>> = {
  operation: 'something to do',
  blocked: 'blocked',
  waiting: 'waits',
  problem: 'a problem',
  nothing: 'nothing to do',
}

const KINDS: Readonly<Record<NameKind, string>> = {
  podVolume: 'volume',
  volume: 'volume',
  attachment: 'VolumeAttachment',
  path: 'path',
  device: 'device',
  persistentVolume: 'PersistentVolume',
  claim: 'claim',
  podUid: 'pod',
  pod: 'pod',
  driver: 'driver',
  node: 'node',
  configMap: 'config map',
  secret: 'secret',
}

export function labelOf({ kind, name, subject }: NameView): string {
  const other =
    subject === undefined || subject.name === name || name.startsWith('/') ? '' : ` (${subject.kind} ${subject.name})`
  return `${KINDS[kind]} ${name}${other}`
}

/** Nothing that is green stands below an error. */
export function colourOfName({ verdict, unchecked }: NameView, paint: Palette): ((text: string) => string) | undefined {
  if (unchecked) return paint.warn
  return verdict === undefined ? undefined : colourOf(verdict, paint)
}

function colourOf({ state }: Verdict, paint: Palette): (text: string) => string {
  return state === 'nothing'
    ? paint.good
    : state === 'operation'
      ? paint.bold
      : state === 'waiting'
        ? paint.warn
        : paint.bad
}

function lastParts(
  { sentence, main, explanation }: Pick<LineExplanation, 'sentence' | 'main' | 'explanation'>,
  { paint, width }: Screen,
): Part[] {
  const codes = [...(sentence?.codes ?? []), ...(sentence?.rules ?? [])].join(', ')
  return [
    part('rules', codes === '' ? '' : wrapped('', `See also: ${codes} (volctl explain CODE)`, width, paint.dim)),
    part('stays', explanation === undefined ? '' : moreText(main, 'scope' in explanation ? ' --cluster' : '')),
  ]
}

function moreText(main: NameView | undefined, flags: string): string {
  if (main?.ask === undefined || !isPlainWord(main.ask)) return ''
  return `\nMore: volctl explain${flags} ${terminalSafe(main.ask)}\n`
}
