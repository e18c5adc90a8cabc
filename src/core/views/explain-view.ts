/**
 * The answer of `volctl explain` on a screen. The verdict comes first and what to do near the end, where a terminal shows it.
 * The normal form is at most a screen: what gives way first is what the last line names. `wide` has all of it.
 */
import type { Advice, Explanation, Fact, PodView, VolumeView } from '../explain/explanation.ts'
import { byWorst } from '../explain/matters-most.ts'
import { firstFew } from '../lang/first-few.ts'
import { chainLines, chainText } from './explain-chain.ts'
import { dependentsLine, dependentsText, driverDetails } from './explain-driver.ts'
import { hasHolders, holdersLine, holdersText } from './explain-holders.ts'
import { notesBeside, notesLine, notesText } from './explain-notes.ts'
import { operationsText, operationTitles } from './explain-operations.ts'
import { placesText } from './explain-places.ts'
import { colourOf, verdictText, volumeBlock, volumeRows, volumesSummary, volumesTable } from './explain-volumes.ts'
import { fitParts, type Part, screenLines } from './fit-parts.ts'
import type { Screen } from './screen.ts'
import { podText, volumeText } from './words.ts'
import { wrapped } from './wrap.ts'

/** Lines of a pipe, a file and a terminal that does not say. */
const ROWS = 24

export function renderExplanation(answer: Explanation, screen: Screen): string {
  if (screen.wide) return wideText(answer, screen)
  const parts = partsOf(answer, screen)
  const names = parts.flatMap(({ name }) => name ?? [])
  // The last line is the shell's.
  const rows = (screen.rows ?? ROWS) - 1 - screenLines(footText(names, screen), screen.width)
  const { text, missing } = fitParts(parts, rows, screen.width)
  return `${text}${footText(missing, screen)}`
}

function wideText(answer: Explanation, screen: Screen): string {
  const { verdict, volumes, places, subject, driver } = answer
  const said = { verdict, objects: ['PersistentVolumeClaim', 'PersistentVolume'].includes(subject.kind) }
  return [
    headText(answer, screen),
    factsText(answer.identity, screen),
    pathsText(places, screen),
    podsText(answer.pods, screen),
    ...(driver === undefined
      ? []
      : [chainBlock(`driver ${driver.name}`, chainText(answer.chain, screen, false), screen)]),
    ...(driver === undefined ? [] : [driverDetails(driver, screen), dependentsText(driver, screen)]),
    ...volumes.map((volume) => volumeBlock(volume, said, screen)),
    operationsText(answer.operations, screen),
    notesText(answer, screen),
    decisionsText(answer, screen),
    holdersText(answer.holders, screen),
    adviceText(answer.advice, screen),
    rulesText(answer, screen),
  ].join('')
}

/** What is shown in any case, what grows first where there is room, and what gives way first (rank). */
function partsOf(answer: Explanation, screen: Screen): Part[] {
  const { verdict, volumes, places, subject, operations, holders, driver } = answer
  const said = { verdict, objects: ['PersistentVolumeClaim', 'PersistentVolume'].includes(subject.kind) }
  const sorted = byWorst(volumes)
  const beside = notesBeside(answer)
  const also = notesLine(beside, screen)
  return [
    { forms: [headText(answer, screen)], rank: 0 },
    { forms: growing([factsText(answer.identity, screen)]), rank: 9, name: 'identity' },
    { forms: placesForms(places, volumes.length, screen), rank: 7, name: 'paths' },
    { forms: chainForms(answer, sorted, screen), rank: 1, name: 'chains' },
    { forms: driverForms(driver, screen), rank: 3, name: 'sockets' },
    { forms: podsForms(answer, screen), rank: 6, name: 'pods' },
    {
      forms: growing([operationTitles(operations, screen), operationsText(operations, screen)]),
      rank: 5,
      name: 'steps',
    },
    { forms: growing([notesText(beside, screen)]), rank: 4, name: 'problems' },
    { forms: volumesForms(sorted, said, screen), rank: 5, name: 'volumes' },
    { forms: [volumes.length > 1 || (also === '' && driver !== undefined) ? also : `\n${also}`], rank: 0 },
    ...(driver === undefined ? [{ forms: holdersForms(holders, screen), rank: 3, name: 'holders' }] : []),
    { forms: adviceForms(answer.advice, screen), rank: 2, name: 'what to do' },
    { forms: growing([rulesText(answer, screen)]), rank: 8, name: 'rules' },
    { forms: ['', '\n'], rank: 10 },
  ]
}

function holdersForms(holders: Explanation['holders'], screen: Screen): string[] {
  const line = holdersLine(holders, screen)
  return hasHolders(holders) ? [line, holdersText(holders, screen)] : [line]
}

/** What depends on a driver, counted, then by name; its sockets in the wide form alone have their paths. */
function driverForms(driver: Explanation['driver'], screen: Screen): string[] {
  if (driver === undefined) return ['']
  const depending = dependentsText(driver, screen)
  return [dependentsLine(driver, screen), depending, `${driverDetails(driver, screen)}${depending}`]
}

/** Nothing, then these. */
function growing(forms: readonly string[]): string[] {
  return forms.some((form) => form !== '') ? ['', ...forms] : ['']
}

function headText({ subject, node, createdAt, verdict, refused, complete }: Explanation, screen: Screen): string {
  const { paint, width } = screen
  return [
    wrapped('', `${subject.kind} ${subject.name} on node ${node}, as of ${seconds(createdAt)}`, width, paint.bold),
    wrapped('Verdict: ', verdictText(verdict), width, colourOf(verdict, paint)),
    refused === undefined ? '' : wrapped('Refused: ', refused.message, width, paint.bad),
    complete
      ? ''
      : wrapped('', 'Not complete: something that may matter could not be read; see the problems.', width, paint.warn),
  ].join('')
}

/** A time without the parts of its seconds. */
function seconds(time: string): string {
  return time.replace(/\.\d+/, '')
}

/** The one that matters, then all that have trouble, then all with a claim. */
function chainForms(answer: Explanation, sorted: readonly VolumeView[], screen: Screen): string[] {
  const { driver, chain } = answer
  const [first] = sorted
  if (driver !== undefined) {
    const title = `driver ${driver.name}`
    return [
      chainBlock(title, chainLines(chain, screen), screen),
      chainBlock(title, chainText(chain, screen, true), screen),
    ]
  }
  if (first === undefined) return ['']
  const tree = (view: VolumeView): string => chainBlock(titleOf(view), chainText(view.chain, screen, true), screen)
  const others = sorted.slice(1)
  const troubled = others.filter(({ verdict }) => verdict.state !== 'nothing')
  const claimed = others.filter((each) => each.verdict.state !== 'nothing' || each.chain.length > 1)
  return [
    chainBlock(titleOf(first), chainLines(chain, screen), screen),
    tree(first),
    ...[troubled, claimed].map((views) => [first, ...views].map(tree).join('')),
  ]
}

function titleOf({ volume }: VolumeView): string {
  return `volume ${volumeText(volume)}`
}

function chainBlock(title: string, links: string, { width, paint }: Screen): string {
  return links === '' ? '' : `\n${wrapped('', `Chain of ${title}:`, width, paint.bold)}${links}`
}

const FEW_PATHS = 3

/** A path that is nobody's volume's is all that there is to show. */
function placesForms(places: Explanation['places'], volumes: number, screen: Screen): string[] {
  if (places.length === 0) return ['']
  const some = pathsText(places.slice(0, FEW_PATHS), screen)
  const least = volumes > 0 ? '' : pathsText(places.slice(0, 1), screen)
  return [least, some, pathsText(places, screen)]
}

function pathsText(places: Explanation['places'], screen: Screen): string {
  return places.length === 0 ? '' : `\n${screen.paint.bold('Paths:')}\n${placesText(places, screen)}`
}

/** Of pods of one name each has to be told apart. */
function podsForms({ pods, subject }: Explanation, screen: Screen): string[] {
  if (pods.length === 0) return ['']
  const lines = pods.map(({ pod, class: name }) => wrapped('  ', `${pod.uid}: ${name}`, screen.width)).join('')
  const least = subject.kind === 'Pod' && pods.length > 1 ? `\n${screen.paint.bold('Pods:')}\n${lines}` : ''
  return [least, podsText(pods, screen)]
}

/** One with what is known of it; several in a line, then in a table. */
function volumesForms(
  volumes: readonly VolumeView[],
  said: Parameters<typeof volumeRows>[1],
  screen: Screen,
): string[] {
  const [only, ...others] = volumes
  if (only === undefined) return ['']
  if (others.length === 0) return ['', volumeRows(only, said, screen), volumeBlock(only, said, screen)]
  return [`\n${volumesSummary(volumes, screen)}`, `${volumesTable(volumes, screen)}\n`]
}

/** What is folded, as much of it as a line takes. */
function footText(missing: readonly string[], { paint, width }: Screen): string {
  const names = [...missing, 'decisions']
  const texts = names.map((_, index) => `-o wide shows all: ${firstFew(names, names.length - index).join(', ')}.`)
  const fitting = texts.find((text) => width === undefined || text.length <= width)
  return wrapped('', fitting ?? '-o wide shows all.', width, paint.dim)
}

/** The rules that were followed, in the order in which the answer comes to them; `wide` has those of the decisions too. */
function rulesText(answer: Explanation, { wide, paint, width }: Screen): string {
  const rules = rulesOf(answer, wide)
  if (rules.length === 0) return ''
  return `\n${wrapped('Rules: ', `${rules.join(', ')} (to read one: volctl explain ${rules[0]})`, width, paint.dim)}`
}

function rulesOf(answer: Explanation, wide: boolean): string[] {
  const { refused, verdict, pods, volumes, operations, waiting, decisions } = answer
  const parts = [verdict, ...pods, ...volumes.map((volume) => volume.verdict), ...operations, ...waiting]
  const all = [...(refused === undefined ? [] : [refused]), ...parts, ...(wide ? decisions : [])]
  return [...new Set(all.flatMap(({ rule }) => rule ?? []))]
}

function factsText(facts: readonly Fact[], { paint, width }: Screen): string {
  if (facts.length === 0) return ''
  const labels = Math.max(0, ...facts.map(({ label }) => label.length)) + 2
  const lines = facts.map(({ label, value, from }) => wrapped(`  ${label.padEnd(labels)}`, `${value} (${from})`, width))
  return `\n${paint.bold('Identity:')}\n${lines.join('')}`
}

function podsText(pods: readonly PodView[], { paint, width }: Screen): string {
  if (pods.length === 0) return ''
  const lines = pods.map(({ pod, class: name, why, phase, deletedAt, signsOfLife }) => {
    const details = [
      ...(phase === undefined ? [] : [phase]),
      ...(deletedAt === undefined ? [] : [`deleted at ${deletedAt}`]),
      ...(signsOfLife.length === 0 ? [] : [`signs of life: ${signsOfLife.join(', ')}`]),
    ]
    const uid = pod.name === undefined ? '' : ` (${pod.uid})`
    return [
      wrapped('  ', `${podText(pod)}${uid}`, undefined),
      wrapped('    ', `${name}: ${why}${details.length === 0 ? '' : `; ${details.join('; ')}`}`, width, paint.dim),
    ].join('')
  })
  return `\n${paint.bold(pods.length === 1 ? 'Pod:' : 'Pods:')}\n${lines.join('')}`
}

function decisionsText({ decisions }: Explanation, { paint, width }: Screen): string {
  if (decisions.length === 0) return ''
  const lines = decisions.map(
    ({ path, why }) => `${wrapped('  ', path, undefined)}${wrapped('    ', why, width, paint.dim)}`,
  )
  return `\n${paint.bold('Decisions:')}\n${lines.join('')}`
}

/** The first is what helps most; it is shown in any case. */
function adviceForms(advice: readonly Advice[], screen: Screen): string[] {
  const forms = advice.map((_, index) => adviceText(advice.slice(0, index + 1), screen))
  return forms.length === 0 ? [''] : forms
}

function adviceText(advice: readonly Advice[], { wide, paint, width }: Screen): string {
  if (advice.length === 0) return ''
  const lines = advice.map(({ text, code, meaning }) => {
    const about =
      code === undefined
        ? ''
        : wide && meaning !== undefined && meaning !== text
          ? `${code} (${meaning}): `
          : `${code}: `
    return wrapped('  - ', `${about}${text}`, width)
  })
  return `\n${paint.bold('What to do:')}\n${lines.join('')}`
}
