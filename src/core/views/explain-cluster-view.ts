/** `volctl explain --cluster` on a screen: the verdict, the worst chain, what the pass makes of it, and what to do. `-o wide` has all. */
import type { ClusterChain, ClusterExplanation } from '../cluster/explain/cluster-explanation.ts'
import { firstFew } from '../lang/first-few.ts'
import type { ClusterOperation, ClusterPlan } from '../plan/cluster-plan.ts'
import { podName } from '../plan/pod-name.ts'
import { adviceText, factsText } from './explain-blocks.ts'
import { chainLines, chainText } from './explain-chain.ts'
import { notesLine } from './explain-notes.ts'
import { colourOf, verdictText } from './explain-volumes.ts'
import type { Part } from './fit-parts.ts'
import { foldedScreen } from './folded-screen.ts'
import type { Screen } from './screen.ts'
import { evidenceText, seconds } from './words.ts'
import { wrapped } from './wrap.ts'

const FEW_FACTS = 4
const MOST_TITLES = 4
const MOST_CODES = 4

export function renderClusterExplanation(answer: ClusterExplanation, screen: Screen): string {
  if (screen.wide) return wideText(answer, screen)
  return foldedScreen(partsOf(answer, screen), screen)
}

function wideText(answer: ClusterExplanation, screen: Screen): string {
  return [
    headText(answer, screen),
    controllerText(answer, screen, true),
    factsText(answer.identity, screen),
    ...answer.chains.map((chain) => `${chainBlock(chain, screen, 'full')}${whyText(chain, screen)}`),
    operationsText(answer.operations, screen),
    notesText(answer, screen),
    adviceText(answer.advice, screen),
    rulesText(answer, screen),
  ].join('')
}

function partsOf(answer: ClusterExplanation, screen: Screen): Part[] {
  const { subject, chains, operations, advice } = answer
  const [worst, ...others] = chains
  const isMany = subject.kind === 'Node' || subject.kind === 'Driver'
  const facts = factsText(answer.identity, screen)
  const also = alsoLine(answer, screen)
  const summary = chains.length > 1 ? chainsLine(chains, screen) : ''
  return [
    { forms: [headText(answer, screen)], rank: 0 },
    {
      forms: [controllerText(answer, screen, false), controllerText(answer, screen, true)],
      rank: 6,
      name: 'controller',
    },
    isMany
      ? { forms: growing([factsText(answer.identity.slice(0, FEW_FACTS), screen), facts]), rank: 4, name: 'identity' }
      : { forms: growing([facts]), rank: 9, name: 'identity' },
    // Of a node or a driver no one volume is what was asked for.
    { forms: chainForms(worst, others, screen, isMany), rank: 1, ahead: 1, name: 'chains' },
    {
      forms: growing([operationTitles(operations, screen), operationsText(operations, screen)]),
      rank: 3,
      name: 'operations',
    },
    { forms: growing([notesText(answer, screen)]), rank: 5, name: 'problems' },
    { forms: [summary === '' && also === '' ? '' : `\n${summary}${also}`], rank: 0 },
    { forms: adviceForms(advice, screen), rank: 2, name: 'what to do' },
    { forms: growing([rulesText(answer, screen)]), rank: 8, name: 'rules' },
    { forms: ['', '\n'], rank: 10 },
  ]
}

/** Nothing, then these. */
function growing(forms: readonly string[]): string[] {
  return forms.some((form) => form !== '') ? ['', ...forms] : ['']
}

function headText(answer: ClusterExplanation, { paint, width }: Screen): string {
  const { subject, cluster, createdAt, verdict, refused, complete } = answer
  const title = `${subject.kind} ${subject.name} in cluster ${cluster.server}, as of ${seconds(createdAt)}`
  return [
    wrapped('', title, width, paint.bold),
    wrapped('Verdict: ', verdictText(verdict), width, colourOf(verdict, paint)),
    refused === undefined ? '' : wrapped('Refused: ', refused.message, width, paint.bad),
    complete ? '' : wrapped('', 'Not complete: something that may matter could not be read.', width, paint.warn),
  ].join('')
}

const CONTROLLER = { lives: 'lives', mayLive: 'may live', dead: 'does not run' } as const

function controllerText({ controller }: ClusterExplanation, { paint, width }: Screen, why: boolean): string {
  const text = `${CONTROLLER[controller.state]}${why ? `: ${controller.note}` : ''}`
  return wrapped('Attach/detach controller: ', text, width, controller.state === 'dead' ? paint.warn : undefined)
}

function titleOf({ node, volume }: ClusterChain): string {
  const where = node === undefined ? '' : ` on node ${node}`
  return volume === undefined ? `the volume${where}` : `volume ${volume.claim ?? volume.name}${where}`
}

function chainBlock(chain: ClusterChain, screen: Screen, form: 'full' | 'folded' | 'lines'): string {
  const { width, paint } = screen
  const text = form === 'lines' ? chainLines(chain.links, screen, 'folded') : chainText(chain.links, screen, form)
  return `\n${wrapped('', `Chain of ${titleOf(chain)}:`, width, paint.bold)}${text}`
}

function whyText({ decision }: ClusterChain, { width }: Screen): string {
  return wrapped('  Why: ', decision.why, width)
}

/** What is broken in the worst, then all of it in few lines, then link by link, then all that have trouble. */
function chainForms(
  worst: ClusterChain | undefined,
  others: readonly ClusterChain[],
  screen: Screen,
  isMany: boolean,
): string[] {
  if (worst === undefined) return ['']
  const troubled = others.filter(({ verdict }) => verdict.state !== 'nothing')
  const broken = { ...worst, links: worst.links.filter(({ state }) => state === 'bad' || state === 'unknown') }
  const whole = (chain: ClusterChain, form: 'folded' | 'lines'): string =>
    `${chainBlock(chain, screen, form)}${whyText(chain, screen)}`
  return [
    '',
    ...(isMany || broken.links.length === 0 ? [] : [chainBlock(broken, screen, 'lines')]),
    whole(worst, 'lines'),
    whole(worst, 'folded'),
    ...(troubled.length === 0 ? [] : [[worst, ...troubled].map((chain) => whole(chain, 'folded')).join('')]),
  ]
}

/** How many volumes on nodes are in which state. */
function chainsLine(chains: readonly ClusterChain[], { paint, width }: Screen): string {
  const troubled = chains.filter(({ verdict }) => verdict.state !== 'nothing')
  const states = Map.groupBy(troubled, ({ verdict: { state, code } }) => code ?? state)
  const fine = chains.length - troubled.length
  const parts = [
    ...firstFew(
      [...states].map(([code, own]) => `${own.length} ${code}`),
      MOST_CODES,
      'and ',
    ),
    ...(fine === 0 ? [] : [`${fine} as they should be`]),
  ]
  return wrapped(`${paint.bold('Volumes:')} `, `${chains.length} on nodes: ${parts.join(', ')}`, width)
}

function operationTitles(operations: readonly ClusterOperation[], { paint, width }: Screen): string {
  if (operations.length === 0) return ''
  const lines = operations.map((operation, index) =>
    wrapped(`  ${`${index + 1}`.padEnd(3)}`, `${operationText(operation)}${stateOf(operation)}`, width),
  )
  const more = lines.length - MOST_TITLES
  const shown = more > 0 ? [...lines.slice(0, MOST_TITLES), wrapped('  ', `and ${more} more`, width)] : lines
  return `\n${paint.bold('volctl would:')}\n${shown.join('')}`
}

function operationText({ kind, volume, node }: ClusterOperation): string {
  return `${kind} ${volume.claim ?? volume.name} on node ${node}`
}

function stateOf({ blocked }: ClusterOperation): string {
  return blocked === undefined ? '' : `: blocked, ${blocked.code}`
}

function operationsText(operations: readonly ClusterOperation[], screen: Screen): string {
  if (operations.length === 0) return ''
  const { paint, width, wide, symbols } = screen
  const numbers = new Map(operations.map(({ id }, index) => [id, index + 1]))
  const indent = '     '
  const lines = operations.map((operation, index) => {
    const { reason, message, blocked, after, pods, makeSure, controllerWould, steps, evidence } = operation
    const first = after.flatMap((id) => numbers.get(id) ?? [])
    const order = first.length === 0 ? '' : `, after ${first.join(', ')}`
    const users = pods.length === 0 ? '' : `, for pod ${firstFew(pods.map(podName), 1, 'and ').join(' ')}`
    return [
      wrapped(`  ${`${index + 1}`.padEnd(3)}`, `${operationText(operation)}${order}${users}`, width, paint.bold),
      wrapped(indent, `${reason}: ${message}`, width),
      blocked === undefined ? '' : wrapped(indent, `blocked, ${blocked.code}: ${blocked.message}`, width, paint.warn),
      makeSure === undefined ? '' : wrapped(`${indent}${symbols.warn} `, `Make sure first ${makeSure}`, width),
      controllerWould === undefined ? '' : wrapped(indent, `The controller would ${controllerWould}`, width, paint.dim),
      ...(wide ? evidence.map((each) => wrapped(`${indent}- `, evidenceText(each), width, paint.dim)) : []),
      ...(wide ? steps.map(({ op, target }) => wrapped(`${indent}- `, `${op} ${target}`, undefined, paint.dim)) : []),
    ].join('')
  })
  return `\n${paint.bold('volctl would:')}\n${lines.join('')}`
}

/** What waits and what is wrong beside that which the verdict says. */
function notesBeside({ verdict, waiting, problems }: ClusterExplanation): Pick<ClusterPlan, 'waiting' | 'problems'> {
  const isSaid = ({ code, message }: { readonly code: string; readonly message: string }): boolean =>
    code === verdict.code && verdict.message.includes(message)
  return { waiting: waiting.filter((each) => !isSaid(each)), problems: problems.filter((each) => !isSaid(each)) }
}

function alsoLine(answer: ClusterExplanation, screen: Screen): string {
  return notesLine(notesBeside(answer), screen, MOST_CODES)
}

function notesText(answer: ClusterExplanation, { paint, width }: Screen): string {
  const { waiting, problems } = notesBeside(answer)
  const block = (title: string, notes: readonly (readonly [code: string, text: string])[]): string => {
    if (notes.length === 0) return ''
    const lines = notes.map(([code, text]) => wrapped('  ', `${code}: ${text}`, width))
    return `\n${paint.bold(`${title}:`)}\n${lines.join('')}`
  }
  const waits = waiting.map(({ code, kind, message }) => [code, `${kind}: ${message}`] as const)
  const wrong = problems.map(
    ({ code, severity, message }) => [code, severity === 'info' ? message : `${severity}: ${message}`] as const,
  )
  return `${block('Waiting for others', waits)}${block('Problems', wrong)}`
}

/** The first is what helps most; it is shown in any case. */
function adviceForms(advice: ClusterExplanation['advice'], screen: Screen): string[] {
  return advice.map((_, index) => adviceText(advice.slice(0, index + 1), screen))
}

function rulesText(
  { verdict, chains, operations, waiting, refused }: ClusterExplanation,
  { paint, width }: Screen,
): string {
  const decisions = chains.slice(0, MOST_TITLES).map(({ decision }) => decision)
  const parts = [...(refused === undefined ? [] : [refused]), verdict, ...decisions, ...operations, ...waiting]
  const rules = [...new Set(parts.flatMap(({ rule }) => rule ?? []))]
  if (rules.length === 0) return ''
  return `\n${wrapped('Rules: ', `${rules.join(', ')} (to read one: volctl explain ${rules[0]})`, width, paint.dim)}`
}
