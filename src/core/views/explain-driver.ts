/** A CSI driver as `volctl explain` shows it: what it answered, and what depends on it. */
import type { DriverView } from '../explain/explanation.ts'
import { firstFew } from '../lang/first-few.ts'
import type { Screen } from './screen.ts'
import { podText } from './words.ts'
import { wrapped } from './wrap.ts'

const MOST_NAMED = 3

/** What depends on it: the first few by name; wide: all. */
export function dependentsText({ dependents }: DriverView, { paint, width, wide }: Screen): string {
  const { staged, published, attachments, waiting } = dependents
  const most = wide ? Number.POSITIVE_INFINITY : MOST_NAMED
  const rows: [string, readonly string[]][] = [
    ['waiting', waiting.map(({ volume, pod, code }) => `${podText(pod)}/${volume} (${code})`)],
    ['published', published.map(({ volume, pod }) => `${volume} in pod ${podText(pod)}`)],
    ['staged', staged],
    ['attached', attachments.map((name) => (wide ? name : name.replace(/^(csi-[0-9a-f]{8})[0-9a-f]{56}$/, '$1')))],
  ]
  const lines = rows
    .filter(([, names]) => names.length > 0)
    .map(([label, names]) =>
      wrapped(`  ${label.padEnd(11)}`, `${names.length}: ${firstFew(names, most).join(', ')}`, width),
    )
  const none = lines.length === 0 ? [wrapped('  ', 'nothing on this node', width)] : []
  return `\n${paint.bold('Depends on it:')}\n${[...lines, ...none].join('')}`
}

/** Each socket with its answer, each pod with its containers. */
export function driverDetails({ sockets, pods }: DriverView, { paint, width }: Screen): string {
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
  const block = (title: string, lines: readonly string[]): string =>
    lines.length === 0 ? '' : `\n${paint.bold(title)}\n${lines.join('')}`
  return `${block('Sockets:', asked)}${block('Node plugin:', known)}`
}
