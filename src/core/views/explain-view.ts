/**
 * The answer of `volctl explain` on a screen. The verdict comes first and what to do near the end, where a terminal shows
 * it; the last line names the rules. `wide` adds all of every volume, every decision, and what the codes mean.
 */
import type { Advice, Explanation, Fact, HoldersView, PodView, ProcessView } from '../explain/explanation.ts'
import { firstFew } from '../lang/first-few.ts'
import type { Problem, Waiting } from '../plan/plan.ts'
import { podAndContainer } from '../plan/pod-name.ts'
import { operationsText, subjectsText } from './explain-operations.ts'
import { placesText } from './explain-places.ts'
import { colourOf, verdictText, volumeBlock, volumesTable } from './explain-volumes.ts'
import type { Palette } from './palette.ts'
import { terminalSafe } from './terminal-safe.ts'
import { podText } from './words.ts'
import { type Width, wrapped } from './wrap.ts'

export function renderExplanation(answer: Explanation, paint: Palette, wide: boolean, width?: Width): string {
  const { subject, node, createdAt, verdict, volumes, places, refused, complete } = answer
  const few = wide || volumes.length === 1
  const said = { verdict, objects: ['PersistentVolumeClaim', 'PersistentVolume'].includes(subject.kind) }
  return [
    wrapped('', `${subject.kind} ${subject.name} on node ${node}, as of ${createdAt}`, width, paint.bold),
    '\n',
    wrapped('Verdict: ', verdictText(verdict), width, colourOf(verdict, paint)),
    refused === undefined ? '' : wrapped('Refused: ', refused.message, width, paint.bad),
    factsText(answer.identity, paint, width),
    places.length === 0 ? '' : `\n${paint.bold('Paths:')}\n${placesText(places, paint, width)}`,
    podsText(answer.pods, paint, width),
    few ? '' : volumesTable(volumes, paint),
    ...(few ? volumes : []).map((volume) => volumeBlock(volume, said, paint, width)),
    operationsText(answer.operations, wide, paint, width),
    notesText('Waiting', answer.waiting.map(waitingNote), paint.warn, paint, width),
    notesText('Problems', answer.problems.map(problemNote), paint.warn, paint, width),
    wide ? decisionsText(answer, paint, width) : '',
    holdersText(answer.holders, paint, width),
    adviceText(answer.advice, wide, paint, width),
    complete
      ? ''
      : `\n${wrapped('', 'Not complete: something that may matter could not be read; see the problems.', width, paint.warn)}`,
    rulesText(answer, wide, paint, width),
  ].join('')
}

/** The rules that were followed, in the order in which the answer comes to them; `wide` has those of the decisions too. */
function rulesText(answer: Explanation, wide: boolean, paint: Palette, width: Width): string {
  const { refused, verdict, pods, volumes, operations, waiting, decisions } = answer
  const parts = [verdict, ...pods, ...volumes.map((volume) => volume.verdict), ...operations, ...waiting]
  const all = [...(refused === undefined ? [] : [refused]), ...parts, ...(wide ? decisions : [])]
  const rules = [...new Set(all.flatMap(({ rule }) => rule ?? []))]
  if (rules.length === 0) return ''
  return `\n${wrapped('Rules: ', `${rules.join(', ')} (to read one: volctl explain ${rules[0]})`, width, paint.dim)}`
}

function factsText(facts: readonly Fact[], paint: Palette, width: Width): string {
  const labels = Math.max(0, ...facts.map(({ label }) => label.length)) + 2
  const lines = facts.map(({ label, value, from }) => wrapped(`  ${label.padEnd(labels)}`, `${value} (${from})`, width))
  return `\n${paint.bold('Identity:')}\n${lines.join('')}`
}

function podsText(pods: readonly PodView[], paint: Palette, width: Width): string {
  if (pods.length === 0) return ''
  const lines = pods.map(({ pod, class: name, why, phase, deletedAt, signsOfLife }) => {
    const details = [
      ...(phase === undefined ? [] : [phase]),
      ...(deletedAt === undefined ? [] : [`deleted at ${deletedAt}`]),
      ...(signsOfLife.length === 0 ? [] : [`signs of life: ${signsOfLife.join(', ')}`]),
    ]
    const uid = pod.name === undefined ? '' : ` (${pod.uid})`
    return [
      wrapped('  ', `${podText(pod)}${uid}`, undefined),
      wrapped('    ', `${name}: ${why}${details.length === 0 ? '' : `; ${details.join('; ')}`}`, width, paint.dim),
    ].join('')
  })
  return `\n${paint.bold(pods.length === 1 ? 'Pod:' : 'Pods:')}\n${lines.join('')}`
}

interface Note {
  readonly code: string
  readonly text: string
}

function waitingNote({ kind, code, message, pod, volume }: Waiting): Note {
  return { code, text: `${kind} ${subjectsText(pod, volume)}: ${message}` }
}

function problemNote({ code, severity, message }: Problem): Note {
  return { code, text: severity === 'info' ? message : `${severity}: ${message}` }
}

function notesText(
  title: string,
  notes: readonly Note[],
  colour: (text: string) => string,
  paint: Palette,
  width: Width,
): string {
  if (notes.length === 0) return ''
  const lines = notes.map(({ code, text }) => `${colour(`  ${terminalSafe(code)}`)}\n${wrapped('    ', text, width)}`)
  return `\n${paint.bold(`${title}:`)}\n${lines.join('')}`
}

function decisionsText({ decisions }: Explanation, paint: Palette, width: Width): string {
  if (decisions.length === 0) return ''
  const lines = decisions.map(
    ({ path, why }) => `${wrapped('  ', path, undefined)}${wrapped('    ', why, width, paint.dim)}`,
  )
  return `\n${paint.bold('Decisions:')}\n${lines.join('')}`
}

function holdersText(
  { known, processes, namespaces, loops, kernel, notes }: HoldersView,
  paint: Palette,
  width: Width,
): string {
  const lines = [
    ...processes.map((process) => processText(process, paint, width)),
    ...namespaces.map(
      (namespace) =>
        `${wrapped('  ', `mount namespace of ${nameOf(namespace)}`, width)}${listText('mounted on', namespace.mountPoints, paint, width)}`,
    ),
    ...loops.map(({ device, backingFile }) => wrapped('  ', `${device}, backed by ${backingFile}`, undefined)),
    ...kernel.map((text) => wrapped('  ', text, width)),
  ]
  const nobody =
    known && lines.length === 0
      ? [wrapped('  ', notes.length === 0 ? 'nobody' : 'nobody, as far as visible', width)]
      : []
  const unseen = notes.map((note) => wrapped('  ', note, width, paint.warn))
  return `\n${paint.bold('Held by:')}\n${[...lines, ...nobody, ...unseen].join('')}`
}

const MOST_PATHS = 4

function processText(process: ProcessView, paint: Palette, width: Width): string {
  const byWhat = Map.groupBy(process.holds, ({ what }) => what)
  const held = [...byWhat].map(([what, own]) => listText(what, [...new Set(own.map(({ path }) => path))], paint, width))
  return `${wrapped('  ', nameOf(process), width)}${held.join('')}`
}

function nameOf({ command, pid, container, pod }: Omit<ProcessView, 'holds'>): string {
  const of = pod === undefined ? '' : `, ${podAndContainer({ pod, container })}`
  return `${command} (pid ${pid})${of}`
}

function listText(what: string, paths: readonly string[], paint: Palette, width: Width): string {
  return firstFew(paths, MOST_PATHS, 'and ')
    .map((path, index) => wrapped(`    ${(index === 0 ? what : '').padEnd(12)}`, path, width, paint.dim))
    .join('')
}

function adviceText(advice: readonly Advice[], wide: boolean, paint: Palette, width: Width): string {
  if (advice.length === 0) return ''
  const lines = advice.map(({ text, code, meaning }) => {
    const about =
      code === undefined
        ? ''
        : wide && meaning !== undefined && meaning !== text
          ? `${code} (${meaning}): `
          : `${code}: `
    return wrapped('  - ', `${about}${text}`, width)
  })
  return `\n${paint.bold('What to do:')}\n${lines.join('')}`
}
