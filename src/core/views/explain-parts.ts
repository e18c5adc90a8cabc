/** Volumes as `volctl explain` shows them: one with all that is known of it, several in a table. */

import { terminalSafe } from '../base/terminal-safe.ts'
import type { Link, MountView, Place, Verdict, VolumeView } from '../explain/explanation.ts'
import { fileSystemText } from '../linux/file-systems.ts'
import type { PodRef } from '../plan/plan.ts'
import { podTexts } from '../plan/plan-names.ts'
import { podText, volumeText } from './format.ts'
import type { Palette, Screen, Symbols } from './screen.ts'
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

// What there is, path by path, as `volctl explain` shows it.

const ROLES: Readonly<Record<Place['role'], string>> = {
  target: 'volume',
  stateFile: 'state file',
  marker: 'marker',
  subPath: 'sub-path',
  link: 'device link',
  staged: 'staged',
  global: 'global mount',
  map: 'block map',
  published: 'published',
  foreign: 'foreign',
  path: 'path',
}

const ROLE_WIDTH = Math.max(...Object.values(ROLES).map((text) => text.length)) + 1

export function placesText(places: readonly Place[], screen: Screen): string {
  const severalPods = new Set(places.flatMap(({ pod }) => pod?.uid ?? [])).size > 1
  return places.map((place) => placeText(place, severalPods, screen)).join('')
}

function placeText(place: Place, namesPod: boolean, { paint, width }: Screen): string {
  const { role, path, state, pod, mounts, loops, dead } = place
  const indent = ' '.repeat(ROLE_WIDTH + 2)
  const whose = pod === undefined || !namesPod ? '' : `; pod ${podText(pod)}`
  const [only] = mounts
  const about = mounts.length === 1 && only !== undefined ? `${state}: ${mountText(only)}` : state
  const layers = mounts.length > 1 ? mounts : []
  return [
    wrapped(`  ${ROLES[role].padEnd(ROLE_WIDTH)}`, path, undefined),
    wrapped(indent, `${about}${whose}`, width, paint.dim),
    ...layers.map((mount, index) => wrapped(`${indent}${index + 1}. `, mountText(mount), width, paint.dim)),
    ...(loops === undefined ? [] : [wrapped(indent, `held by ${loops.join(', ')}`, width, paint.warn)]),
    ...(dead === undefined ? [] : [wrapped(indent, `DEAD: ${dead}`, width, paint.bad)]),
  ].join('')
}

function mountText(mount: MountView): string {
  const { id, dev, root, readOnly } = mount
  const part = root === '/' ? '' : `, directory ${root}`
  return `${fileSystemText(mount)} (${dev})${part}, mount ID ${id}, ${readOnly ? 'read-only' : 'read-write'}`
}

// The chain of a volume or a driver: each link with a sign and a word for its state.

const KINDS: Readonly<Record<Link['kind'], string>> = {
  PersistentVolumeClaim: 'claim',
  PersistentVolume: 'PV',
  VolumeAttachment: 'attachment',
  StagedMount: 'staged mount',
  BlockMap: 'block map',
  PodMount: 'pod mount',
  SubPath: 'sub-path',
  NodePluginPod: 'node plugin pod',
  Socket: 'socket',
  Registration: 'registration',
  CSINode: 'CSINode',
  CSIDriver: 'CSIDriver',
}

const WIDEST = Math.max('unknown'.length, 'absent'.length)

/** Every link with its path. */
export function chainText(chain: readonly Link[], { paint, symbols, width }: Screen): string {
  const marks = marksOf(paint, symbols)
  const podName = podNames(chain)
  return chain
    .map((link) => {
      const title = titleOf(link, link.name, link.kind === 'NodePluginPod' ? undefined : podName)
      return wrapped(`  ${marks[link.state]} `, `${title}: ${link.says}`, width)
    })
    .join('')
}

/**
 * In as few lines as can be: links of one state beside each other, alike ones counted, without paths; the first says what is wrong.
 *
 * @param isOfPod the answer is about one pod, whose mounts these are
 */
export function chainLines(chain: readonly Link[], { paint, symbols, width }: Screen, isOfPod: boolean): string {
  const marks = marksOf(paint, symbols)
  const podName = podNames(chain, isOfPod)
  const runs: Folded[][] = []
  for (const each of foldedLinks(chain)) {
    const last = runs.at(-1)
    if (last?.[0]?.link.state === each.link.state) last.push(each)
    else runs.push([each])
  }
  return runs
    .map((run) => {
      const texts = run.map(({ link, more }, index) => {
        // Who has the mount is enough of a path; a sub-path stands beside the mount that says whose it is.
        const name = link.name.startsWith('/') ? '' : shortName(link.name)
        const isSaid = link.kind === 'NodePluginPod' || link.kind === 'SubPath'
        const title = titleOf(link, name, isSaid ? undefined : podName)
        const counted = more === 0 ? title : `${title} and ${more} more`
        return link.state === 'good' || index > 0 ? counted : `${counted} (${link.says})`
      })
      return wrapped(`  ${marks[run[0]?.link.state ?? 'unknown']} `, texts.join(` ${symbols.arrow} `), width)
    })
    .join('')
}

/** @param podName undefined: it is not said whose it is */
function titleOf({ kind, pod }: Link, name: string, podName: ((pod: PodRef) => string) | undefined): string {
  const of = pod === undefined || podName === undefined ? '' : podName(pod)
  return `${KINDS[kind]}${name === '' ? '' : ` ${name}`}${of === '' ? '' : ` of pod ${of}`}`
}

/** What distinguishes pods: nothing where the answer is about the one. */
function podNames(chain: readonly Link[], isOfPod = false): (pod: PodRef) => string {
  const pods = chain.flatMap(({ pod }) => pod ?? [])
  return isOfPod && new Set(pods.map(({ uid }) => uid)).size < 2 ? () => '' : podTexts(pods)
}

/** Sign and word of each state. */
function marksOf(paint: Palette, symbols: Symbols): Record<Link['state'], string> {
  const mark = (sign: string, state: Link['state'], colour: (text: string) => string): string =>
    colour(`${sign} ${state.padEnd(WIDEST)}`)
  return {
    good: mark(symbols.good, 'good', paint.good),
    bad: mark(symbols.bad, 'bad', paint.bad),
    unknown: mark(symbols.unknown, 'unknown', paint.warn),
    absent: mark('-', 'absent', paint.dim),
  }
}

/** The hash in an attachment's name, by its beginning. */
export function shortName(name: string): string {
  return name.replace(/^(csi-[0-9a-f]{8})[0-9a-f]{56}$/, '$1')
}

interface Folded {
  readonly link: Link
  /** Links like it that are left out. */
  readonly more: number
}

/** Sub-paths of one state are counted, and so are mounts of pods if the same is said of each. */
function foldedLinks(chain: readonly Link[]): Folded[] {
  const groups = Map.groupBy(chain, (link) => `${link.kind} ${link.state} ${link.kind === 'SubPath' ? '' : link.says}`)
  const counts = new Map(
    [...groups.values()].flatMap((own) => (own[0] === undefined ? [] : [[own[0], own.length - 1]])),
  )
  return chain.flatMap((link) => {
    const more = counts.get(link)
    return more === undefined ? [] : [{ link, more }]
  })
}
