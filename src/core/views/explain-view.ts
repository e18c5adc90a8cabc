/**
 * The answer of `volctl explain` on a screen: the worst first, the chain in few lines, then the answer narrowed to
 * the thing, and the next step last. `wide` has all that is known.
 */
import type { Answer } from '../answer/answer.ts'
import { answerOf } from '../answer/make-answer.ts'
import { withoutRoot } from '../answer/names.ts'
import type { Explanation, Verdict } from '../explain/explanation.ts'
import { byWorst } from '../explain/matters-most.ts'
import type { Plan } from '../plan/plan.ts'
import { PlanNames } from '../plan/plan-names.ts'
import { needRows, nextText, renderAnswer } from './answer-view.ts'
import { chunksOf } from './command-words.ts'
import {
  decisionsText,
  dependentsText,
  driverDetails,
  factsText,
  hasHolders,
  holdersLine,
  holdersText,
  podsText,
} from './explain-blocks.ts'
import { chainLines, chainText } from './explain-chain.ts'
import { placesText } from './explain-places.ts'
import { colourOf, volumeBlock, volumeRows, volumesSummary } from './explain-volumes.ts'
import { operationsTable } from './operations-table.ts'
import type { Screen } from './screen.ts'
import { seconds, volumeText } from './words.ts'
import { wrapped } from './wrap.ts'

/** What to do about it, the most pressing first, each in a line. */
export function stepsOf(told: Explanation): string[] {
  const { needs, next } = answerOf(planOnNode(told))
  const steps = next.map(
    ({ first, command, why }) => `${first === undefined ? '' : `${first}, then: `}${command}  # ${why}`,
  )
  return [...new Set([...needs.flatMap(({ remedy }) => remedy.slice(0, 1)), ...passing(told), ...told.notes, ...steps])]
}

/** What would end a wait sooner that ends without anybody. */
function passing({ verdict, summary: { causes = [] } }: Explanation): readonly string[] {
  if (verdict.state !== 'waiting') return []
  const cause = causes.find(({ severity, code }) => severity === 'info' && code === verdict.code)
  return cause?.remedy.slice(0, 1) ?? []
}

function planOnNode(told: Explanation): Plan {
  return { ...told, kind: 'Plan', scope: 'node' }
}

/** @param place the node on which its commands are typed, if that is not here */
export function renderExplanation(
  told: Explanation,
  screen: Screen,
  { place }: { readonly place?: string | undefined } = {},
): string {
  const { subject, node, createdAt, identity, volumes, places, driver, holders, chain } = told
  const [first, ...others] = byWorst(volumes)
  const plan = planOnNode(told)
  const names = new PlanNames(plan)
  const answer = answerOf(plan, names)
  const { wide } = screen
  const isNode = subject.kind === 'Node'
  const title = isNode ? `Node ${node}` : `${subject.kind} ${subject.name} on node ${node}`
  const short = [
    others.length > 0 ? volumesSummary(volumes, screen, !isNode) : '',
    first !== undefined && others.length === 0 ? volumeRows(first, screen) : '',
    driver === undefined ? '' : dependentsText(driver, screen),
    holders.known || hasHolders(holders) ? holdersLine(holders, screen) : '',
  ]
  const all = (): string[] => [
    factsText(identity, screen),
    places.length === 0 ? '' : placesText(places, screen),
    podsText(told.pods, screen),
    driver === undefined ? '' : `${chainText(chain, screen)}${driverDetails(driver, screen)}`,
    driver === undefined ? '' : dependentsText(driver, screen),
    ...volumes.map((volume) => volumeBlock(volume, screen)),
    operationsTable(plan, names, screen),
    decisionsText(told, screen),
    holdersText(holders, screen),
  ]
  const links = isNode || wide ? '' : chainLines(chain, screen, subject.kind === 'Pod' ? 'ofPod' : 'folded')
  const isOfOne = links !== '' && others.length > 0 && first !== undefined && driver === undefined
  return drawn(told, screen, {
    place,
    title: wide ? `${title}, as of ${seconds(createdAt)}` : title,
    says: withoutRoot(told.verdict.message, told.rootDir),
    ...(isNode && { headline: answer.headline }),
    answer,
    chain: isOfOne ? `${wrapped('  ', `Volume ${volumeText(first.volume)}:`, screen.width)}${links}` : links,
    parts: wide ? all() : short,
  })
}

interface Drawn {
  readonly place: string | undefined
  readonly title: string
  /** The verdict, in the words of the answer. */
  readonly says: string
  /** In place of title and verdict. */
  readonly headline?: string
  readonly answer: Answer
  readonly chain: string
  readonly parts: readonly string[]
}

/** What the first line says is not said again below. */
function drawn(
  told: Explanation,
  screen: Screen,
  { place, title, says, headline, answer, chain, parts }: Drawn,
): string {
  const { width, paint, wide } = screen
  const { verdict, notes } = told
  const said = headline === undefined ? answer.needs.find(({ text }) => text === says) : undefined
  const header = [
    wrapped('', headline ?? `${title}${HOW[verdict.state]}: ${says}`, width, colourOf(verdict, paint)),
    chain,
    needRows({ wake: [], ...said, remedy: typedAt(place, said?.remedy ?? passing(told)) }, screen),
  ].join('')
  const shown: Answer = {
    ...answer,
    needs: answer.needs.filter((need) => need !== said),
    notes: [...notes, ...answer.notes].filter((note) => note !== says),
  }
  const code = headline === undefined && HAS_CODE.has(verdict.state) ? verdict.code : undefined
  const more = [
    ...parts,
    code === undefined ? '' : wrapped('', `Code: ${code} (volctl explain ${code})`, width, paint.dim),
  ]
  return renderAnswer(shown, screen, {
    unfolded: wide,
    most: 2,
    place,
    header,
    more: more.map((part) => part.replace(/^\n/, '')).filter((part) => part !== ''),
    ...(verdict.state === 'nothing' && { end: nextText(answer.next, screen) }),
  })
}

function typedAt(place: string | undefined, remedy: readonly string[]): readonly string[] {
  if (place === undefined) return remedy
  return remedy.map((each) => (chunksOf(each).some(({ isCommand }) => isCommand) ? `on node ${place}: ${each}` : each))
}

const HAS_CODE: ReadonlySet<Verdict['state']> = new Set<Verdict['state']>(['problem', 'blocked', 'waiting'])

const HOW: Readonly<Record<Verdict['state'], string>> = {
  problem: '',
  blocked: ' is stuck',
  waiting: ' waits',
  operation: '',
  nothing: '',
}
