/**
 * The answer to a log line on a screen: what its names are on this node, then what the sentence means, and what to type. On a
 * terminal the normal form fits the screen, without the names beside the one that the line is about where it is short; `-o wide` shows
 * all, and the whole explanation of that thing.
 */

import { inSeconds, present } from '../base/text.ts'
import type { LineExplanation, NameView } from '../explain/log-lines/explain-line.ts'
import type { SentenceView } from '../explain/log-lines/sentences.ts'
import type { NameKind } from '../explain/log-lines/take-names.ts'
import { advice, type Hint, volctl } from '../messages/command.ts'
import { nextText } from './answer-view.ts'
import { verdictCell } from './explain-parts.ts'
import { headerText, holdersText, renderExplanation } from './explain-view.ts'
import { type Screen, screenLines, sentence, wrapped } from './screen.ts'

export function renderLine(answer: LineExplanation, screen: Screen): string {
  const text = lineText(answer, screen)
  const fits = screen.wide || screen.rows === undefined || screenLines(text, screen.width) < screen.rows
  return fits || answer.main === undefined ? text : lineText({ ...answer, names: [answer.main] }, screen)
}

function lineText(answer: LineExplanation, screen: Screen): string {
  const { otherNode, sentence: said, main, node, line, explanation } = answer
  const { paint, width } = screen
  return present(
    otherNode && wrapped('', sentence(otherNode.says), width, paint.warn),
    node !== undefined && otherNode === undefined && hereText(answer, screen),
    said === undefined
      ? `${wrapped('', 'volctl does not know this sentence:', width, paint.bold)}${wrapped('  ', line.message, width, paint.dim)}`
      : sentenceText(said, screen),
    main?.ask !== undefined &&
      `More: ${volctl('explain', main.ask)}\n${nextText(explanation?.summary.next ?? [], screen)}`,
  ).join('\n')
}

const INDENT = 'What to do: '.length

function sentenceText(said: SentenceView, { paint, width }: Screen): string {
  const { by, means, cause, answered, next, harmless } = said
  const labelled = (label: string, text: Hint | undefined): string =>
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

/** The thing that the line is about, as explain has it, then what else the line names. */
function hereText({ main, explanation, names, node, createdAt = '' }: LineExplanation, screen: Screen): string {
  const { paint, width, wide } = screen
  const others = names.filter(({ kind, name }) => kind !== main?.kind || name !== main.name)
  const shown = main === undefined || wide ? others : others.slice(0, MOST_NAMES)
  const more = others.length - shown.length
  const about =
    explanation === undefined
      ? wrapped('', `On node ${node}, as of ${inSeconds(createdAt)}:`, width, paint.bold)
      : wide
        ? renderExplanation(explanation, screen)
        : `${headerText(explanation, screen)}${holdersText(explanation.holders, screen, '  ')}`
  return present(
    about,
    names.length === 0 && wrapped('  ', 'No pod, volume, path or driver in this line.', width),
    ...shown.map((name) => nameText(name, screen)),
    more > 0 && wrapped('  ', `and ${more} more names (-o wide)`, width, paint.dim),
  ).join('')
}

/** In the normal form only the state of what the line names besides; `-o wide` and JSON have the whole verdict. */
function nameText(name: NameView, { paint, width, wide }: Screen): string {
  const { verdict } = name
  const isShort = !wide && verdict !== undefined && verdict.state !== 'nothing'
  const text = advice`${labelOf(name)}: ${isShort ? verdictCell(verdict) : name.says}`
  return wrapped('  ', text, width, verdict === undefined ? paint.dim : undefined)
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
