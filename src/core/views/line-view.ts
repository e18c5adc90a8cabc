/**
 * The answer to a log line on a screen: what the sentence means, then what its names are on this node, and the next command last.
 * On a terminal the normal form fits the screen: what gives way first stands in GIVES_WAY. `-o wide` shows all, and the whole
 * explanation of the thing that the line is about.
 */
import type { Verdict } from '../explain/explanation.ts'
import { isPlainWord } from '../lang/plain-word.ts'
import type { LineAnswer, LineExplanation, NameView, SentenceView } from '../log-lines/line-explanation.ts'
import type { NameKind } from '../log-lines/line-name.ts'
import { renderExplanation } from './explain-view.ts'
import type { Palette } from './palette.ts'
import type { Screen } from './screen.ts'
import { terminalSafe } from './terminal-safe.ts'
import { type Width, wrapped } from './wrap.ts'

/** From what goes first to what goes last; what is not here stays. */
const GIVES_WAY = ['rules', 'also', 'volctl', 'names', 'why', 'advice'] as const

interface Part {
  readonly what: (typeof GIVES_WAY)[number] | 'stays'
  readonly text: string
}

export function renderLine(answer: LineExplanation, screen: Screen): string {
  const { rows, wide } = screen
  const { explanation } = answer
  const parts = partsOf(answer, screen)
  const text = wide || rows === undefined ? textOf(parts) : fitting(parts, rows - 1)
  if (!wide || explanation === undefined) return text
  return `${text}\n${renderExplanation(explanation, screen)}`
}

function textOf(parts: readonly Part[]): string {
  return parts.map(({ text }) => text).join('')
}

const MORE = 'Left out for lack of room; -o wide shows all.\n'

/** Without the parts that give way first, until it fits. */
function fitting(parts: readonly Part[], rows: number): string {
  if (lineCount(textOf(parts)) <= rows) return textOf(parts)
  let left = parts
  for (const gone of GIVES_WAY) {
    left = left.filter(({ what }) => what !== gone)
    if (lineCount(textOf(left)) < rows) break
  }
  return `${textOf(left)}${MORE}`
}

function lineCount(text: string): number {
  return text.split('\n').length - 1
}

function partsOf(answer: LineExplanation, { paint, width, wide }: Screen): Part[] {
  const { sentence, node } = answer
  const said = sentence === undefined ? unknownParts(answer, paint, width) : sentenceParts(sentence, paint, width)
  return [
    ...said,
    ...(node === undefined ? [] : nodeParts(answer, node, { paint, width, wide })),
    ...lastParts(answer, paint, width),
  ]
}

function unknownParts({ line }: LineExplanation, paint: Palette, width: Width): Part[] {
  return [
    { what: 'stays', text: wrapped('', 'volctl does not know this sentence. What it names:', width, paint.bold) },
    { what: 'volctl', text: wrapped('  ', line.message, width, paint.dim) },
  ]
}

const INDENT = 'What to do:  '.length

function sentenceParts(
  { name, by, means, why, next, volctl, harmless }: SentenceView,
  paint: Palette,
  width: Width,
): Part[] {
  const labelled = (label: string, text: string): string => wrapped(`${label}:`.padEnd(INDENT), text, width)
  const colour = harmless ? paint.good : paint.bad
  return [
    {
      what: 'stays',
      text: wrapped(
        '',
        `${name}, said by ${by.join(' or ')}${harmless ? ': no trouble by itself' : ''}`,
        width,
        colour,
      ),
    },
    { what: 'stays', text: `\n${labelled('Means', means)}` },
    { what: 'why', text: labelled('Why', why) },
    { what: 'stays', text: labelled('What to do', next) },
    { what: 'volctl', text: labelled('volctl', volctl) },
  ]
}

const MOST_NAMES = 4
const MOST_ADVICE = 2

function nodeParts(
  answer: LineExplanation,
  node: string,
  { paint, width, wide }: Omit<Screen, 'symbols' | 'rows'>,
): Part[] {
  const { names, main, explanation, otherNode, createdAt } = answer
  const others = names.filter(({ kind, name }) => kind !== main?.kind || name !== main.name)
  const few = wide ? others : others.slice(0, MOST_NAMES)
  const hidden = others.length - few.length
  const advice = (explanation?.advice ?? []).slice(0, MOST_ADVICE)
  return [
    { what: 'stays', text: `\n${wrapped('', `On node ${node}, as of ${createdAt}:`, width, paint.bold)}` },
    ...(otherNode === undefined
      ? []
      : [{ what: 'stays', text: wrapped('  ! ', sentence(otherNode.says), width, paint.warn) } as const]),
    ...(main === undefined ? [] : [{ what: 'stays', text: mainText(main, paint, width) } as const]),
    ...(main === undefined && names.length === 0
      ? [{ what: 'stays', text: wrapped('  ', 'The line names nothing.', width) } as const]
      : []),
    ...few.map(
      (name) => ({ what: main === undefined ? 'stays' : 'names', text: nameText(name, wide, paint, width) }) as const,
    ),
    ...(hidden === 0
      ? []
      : [{ what: 'names', text: wrapped('  ', `and ${hidden} more names (-o wide)`, width, paint.dim) } as const]),
    ...advice.map(({ text }) => ({ what: 'advice', text: wrapped('  - ', text, width) }) as const),
  ]
}

function sentence(text: string): string {
  return `${text.replace(/^./, (first) => first.toUpperCase())}.`
}

function mainText(main: NameView, paint: Palette, width: Width): string {
  const { verdict, says } = main
  const code = verdict?.code === undefined ? '' : `${verdict.code}: `
  return [
    wrapped('  ', labelOf(main), undefined, paint.bold),
    wrapped('    ', `${code}${says}`, width, verdict === undefined ? undefined : colourOf(verdict, paint)),
  ].join('')
}

/** In the normal form only the state of what the line names besides; `-o wide` and JSON have the whole verdict. */
function nameText(name: NameView, wide: boolean, paint: Palette, width: Width): string {
  const { verdict, says } = name
  const short =
    wide || verdict === undefined
      ? says
      : `${STATES[verdict.state]}${verdict.code === undefined ? '' : ` (${verdict.code})`}`
  return wrapped('  ', `${labelOf(name)}: ${short}`, width, verdict === undefined ? paint.dim : undefined)
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

export function colourOf({ state }: Verdict, paint: Palette): (text: string) => string {
  return state === 'nothing'
    ? paint.good
    : state === 'operation'
      ? paint.bold
      : state === 'waiting'
        ? paint.warn
        : paint.bad
}

function lastParts({ also, sentence, main }: LineAnswer, paint: Palette, width: Width): Part[] {
  const rules = sentence?.rules ?? []
  const codes = [...(sentence?.codes ?? []), ...rules].join(', ')
  return [
    {
      what: 'also',
      text: also.length === 0 ? '' : wrapped('', `The line also says: ${also.join(', ')}`, width, paint.dim),
    },
    { what: 'rules', text: codes === '' ? '' : wrapped('', `See also: volctl explain ${codes}`, width, paint.dim) },
    { what: 'stays', text: moreText(main) },
  ]
}

function moreText(main: NameView | undefined): string {
  if (main?.ask === undefined || !isPlainWord(main.ask)) return ''
  return `\nMore: volctl explain ${terminalSafe(main.ask)}\n`
}
