/** The chain of a volume or a driver: each link with a sign and a word for its state. */
import type { Link } from '../explain/explanation.ts'
import type { PodRef } from '../plan/plan.ts'
import { podTexts } from '../plan/plan-names.ts'
import type { Palette, Screen, Symbols } from './screen.ts'
import { wrapped } from './wrap.ts'

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
function shortName(name: string): string {
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
