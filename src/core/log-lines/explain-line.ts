/** From a line to the cause: what its names are on this node, and what its sentence means. Pure. */
import type { Explained } from '../explain/explain.ts'
import type { Explanation, Place, Verdict, VolumeView } from '../explain/explanation.ts'
import { count } from '../lang/count.ts'
import { defined } from '../lang/defined.ts'
import type { NodeState } from '../model/node-state.ts'
import type { LineAnswer, SentenceView } from './line-explanation.ts'
import type { LogLine } from './log-line.ts'
import { type AskedNode, placeOf, type Resolved, resolveNames, SPECIFIC } from './node-names.ts'
import { type Said, saidBy } from './said-by.ts'
import { type NameKind, namesIn } from './take-names.ts'

/**
 * @param node absent: it could not be looked at, and nothing is said of names
 * @returns the answer; and what the most specific thing was explained as, unless the line is another node's
 */
export function explainLine(
  line: LogLine,
  node: AskedNode | undefined,
): { readonly answer: LineAnswer; readonly explained?: Explained } {
  const said = saidBy(line)
  if (node === undefined) return { answer: { ...defined({ sentence: said && viewOf(said) }), names: [] } }
  const names = namesIn(line)
  const { otherNode, elsewhere } = placeOf(line, names, node.state.snapshot)
  const there = elsewhere ? otherNode?.name : undefined
  const resolved = resolveNames(names, node, there)
  const main = mainOf(resolved, said?.about)
  const left = main?.explained === undefined || elsewhere ? [] : leftVolumes(main.explained.explanation)
  return {
    answer: {
      ...defined({
        sentence: said && viewOf(said, node.state, there),
        otherNode,
        main: main?.view,
        left: left.length > 0 ? left : undefined,
      }),
      names: resolved.map(({ view }) => view),
    },
    ...(elsewhere ? {} : defined({ explained: main?.explained })),
  }
}

/** @param there the other node that the line is about */
function viewOf({ about: _, ...said }: Said, state?: NodeState, there?: string): SentenceView {
  const { kubelet, nodeName = 'NODE' } = { ...state?.snapshot }
  const unit = (there === undefined ? kubelet?.unit : undefined) ?? 'kubelet'
  const next = said.next.replaceAll('{unit}', () => unit).replaceAll('{node}', () => there ?? nodeName)
  return { ...said, next }
}

const FIRST: Readonly<Record<'pod' | 'driver', readonly NameKind[]>> = { pod: ['podUid', 'pod'], driver: ['driver'] }
const WORST: readonly Verdict['state'][] = ['problem', 'blocked', 'waiting', 'operation', 'nothing']

/** Of several alike the one that is worst off. */
function mainOf(resolved: readonly Resolved[], about: Said['about']): Resolved | undefined {
  const order = [...(about === undefined ? [] : FIRST[about]), ...SPECIFIC, 'node']
  const found = resolved.filter(({ explained }) => explained !== undefined)
  const rank = ({ view }: Resolved): number => order.indexOf(view.kind)
  const worst = ({ view }: Resolved): number => WORST.indexOf(view.verdict?.state ?? 'nothing')
  return found.toSorted((a, b) => rank(a) - rank(b) || worst(a) - worst(b))[0]
}

/** What is left on disk of a pod that is gone, a volume each, and why the kubelet does not clean it up; of another subject none. */
function leftVolumes({ subject, pods, volumes, inputs }: Explanation): string[] {
  if (subject.kind !== 'Pod') return []
  const gone = new Set(pods.flatMap((each) => (each.class === 'Gone' ? each.pod.uid : [])))
  return volumes.flatMap((view) => {
    const places = view.places.filter(({ pod, exists }) => exists && pod !== undefined && gone.has(pod.uid))
    return places.length === 0 ? [] : [leftText(view, places, inputs.kubelet.state === 'running')]
  })
}

function leftText(
  { volume: { name, plugin, mode }, verdict }: VolumeView,
  places: readonly Place[],
  isKubeletUp: boolean,
): string {
  const of = (role: Place['role']): Place[] => places.filter((place) => place.role === role)
  const mounted = [...of('target'), ...of('map')].some(({ mounts }) => mounts.length > 0)
  const subPaths = of('subPath').length
  const what = mounted
    ? 'is mounted'
    : subPaths > 0
      ? `has ${count(subPaths, 'sub-path')} mounted`
      : 'has its directory left'
  const dead = places.find((place) => place.dead !== undefined)
  const [file] = of('stateFile')
  const because = (): string | undefined => {
    if (dead) return `its mount is dead: ${dead.dead}`
    if (plugin === 'kubernetes.io/csi' && mode === 'Filesystem') {
      if (file === undefined && of('target').length > 0)
        return `vol_data.json of ${name} is missing: the kubelet does not know its driver, and leaves it for ever`
      if (file?.state.startsWith('unusable')) return `vol_data.json of ${name} is ${file.state}`
    }
    if (!mounted && subPaths > 0)
      return 'its own directory is gone, and the kubelet takes sub-paths off with that alone'
    if (!mounted && file !== undefined) return 'a file is left in it, and the kubelet removes empty directories alone'
    // What blocks an emptyDir is its content, which volctl deletes on request alone: no reason of the kubelet's.
    if (verdict.state === 'problem') return verdict.message
    if (verdict.state === 'blocked' && plugin !== 'kubernetes.io/empty-dir') return verdict.message
    return isKubeletUp ? undefined : 'no kubelet runs on this node'
  }
  const why = because()
  return `volume ${name} ${what}${why === undefined ? '' : `; ${why}`}`
}
