/** Operations with their steps, as `volctl explain` shows them. */
import { posix } from 'node:path'
import { isWithin } from '../files/path-within.ts'
import type { Operation, PodRef, Step, VolumeRef } from '../plan/plan.ts'
import type { Palette } from './palette.ts'
import type { Screen } from './screen.ts'
import { deletesText, numberRanges, podText, volumeText } from './words.ts'
import { wrapped } from './wrap.ts'

/** One line each, the first few. */
export function operationTitles(operations: readonly Operation[], { paint, width }: Screen): string {
  if (operations.length === 0) return ''
  const titles = operations.map(({ kind, pod, volume, blocked }, index) => {
    const state = blocked === undefined ? '' : `: blocked, ${blocked.code}`
    return wrapped(`  ${`${index + 1}`.padEnd(3)}`, `${kind} ${subjectsText(pod, volume)}${state}`, width)
  })
  const more = titles.length - MOST_TITLES
  const lines = more > 0 ? [...titles.slice(0, MOST_TITLES), wrapped('  ', `and ${more} more`, width)] : titles
  return `\n${paint.bold('volctl would:')}\n${lines.join('')}`
}

const MOST_TITLES = 6

/** Wide: every path in full. */
export function operationsText(operations: readonly Operation[], { wide, paint, width }: Screen): string {
  if (operations.length === 0) return ''
  const numbers = new Map(operations.map(({ id }, index) => [id, index + 1]))
  const lines = operations.map((operation, index) => {
    const { kind, pod, volume, reason, blocked, after, steps, deletes, kubeletWould } = operation
    const number = `  ${`${index + 1}`.padEnd(3)}`
    const indent = ' '.repeat(number.length)
    const first = numberRanges(after.flatMap((id) => numbers.get(id) ?? []).toSorted((a, b) => a - b))
    const title = `${kind} ${subjectsText(pod, volume)}${first === '' ? '' : `, after ${first}`}`
    const lost = deletesText(deletes)
    return [
      wrapped(number, title, width, blocked === undefined ? paint.bold : paint.warn),
      blocked === undefined ? '' : wrapped(indent, `blocked, ${blocked.code}: ${blocked.message}`, width, paint.warn),
      wrapped(indent, `${reason}: ${messageOf(operation, wide ? undefined : operations[index - 1])}`, width),
      lost === '' ? '' : wrapped(indent, `deletes ${lost}`, width, paint.warn),
      kubeletWould === undefined ? '' : wrapped(indent, `the kubelet would ${kubeletWould}`, width, paint.dim),
      stepsText(steps, wide, indent, paint),
    ].join('')
  })
  return `\n${paint.bold('volctl would:')}\n${lines.join('')}`
}

/** `pod shop/web-0, volume data`; nothing for what is about neither. */
export function subjectsText(pod: PodRef | undefined, volume: VolumeRef | undefined): string {
  return [
    ...(pod === undefined ? [] : [`pod ${podText(pod)}`]),
    ...(volume === undefined ? [] : [`volume ${volumeText(volume)}`]),
  ].join(', ')
}

/** What several operations of a pod have in common is said in the first of them. */
function messageOf({ message, podMessage, ownMessage }: Operation, previous: Operation | undefined): string {
  const isSaid = podMessage !== undefined && previous?.podMessage === podMessage
  return (isSaid ? ownMessage : undefined) ?? message
}

function stepsText(steps: readonly Step[], wide: boolean, indent: string, paint: Palette): string {
  const base = wide || steps.length < 2 ? undefined : commonDirectory(steps.map(({ target }) => target))
  const lines = steps.map(({ op, target, detail }) => {
    const path = base === undefined ? target : posix.relative(base, target) || '.'
    return wrapped(`${indent}- `, `${op} ${path}${detail === undefined ? '' : ` (${detail})`}`, undefined, paint.dim)
  })
  return `${base === undefined ? '' : wrapped(indent, `in ${base}:`, undefined, paint.dim)}${lines.join('')}`
}

/** Undefined: they have none worth naming. */
function commonDirectory([first = '', ...others]: readonly string[]): string | undefined {
  if (!first.startsWith('/')) return undefined
  let directory = first
  while (directory !== '/' && !others.every((path) => isWithin(path, directory))) directory = posix.dirname(directory)
  return directory.split('/').length > 3 ? directory : undefined
}
