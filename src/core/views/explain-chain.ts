/** The chain of a volume or a driver, as a tree: each link with a sign and a word for its state. */
import type { ClusterLink } from '../cluster/explain/cluster-explanation.ts'
import type { Link as NodeLink } from '../explain/explanation.ts'
import type { PodRef } from '../plan/plan.ts'
import { podNameAndUid } from '../plan/pod-name.ts'
import { podTexts } from '../plan/pod-texts.ts'
import type { Palette } from './palette.ts'
import type { Screen } from './screen.ts'
import type { Symbols } from './symbols.ts'
import { podText } from './words.ts'
import { wrapped } from './wrap.ts'

/** Of a node, or of a cluster. */
type Link = NodeLink | (ClusterLink & { readonly pod?: undefined })

const KINDS: Readonly<Record<Link['kind'], string>> = {
  Pod: 'pod',
  Node: 'node',
  Driver: 'driver',
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

/**
 * full: every link with its path. folded: alike links counted, paths left out, long names cut. ofPod: the same in an answer about one
 * pod, which has no need to say whose mounts these are.
 */
export type ChainForm = 'full' | 'folded' | 'ofPod'

export function chainText(chain: readonly Link[], { paint, symbols, width }: Screen, form: ChainForm): string {
  const marks = marksOf(paint, symbols)
  const folded = form !== 'full'
  const links = folded ? foldedLinks(chain) : chain.map((link) => ({ link, more: 0 }))
  const podName = podNames(chain, form)
  const depths = depthsOf(links.map(({ link }) => link))
  const lines = links.map(({ link, more }, index) => {
    const depth = depths[index] ?? 0
    const branch = depth === 0 ? '' : `${'  '.repeat(depth - 1)}${symbols.branch} `
    return wrapped(`  ${marks[link.state]} ${branch}`, linkText(link, { more, folded, podName }), width)
  })
  return lines.join('')
}

/** In as few lines as can be: links of one state beside each other; the first says what is wrong. */
export function chainLines(chain: readonly Link[], { paint, symbols, width }: Screen, form: ChainForm): string {
  const marks = marksOf(paint, symbols)
  const podName = podNames(chain, form)
  const runs: Folded[][] = []
  for (const each of foldedLinks(chain)) {
    const last = runs.at(-1)
    if (last?.[0]?.link.state === each.link.state) last.push(each)
    else runs.push([each])
  }
  return runs
    .map((run) => {
      const texts = run.map(({ link, more }, index) => {
        const { title, says } = linkWords(link, { more: 0, folded: true, podName })
        const counted = more === 0 ? title : `${title} and ${more} more`
        return link.state === 'good' || index > 0 ? counted : `${counted} (${says})`
      })
      return wrapped(`  ${marks[run[0]?.link.state ?? 'unknown']} `, texts.join(` ${symbols.arrow} `), width)
    })
    .join('')
}

interface How {
  readonly more: number
  readonly folded: boolean
  readonly podName: (pod: PodRef) => string
}

function linkText(link: Link, how: How): string {
  const { title, says } = linkWords(link, how)
  return `${title}: ${says}`
}

/** A path is as long as a line: folded, who has the mount is enough. */
function linkWords({ kind, name, says, pod }: Link, { more, folded, podName }: How): Record<'title' | 'says', string> {
  const others = more === 0 ? '' : `, and ${more} more like it`
  const named = name === '' ? '' : !folded ? ` ${name}` : name.startsWith('/') ? '' : ` ${shortName(name)}`
  // A sub-path stands below the mount that says whose it is.
  const isSaid = kind === 'NodePluginPod' || (folded && kind === 'SubPath')
  const of = pod === undefined || isSaid ? '' : podName(pod)
  const whose = of === '' ? '' : ` of pod ${of}`
  return { title: `${KINDS[kind]}${named}${whose}`, says: `${says}${others}` }
}

/** What distinguishes pods: nothing where the answer is about the one, the UID too where two have one name. */
function podNames(chain: readonly Link[], form: ChainForm): (pod: PodRef) => string {
  const pods = chain.flatMap(({ pod }) => pod ?? [])
  const uids = new Set(pods.map(({ uid }) => uid)).size
  if (form === 'ofPod' && uids < 2) return () => ''
  if (form !== 'full') return podTexts(pods)
  return new Set(pods.map(podText)).size < uids ? podNameAndUid : podText
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

/** Each kind below the one before; what several pods have is side by side, a driver's objects too. */
function depthsOf(links: readonly Link[]): number[] {
  const depths: number[] = []
  let [depth, last]: [number, Link['kind'] | undefined] = [-1, undefined]
  let podDepth: number | undefined
  for (const { kind } of links) {
    if (kind === 'PodMount') podDepth ??= depth + 1
    if (kind === 'PodMount') depth = podDepth ?? 0
    else if (kind === 'SubPath') depth = (podDepth ?? depth) + 1
    else if (kind !== last) depth += 1
    last = kind
    depths.push(depth)
  }
  return depths
}
