/** Volumes as `volctl explain` shows them: one with all that is known of it, several in a table. */

import { terminalSafe } from '../base/terminal-safe.ts'
import type { Verdict, VolumeView } from '../explain/explanation.ts'
import { chainText } from './explain-chain.ts'
import { placesText } from './explain-places.ts'
import { volumeText } from './format.ts'
import type { Palette, Screen } from './screen.ts'
import { wrapped } from './wrap.ts'

/** How many are in which state. @param named those with trouble by name, where they are few, the others by kind */
export function volumesSummary(volumes: readonly VolumeView[], { paint, width }: Screen, named: boolean): string {
  if (volumes.length === 0) return ''
  const troubled = volumes.filter(({ verdict }) => verdict.state !== 'nothing')
  const fine = volumes.filter(({ verdict }) => verdict.state === 'nothing')
  const states = Map.groupBy(troubled, ({ verdict }) => verdictCell(verdict))
  const parts = [...states].map(([cell, own]) => `${own.length} ${cell}${named ? namesOf(own) : ''}`)
  const kinds = Map.groupBy(fine, ({ volume }) => kindText(volume.plugin))
  const counted = [...kinds].map(([kind, own]) => `${own.length} ${kind}`).join(', ')
  const well = `${fine.length} as they should be${named ? ` (${counted})` : ''}`
  const text = [...parts, ...(fine.length === 0 ? [] : [well])].join('; ')
  return wrapped(paint.bold(`Volumes: `), text, width)
}

const MOST_NAMED = 3

function namesOf(volumes: readonly VolumeView[]): string {
  return volumes.length > MOST_NAMED ? '' : ` (${volumes.map(({ volume }) => volumeText(volume)).join(', ')})`
}

const CONTENT = new Set(['configmap', 'secret', 'projected', 'downward-api'])

function kindText(plugin: string): string {
  const short = plugin.replace('kubernetes.io/', '')
  return CONTENT.has(short) ? 'config maps, secrets and tokens' : short
}

/** A problem's code says that it is one. */
export function verdictCell({ state, code }: Verdict): string {
  if (code === undefined) return state
  return state === 'problem' ? code : `${state}: ${code}`
}

export function colourOf({ state }: Verdict, paint: Palette): (text: string) => string {
  if (state === 'nothing') return paint.good
  if (state === 'operation') return paint.bold
  return state === 'problem' ? paint.bad : paint.warn
}

/** With its chain and all its paths. */
export function volumeBlock(view: VolumeView, screen: Screen): string {
  const { verdict } = view
  const says = wrapped(`  ${'Verdict'.padEnd(13)}`, verdict.message, screen.width, colourOf(verdict, screen.paint))
  return `${volumeRows(view, screen)}${says}${chainText(view.chain, screen)}${placesText(view.places, screen)}`
}

/** What is known of it, without paths, and without what its chain names. */
export function volumeRows({ volume, desired }: VolumeView, { paint, width }: Screen): string {
  const { plugin, driver, handle, handleFrom, mode, uniqueName, accessModes, attachedElsewhere } = volume
  const raw = mode === 'Block' ? ', raw block' : ''
  const rows: [string, string | undefined][] = [
    ['Plugin', `${plugin}${raw}${driver === undefined ? '' : `, driver ${driver}`}`],
    ['Handle', handle && `${handle}${handleFrom === undefined ? '' : ` (from ${handleFrom})`}`],
    ['Unique name', uniqueName],
    ['Access modes', accessModes?.join(', ')],
    ['Desired', desired],
    ['Node status', statusText(volume)],
    ['Elsewhere', attachedElsewhere && `also attached to ${attachedElsewhere.join(', ')}`],
  ]
  const lines = rows.map(([label, text]) => (text === undefined ? '' : wrapped(`  ${label.padEnd(13)}`, text, width)))
  return `\n${paint.bold(terminalSafe(`Volume ${volumeText(volume)}:`))}\n${lines.join('')}`
}

/** What the Node's status says; of the VolumeAttachment the chain does. */
function statusText({ attached, inUse }: VolumeView['volume']): string | undefined {
  if (attached !== true && inUse !== true) return undefined
  const status = Object.entries({ volumesAttached: attached, volumesInUse: inUse })
  return status.flatMap(([list, is]) => (is === undefined ? [] : [`${is ? 'in' : 'not in'} ${list}`])).join(', ')
}
