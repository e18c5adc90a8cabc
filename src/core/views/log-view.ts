/** The distinct troubles of a log on a screen, most frequent first: each with its meaning, what it is on this node, and what to type. */

import { count } from '../lang/count.ts'
import { firstFew } from '../lang/first-few.ts'
import type { LogExplanation, LogTrouble } from '../log-lines/log-explanation.ts'
import { colourOfName, labelOf } from './line-view.ts'
import type { Screen } from './screen.ts'
import { screenLines } from './screen-lines.ts'
import { seconds, sentence as sentenceOf } from './words.ts'
import { type Width, wrapped } from './wrap.ts'

const MOST_TROUBLES = 10
/** Blank lines, how many more there are, what is harmless, and the prompt. */
const ROOM_BELOW = 5

export function renderLog(answer: LogExplanation, screen: Screen): string {
  const { paint, width, rows, wide } = screen
  const texts = answer.troubles.map((trouble) => troubleText(trouble, screen))
  const head = headText(answer, screen)
  const shown = wide
    ? texts
    : fewOf(texts, rows === undefined ? undefined : rows - screenLines(head, width) - ROOM_BELOW, width)
  const hidden = texts.length - shown.length
  const rest =
    hidden === 0 ? '' : `\n${wrapped('', `${count(hidden, 'more trouble')}: -o wide shows all.`, width, paint.dim)}`
  return [head, ...shown, harmlessText(answer, screen), rest].join('')
}

/** As many as fit, but one in any case. */
function fewOf(texts: readonly string[], room: number | undefined, width: Width): readonly string[] {
  if (room === undefined) return texts.slice(0, MOST_TROUBLES)
  let used = 0
  const fitting = texts.findIndex((text) => {
    used += screenLines(text, width)
    return used > room
  })
  return fitting === -1 ? texts : texts.slice(0, Math.max(1, fitting))
}

function headText(
  { lines, troubles, more, unfinished, node, cluster, createdAt }: LogExplanation,
  { paint, width }: Screen,
): string {
  const { total, read, explained } = lines
  const last = read < total ? `, the last ${numberText(read)} of them read` : ''
  const found =
    troubles.length === 0
      ? 'no sentence that volctl knows'
      : `${count(troubles.length, 'trouble')} in ${count(explained, 'line')}, the most frequent first`
  const place = cluster === undefined ? node && `node ${node}` : `cluster ${cluster.server}`
  const where = place === undefined ? '' : `; ${place} as of ${seconds(createdAt ?? '')}`
  return [
    wrapped('', `${numberText(total)} lines${last}: ${found}${where}`, width, paint.bold),
    unfinished ? wrapped('', 'The log did not end in time: this is what came until then.', width, paint.warn) : '',
    more > 0 ? wrapped('', `${count(more, 'line')} of further troubles are not explained.`, width, paint.warn) : '',
  ].join('')
}

/** Nobody has to look for these. */
function harmlessText({ harmless }: LogExplanation, { paint, width }: Screen): string {
  if (harmless.length === 0) return ''
  const all = harmless.reduce((sum, { count: each }) => sum + each, 0)
  const names = firstFew(
    harmless.map(({ name, count: each }) => `${numberText(each)}x ${name}`),
    MOST_HARMLESS,
    'and ',
  )
  const lines = all === 1 ? 'Nothing is wrong in 1 more line' : `Nothing is wrong in ${numberText(all)} more lines`
  return `\n${wrapped('', `${lines}: ${names.join(', ')}`, width, paint.good)}`
}

const MOST_HARMLESS = 4

function numberText(n: number): string {
  return n.toLocaleString('en-US')
}

function troubleText(trouble: LogTrouble, { paint, width, wide }: Screen): string {
  const { sentence, main, names, otherNode, command, line } = trouble
  const colour = trouble.over ? paint.dim : paint.bad
  const first = names.find(({ kind }) => kind === 'pod' || kind === 'podUid') ?? names[0]
  return [
    `\n${wrapped('', `${numberText(trouble.count)}x ${sentence?.name ?? 'not known to volctl'}${timesText(trouble)}${trouble.over ? ', over since' : ''}`, width, colour)}`,
    otherNode === undefined ? '' : wrapped('    ', sentenceOf(otherNode.says), width, paint.warn),
    wrapped('    ', sentence?.means ?? line.message, width),
    main?.verdict === undefined
      ? ''
      : wrapped('    ', `${labelOf(main)}: ${main.says}`, width, colourOfName(main, paint)),
    main === undefined && first !== undefined
      ? wrapped('    ', `${labelOf(first)}: ${first.says}`, width, paint.dim)
      : '',
    wide && sentence !== undefined ? wrapped('    What to do: ', sentence.next, width) : '',
    command === undefined ? '' : wrapped('    ', command, undefined),
  ].join('')
}

function timesText({ firstTime, lastTime, count: times }: LogTrouble): string {
  if (lastTime === undefined) return ''
  return times === 1 || firstTime === undefined ? `, ${lastTime}` : `, ${firstTime} to ${lastTime}`
}
