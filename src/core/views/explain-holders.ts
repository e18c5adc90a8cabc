/** Who keeps it busy, as `volctl explain` shows it. */
import type { HoldersView, ProcessView } from '../explain/explanation.ts'
import { firstFew } from '../lang/first-few.ts'
import { podAndContainer } from '../plan/pod-name.ts'
import type { Screen } from './screen.ts'
import { wrapped } from './wrap.ts'

/** In a line or two: the first few, by name. */
export function holdersLine(holders: HoldersView, { paint, width }: Screen): string {
  const { processes, namespaces, loops, kernel, notes } = holders
  const names = [
    ...processes.map(nameOf),
    ...namespaces.map((each) => `mount namespace of ${nameOf(each)}`),
    ...loops.map(({ device, backingFile }) => `${device}, backed by ${backingFile}`),
    ...kernel,
  ]
  const found = names.length > 0 ? [firstFew(names, MOST_NAMED, 'and ').join('; ')] : nobody(holders)
  return wrapped(`${paint.bold('Held by:')} `, [...found, ...notes].join('; '), width)
}

const MOST_NAMED = 4

function nobody({ known, notes }: HoldersView): string[] {
  if (!known) return []
  return [notes.length === 0 ? 'nobody' : 'nobody, as far as visible']
}

/** Is there more than the line has. */
export function hasHolders({ processes, namespaces, loops, kernel }: HoldersView): boolean {
  return processes.length + namespaces.length + loops.length + kernel.length > 0
}

export function holdersText(holders: HoldersView, screen: Screen): string {
  const { processes, namespaces, loops, kernel, notes } = holders
  const { paint, width } = screen
  const lines = [
    ...processes.map((process) => processText(process, screen)),
    ...namespaces.map(
      (namespace) =>
        `${wrapped('  ', `mount namespace of ${nameOf(namespace)}`, width)}${listText('mounted on', namespace.mountPoints, screen)}`,
    ),
    ...loops.map(({ device, backingFile }) => wrapped('  ', `${device}, backed by ${backingFile}`, undefined)),
    ...kernel.map((text) => wrapped('  ', text, width)),
    ...(hasHolders(holders) ? [] : nobody(holders).map((text) => wrapped('  ', text, width))),
    ...notes.map((note) => wrapped('  ', note, width, paint.warn)),
  ]
  return `\n${paint.bold('Held by:')}\n${lines.join('')}`
}

const MOST_PATHS = 4

function processText(process: ProcessView, screen: Screen): string {
  const byWhat = Map.groupBy(process.holds, ({ what }) => what)
  const held = [...byWhat].map(([what, own]) => listText(what, [...new Set(own.map(({ path }) => path))], screen))
  return `${wrapped('  ', nameOf(process), screen.width)}${held.join('')}`
}

function nameOf({ command, pid, container, pod }: Omit<ProcessView, 'holds'>): string {
  const of = pod === undefined ? '' : `, ${podAndContainer({ pod, container })}`
  return `${command} (pid ${pid})${of}`
}

function listText(what: string, paths: readonly string[], { paint, width }: Screen): string {
  return firstFew(paths, MOST_PATHS, 'and ')
    .map((path, index) => wrapped(`    ${(index === 0 ? what : '').padEnd(12)}`, path, width, paint.dim))
    .join('')
}
