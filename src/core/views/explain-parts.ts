/** Volumes as `volctl explain` shows them: one with all that is known of it, several in a table. */

import { alike, present, tally } from '../base/text.ts'
import type { Link, MountView, Place, Verdict, VolumeView } from '../explain/explanation.ts'
import { LINKS } from '../explain/kinds.ts'
import { fileSystemText } from '../linux/location.ts'
import { terminalSafe } from '../messages/terminal-safe.ts'
import { podTexts } from '../plan/names.ts'
import { API_CONTENT } from '../volumes/volume-names.ts'
import { type Palette, type Screen, volumeText, wrapped } from './screen.ts'

/** How many are in which state: those with trouble by name, where they are few, the others by kind. */
export function volumesSummary(volumes: readonly VolumeView[], { paint, width }: Screen): string {
  const troubled = volumes.filter(({ verdict }) => verdict.state !== 'nothing')
  const fine = volumes.filter(({ verdict }) => verdict.state === 'nothing')
  const cellOf = ({ verdict }: VolumeView): string => verdictCell(verdict)
  const parts = alike(troubled, cellOf).map((own) => `${own.length} ${cellOf(own[0])}${namesOf(own)}`)
  const well = `${fine.length} as they should be (${tally(fine.map(({ volume }) => kindText(volume.plugin)))})`
  return wrapped(paint.bold(`Volumes: `), present(...parts, fine.length > 0 && well).join('; '), width)
}

const MOST_NAMED = 3

function namesOf(volumes: readonly VolumeView[]): string {
  return volumes.length > MOST_NAMED ? '' : ` (${volumes.map(({ volume }) => volumeText(volume)).join(', ')})`
}

function kindText(plugin: string): string {
  return API_CONTENT.has(plugin) ? 'config maps, secrets and tokens' : plugin.replace('kubernetes.io/', '')
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

/** With its chain, in which are its paths. */
export function volumeBlock(view: VolumeView, screen: Screen): string {
  const { verdict } = view
  const says = wrapped(`  ${'Verdict'.padEnd(13)}`, verdict.message, screen.width, colourOf(verdict, screen.paint))
  return `${volumeRows(view, screen)}${says}${chainText(view.chain, screen)}`
}

/** What is known of it, without paths, and without what its chain names. */
export function volumeRows({ volume, desired }: VolumeView, { paint, width }: Screen): string {
  const { plugin, driver, handle, handleFrom, mode, uniqueName, accessModes, attachedElsewhere } = volume
  const rows: [string, string | undefined][] = [
    ['Plugin', present(plugin, mode === 'Block' && 'raw block', driver && `driver ${driver}`).join(', ')],
    ['Handle', handle && `${handle}${handleFrom === undefined ? '' : ` (from ${handleFrom})`}`],
    ['Unique name', uniqueName],
    ['Access modes', accessModes?.join(', ')],
    ['Desired', desired],
    ['Node status', statusText(volume)],
    ['Elsewhere', attachedElsewhere && `also attached to ${attachedElsewhere.join(', ')}`],
  ]
  const lines = rows.map(([label, text]) => text && wrapped(`  ${label.padEnd(13)}`, text, width))
  return `${paint.bold(terminalSafe(`Volume ${volumeText(volume)}:`))}\n${lines.join('')}`
}

/** What the Node's status says; of the VolumeAttachment the chain does. */
function statusText({ attached, inUse }: VolumeView['volume']): string | undefined {
  if (attached !== true && inUse !== true) return undefined
  const status = Object.entries({ volumesAttached: attached, volumesInUse: inUse })
  return status.flatMap(([list, is]) => (is === undefined ? [] : [`${is ? 'in' : 'not in'} ${list}`])).join(', ')
}

/** What there is at each path. */
export function placesText(places: readonly Place[], { paint, width }: Screen): string {
  const lines = places.flatMap(({ path, state, mounts, loops, dead }) => {
    const texts = mounts.map(mountText)
    const about = texts.length === 1 ? `${state}: ${texts.join()}` : state
    return [
      wrapped('  ', path, undefined),
      wrapped(INDENT, about, width, paint.dim),
      ...(texts.length > 1 ? texts : []).map((text, index) =>
        wrapped(`${INDENT}${index + 1}. `, text, width, paint.dim),
      ),
      loops && wrapped(INDENT, `held by ${loops.join(', ')}`, width, paint.warn),
      dead && wrapped(INDENT, `DEAD: ${dead}`, width, paint.bad),
    ]
  })
  return lines.join('')
}

const INDENT = ' '.repeat(4)

function mountText(mount: MountView): string {
  const { id, dev, root, readOnly } = mount
  const part = root === '/' ? '' : `, directory ${root}`
  return `${fileSystemText(mount)} (${dev})${part}, mount ID ${id}, ${readOnly ? 'read-only' : 'read-write'}`
}

// The chain of a volume or a driver: each link with a sign and a word for its state.

/**
 * In as few lines as can be: links of one state beside each other, alike ones counted, without paths; the first says what is wrong.
 * `-o wide`: every link in its line, with its path and what is said of it.
 *
 * @param isOfPod the answer is about one pod, whose mounts these are
 */
export function chainText(chain: readonly Link[], screen: Screen, isOfPod = false): string {
  const { wide, symbols, width, paint } = screen
  const pods = chain.flatMap(({ pod }) => pod ?? [])
  // What distinguishes pods; nothing where the answer is about the one.
  const isOfOne = isOfPod && !wide && new Set(pods.map(({ uid }) => uid)).size < 2
  const podName = isOfOne ? undefined : podTexts(pods)
  const textOf = ({ link, more }: Folded, index: number): string => {
    const { kind, name, state, says } = link
    // Who has the mount is enough of a path; a sub-path stands beside the mount that says whose it is.
    const shown = wide ? name : name.startsWith('/') ? '' : name.replace(HASH, '$1')
    const isSaid = kind === 'NodePluginPod' || (kind === 'SubPath' && !wide)
    const title = present(LINKS[kind], shown, !isSaid && podName && link.pod && `of pod ${podName(link.pod)}`).join(' ')
    if (wide) return `${title}: ${says}`
    const counted = more === 0 ? title : `${title} and ${more} more`
    return state === 'good' || index > 0 ? counted : `${counted} (${says})`
  }
  const colours = { good: paint.good, bad: paint.bad, unknown: paint.warn, absent: paint.dim }
  return (wide ? chain.map((link) => [{ link, more: 0 }]) : runsOf(chain))
    .map((run) => {
      const state = run[0]?.link.state ?? 'unknown'
      const mark = colours[state](`${state === 'absent' ? '-' : symbols[state]} ${state.padEnd('unknown'.length)}`)
      return wrapped(`  ${mark} `, run.map(textOf).join(` ${symbols.arrow} `), width)
    })
    .join('')
}

/** How many more are like a link. */
interface Folded {
  readonly link: Link
  readonly more: number
}

/** Links of one state that follow each other; sub-paths of one state are counted, and so are mounts of pods if the same is said of each. */
function runsOf(chain: readonly Link[]): Folded[][] {
  const runs: Folded[][] = []
  for (const [link, ...others] of alike(
    chain,
    ({ kind, state, says }) => `${kind} ${state} ${kind === 'SubPath' ? '' : says}`,
  )) {
    const last = runs.at(-1)
    const each = { link, more: others.length }
    if (last?.[0]?.link.state === link.state) last.push(each)
    else runs.push([each])
  }
  return runs
}

/** Of an attachment's name the beginning is enough. */
const HASH = /^(csi-[0-9a-f]{8})[0-9a-f]{56}$/
