/**
 * The answer of `volctl explain` on a screen, of either scope: the worst first, the chain in few lines, then the answer narrowed to
 * the thing, and the next step last. `wide` has all that is known.
 */
import type { Answer } from '../answer/answer.ts'
import { clusterAnswerOf } from '../answer/cluster-answer.ts'
import { answerOf } from '../answer/make-answer.ts'
import { withAges, withoutRoot } from '../answer/names.ts'
import type { ClusterChain, ClusterExplanation } from '../cluster/explain/cluster-explanation.ts'
import type { Explanation, Verdict } from '../explain/explanation.ts'
import { byWorst } from '../explain/matters-most.ts'
import { count } from '../lang/count.ts'
import type { ClusterPlan } from '../plan/cluster-plan.ts'
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
import { clusterOperationsTable, operationsTable } from './operations-table.ts'
import type { Screen } from './screen.ts'
import { CONTROLLER, seconds, volumeText } from './words.ts'
import { wrapped } from './wrap.ts'

export interface Around {
  /** What commands need to read the same cluster. */
  readonly reading?: readonly string[]
  /** The node on which its commands are typed, if that is not here. */
  readonly place?: string | undefined
}

export function renderExplanation(
  told: Explanation | ClusterExplanation,
  screen: Screen,
  { reading, place }: Around = {},
): string {
  return 'cluster' in told ? clusterText(told, screen, reading) : nodeText(told, screen, place)
}

/** What to do about it, the most pressing first, each in a line. */
export function stepsOf(told: Explanation | ClusterExplanation): string[] {
  const { needs, next } = 'cluster' in told ? answerInCluster(told) : answerOf(planOnNode(told))
  const steps = next.map(
    ({ first, command, why }) => `${first === undefined ? '' : `${first}, then: `}${command}  # ${why}`,
  )
  return [...new Set([...needs.flatMap(({ remedy }) => remedy.slice(0, 1)), ...passing(told), ...told.notes, ...steps])]
}

/** What would end a wait sooner that ends without anybody. */
function passing({ verdict, summary: { causes = [] } }: Explanation | ClusterExplanation): readonly string[] {
  if (verdict.state !== 'waiting') return []
  const cause = causes.find(({ severity, code }) => severity === 'info' && code === verdict.code)
  return cause?.remedy.slice(0, 1) ?? []
}

function planOnNode(told: Explanation): Plan {
  return { ...told, kind: 'Plan', scope: 'node' }
}

function planInCluster(told: ClusterExplanation): ClusterPlan {
  return { ...told, kind: 'Plan' }
}

function answerInCluster(told: ClusterExplanation, reading: readonly string[] = []): Answer {
  const asked = [told.subject.name, told.verdict.message]
  return clusterAnswerOf(planInCluster(told), { applyCommand: told.apply, reading, asked })
}

const FEW_FACTS = 4

function nodeText(told: Explanation, screen: Screen, place: string | undefined): string {
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

function clusterText(told: ClusterExplanation, screen: Screen, reading: readonly string[] | undefined): string {
  const { subject, cluster, createdAt, identity, chains, inputs } = told
  const { wide, paint, width } = screen
  const [worst] = chains
  const isMany = subject.kind === 'Node' || subject.kind === 'Driver'
  const { state, note } = inputs.controller
  const controller = wrapped('Attach/detach controller: ', `${CONTROLLER[state]}: ${note}`, width)
  const title = `${subject.kind} ${subject.name} in cluster ${cluster.server}`
  return drawn(told, screen, {
    title: wide ? `${title}, as of ${seconds(createdAt)}` : title,
    says: withAges(withoutRoot(told.verdict.message, ''), createdAt),
    answer: answerInCluster(told, reading),
    chain: worst === undefined || isMany || wide ? '' : chainLines(worst.links, screen, 'folded'),
    parts: wide
      ? [
          controller,
          factsText(identity, screen),
          ...chains.map((each) => chainBlock(each, screen)),
          clusterOperationsTable(planInCluster(told), screen),
        ]
      : [
          isMany ? factsText(identity.slice(0, FEW_FACTS), screen) : '',
          worst === undefined || isMany || told.verdict.state !== 'nothing'
            ? ''
            : wrapped('Why: ', worst.decision.why, width, paint.dim),
          chains.length > 1 ? wrapped('', `${countedOnNodes(chains)}; -o wide has the chain of each`, width) : '',
        ],
  })
}

/** `1 volume on 2 nodes`. */
function countedOnNodes(chains: readonly ClusterChain[]): string {
  const volumes = new Set(chains.map(({ volume, ...chain }) => volume?.name ?? chain))
  const nodes = new Set(chains.flatMap(({ node }) => node ?? []))
  return `${count(volumes.size, 'volume')}${nodes.size === 0 ? '' : ` on ${count(nodes.size, 'node')}`}`
}

function chainBlock({ node, volume, links, decision }: ClusterChain, screen: Screen): string {
  const where = node === undefined ? '' : ` on node ${node}`
  const title = volume === undefined ? `The volume${where}` : `Volume ${volume.claim ?? volume.name}${where}`
  const { width, paint } = screen
  return `${wrapped('', `${title}:`, width, paint.bold)}${chainText(links, screen)}${wrapped('  Why: ', decision.why, width)}`
}

interface Drawn extends Pick<Around, 'place'> {
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
  told: Explanation | ClusterExplanation,
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
