/** From a line to the cause: what its names are on this node, and what its sentence means. Pure. */
import type { Explained } from '../explain/explain.ts'
import type { Verdict } from '../explain/explanation.ts'
import { defined } from '../lang/defined.ts'
import type { NodeState } from '../model/node-state.ts'
import { leftVolumes } from './left-volumes.ts'
import type { LineAnswer, SentenceView } from './line-explanation.ts'
import { placeOf } from './line-place.ts'
import type { LogLine } from './log-line.ts'
import { type AskedNode, type Resolved, resolveNames, SPECIFIC } from './node-names.ts'
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
