/**
 * The answer to a log line on a screen: what its names are on this node, and what to type; then what the sentence means. On a
 * terminal the normal form fits the screen, without the names beside the one that the line is about where it is short; `-o wide` shows
 * all, and the whole explanation of that thing.
 */

import { volctl } from '../base/command.ts'
import type { Verdict } from '../explain/explanation.ts'
import type { LineExplanation, NameView, SentenceView } from '../explain/log-lines/line-explanation.ts'
import type { NameKind } from '../explain/log-lines/take-names.ts'
import { holdersLine, renderExplanation, stepsOf } from './explain-view.ts'
import { colourOf } from './explain-volumes.ts'
import { seconds, sentence } from './format.ts'
import { type Screen, screenLines } from './screen.ts'
import { wrapped } from './wrap.ts'

/** With `-o wide` also the whole explanation of the thing that the line is about. */
export function renderLine(answer: LineExplanation, screen: Screen): string {
  const { explanation } = answer
  const text = lineText(answer, screen)
  if (screen.wide) return `${text}${explanation === undefined ? '' : `\n${renderExplanation(explanation, screen)}`}`
  const fits = screen.rows === undefined || screenLines(text, screen.width) < screen.rows
  return fits ? text : lineText({ ...answer, names: answer.main === undefined ? answer.names : [answer.main] }, screen)
}

function lineText(answer: LineExplanation, screen: Screen): string {
  const { otherNode, sentence: said, main, node, line } = answer
  const { paint, width } = screen
  const other = otherNode === undefined ? '' : `${wrapped('', sentence(otherNode.says), width, paint.warn)}\n`
  const here = node === undefined || otherNode ? '' : hereText(answer, screen)
  const meant =
    said === undefined
      ? `${wrapped('', 'volctl does not know this sentence:', width, paint.bold)}${wrapped('  ', line.message, width, paint.dim)}`
      : sentenceText(said, screen)
  const more =
    main?.ask !== undefined && answer.explanation !== undefined ? `\nMore: ${volctl('explain', main.ask)}\n` : ''
  return `${other}${here}${here === '' ? '' : '\n'}${meant}${more}`
}

const INDENT = 'What to do: '.length

function sentenceText(said: SentenceView, { paint, width }: Screen): string {
  const { by, means, cause, answered, next, harmless } = said
  const labelled = (label: string, text: string | undefined): string =>
    text === undefined ? '' : wrapped(`${label}:`.padEnd(INDENT), text, width)
  return [
    wrapped(
      '',
      harmless ? 'Nothing is wrong in this line:' : `Said by ${by}:`,
      width,
      harmless ? paint.good : paint.bad,
    ),
    labelled('Means', means),
    labelled('Cause', cause),
    labelled('Driver', answered),
    labelled('What to do', next),
  ].join('')
}

const MOST_NAMES = 4
const MOST_STEPS = 2

/** What the names are here: the thing that the line is about first, with what is left of it and holds it open, then the others. */
function hereText(answer: LineExplanation, screen: Screen): string {
  const { main, left = [], explanation, names, node, createdAt = '' } = answer
  const { paint, width, wide } = screen
  const steps = explanation === undefined ? [] : stepsOf(explanation).slice(0, MOST_STEPS)
  const others = names.filter(({ kind, name }) => kind !== main?.kind || name !== main.name)
  const shown = main === undefined || wide ? others : others.slice(0, MOST_NAMES)
  const more = others.length - shown.length
  return [
    wrapped('', `On node ${node}, as of ${seconds(createdAt)}:`, width, paint.bold),
    main === undefined ? '' : mainText(main, left, screen),
    explanation === undefined ? '' : holdersLine(explanation.holders, screen, '    '),
    names.length === 0 ? wrapped('  ', 'No pod, volume, path or driver in this line.', width) : '',
    ...shown.map((name) => nameText(name, screen)),
    more === 0 ? '' : wrapped('  ', `and ${more} more names (-o wide)`, width, paint.dim),
    ...steps.map((text) => wrapped('  - ', text, width)),
  ].join('')
}

function mainText(main: NameView, left: readonly string[], { paint, width }: Screen): string {
  const { verdict, says } = main
  const code = verdict?.code === undefined ? '' : `${verdict.code}: `
  return [
    wrapped('  ', labelOf(main), undefined, paint.bold),
    ...left.map((each) => wrapped('    ', each, width)),
    wrapped('    ', `${code}${says}`, width, verdict && colourOf(verdict, paint)),
  ].join('')
}

/** In the normal form only the state of what the line names besides; `-o wide` and JSON have the whole verdict. */
function nameText(name: NameView, { paint, width, wide }: Screen): string {
  const { verdict } = name
  const text = `${labelOf(name)}: ${wide ? name.says : shortly(name)}`
  return wrapped('  ', text, width, verdict === undefined ? paint.dim : undefined)
}

/** Of a driver only whether it works: what becomes of its volumes is said of these. */
function shortly({ kind, verdict, says }: NameView): string {
  if (verdict === undefined || (kind === 'driver' && verdict.state === 'nothing')) return says
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

const KINDS: Readonly<Partial<Record<NameKind, string>>> = {
  podVolume: 'volume',
  attachment: 'VolumeAttachment',
  persistentVolume: 'PersistentVolume',
  podUid: 'pod',
}

function labelOf({ kind, name, subject }: NameView): string {
  const other =
    subject === undefined || subject.name === name || name.startsWith('/') ? '' : ` (${subject.kind} ${subject.name})`
  return `${KINDS[kind] ?? kind} ${name}${other}`
}
