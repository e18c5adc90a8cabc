/** Parts of an explanation on a screen: what it is, the pods, a driver, who holds it, the planner's own words. */
import type { DriverView, Explanation, Fact, HoldersView, PodView, ProcessView } from '../explain/explanation.ts'
import { firstFew } from '../lang/first-few.ts'
import { podAndContainer } from '../plan/pod-name.ts'
import { shortName } from './explain-chain.ts'
import type { Screen } from './screen.ts'
import { podText } from './words.ts'
import { wrapped } from './wrap.ts'

/** Nothing without lines. */
function block(title: string, lines: readonly string[], { paint }: Screen): string {
  return lines.length === 0 ? '' : `\n${paint.bold(title)}\n${lines.join('')}`
}

export function factsText(facts: readonly Fact[], screen: Screen): string {
  const labels = Math.max(0, ...facts.map(({ label }) => label.length)) + 2
  const lines = facts.map(({ label, value, from }) =>
    wrapped(`  ${label.padEnd(labels)}`, `${value} (${from})`, screen.width),
  )
  return block('Identity:', lines, screen)
}

export function podsText(pods: readonly PodView[], screen: Screen): string {
  const { paint, width } = screen
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
  return block(pods.length === 1 ? 'Pod:' : 'Pods:', lines, screen)
}

export function decisionsText({ decisions }: Explanation, screen: Screen): string {
  const { paint, width } = screen
  const lines = decisions.map(
    ({ path, why }) => `${wrapped('  ', path, undefined)}${wrapped('    ', why, width, paint.dim)}`,
  )
  return block('Decisions:', lines, screen)
}

const MOST_NAMED = 3

/** What depends on it: the first few by name; wide: all. */
export function dependentsText({ dependents }: DriverView, screen: Screen): string {
  const { width, wide } = screen
  const { staged, published, attachments, waiting } = dependents
  const most = wide ? Number.POSITIVE_INFINITY : MOST_NAMED
  const rows: [string, readonly string[]][] = [
    ['waiting', waiting.map(({ volume, pod, code }) => `${podText(pod)}/${volume} (${code})`)],
    ['published', published.map(({ volume, pod }) => `${volume} in pod ${podText(pod)}`)],
    ['staged', staged],
    ['attached', attachments.map((name) => (wide ? name : shortName(name)))],
  ]
  const lines = rows
    .filter(([, names]) => names.length > 0)
    .map(([label, names]) =>
      wrapped(`  ${label.padEnd(11)}`, `${names.length}: ${firstFew(names, most).join(', ')}`, width),
    )
  const none = lines.length === 0 ? [wrapped('  ', 'nothing on this node', width)] : []
  return block('Depends on it:', [...lines, ...none], screen)
}

/** Each socket with its answer, each pod with its containers. */
export function driverDetails({ sockets, pods }: DriverView, screen: Screen): string {
  const { paint, width } = screen
  const asked = sockets.map(({ path, endpoint, answers, versions = [], capabilities = [], error }) =>
    [
      wrapped('  ', path, undefined),
      ...(endpoint === undefined || endpoint === path ? [] : [wrapped('    called at ', endpoint, undefined)]),
      wrapped('    ', [answers ? 'answers' : 'no answer', ...(error === undefined ? [] : [error])].join(': '), width),
      ...(versions.length === 0 ? [] : [wrapped('    versions ', versions.join(', '), width, paint.dim)]),
      ...(capabilities.length === 0 ? [] : [wrapped('    capabilities ', capabilities.join(', '), width, paint.dim)]),
    ].join(''),
  )
  const known = pods.map(({ pod, phase = 'no phase', containers, directory }) => {
    const states = containers.map(({ name, state }) => `${name} ${state}`).join(', ')
    return `${wrapped('  ', `pod ${podText(pod)}: ${phase}${states === '' ? '' : `; ${states}`}`, width)}${wrapped('    has ', directory, undefined)}`
  })
  return `${block('Sockets:', asked, screen)}${block('Node plugin:', known, screen)}`
}

/** In a line or two: the first few, by name. */
export function holdersLine(holders: HoldersView, { paint, width }: Screen): string {
  const { processes, namespaces, loops, kernel, notes } = holders
  const names = [
    ...processes.map(nameOf),
    ...namespaces.map((each) => `mount namespace of ${nameOf(each)}`),
    ...loops.map(({ device, backingFile }) => `${device}, backed by ${backingFile}`),
    ...kernel,
  ]
  const found = names.length > 0 ? [firstFew(names, MOST_HOLDERS, 'and ').join('; ')] : nobody(holders)
  return wrapped(`${paint.bold('Held by:')} `, [...found, ...notes].join('; '), width)
}

const MOST_HOLDERS = 4

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
  return block('Held by:', lines, screen)
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
