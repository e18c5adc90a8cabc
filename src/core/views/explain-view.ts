/**
 * The answer of `volctl explain` on a screen. The verdict comes first and what to do near the end, where a terminal shows it.
 * The normal form is at most a screen: what gives way first is what the last line names. `wide` has all of it.
 */
import type { Advice, Explanation, VolumeView } from '../explain/explanation.ts'
import { byWorst } from '../explain/matters-most.ts'
import { adviceText, decisionsText, factsText, headText, podsText, rulesText } from './explain-blocks.ts'
import { chainLines, chainText } from './explain-chain.ts'
import { dependentsLine, dependentsText, driverDetails } from './explain-driver.ts'
import { hasHolders, holdersLine, holdersText } from './explain-holders.ts'
import { notesBeside, notesLine, notesText } from './explain-notes.ts'
import { operationsText, operationTitles } from './explain-operations.ts'
import { placesText } from './explain-places.ts'
import { volumeBlock, volumeRows, volumesSummary, volumesTable } from './explain-volumes.ts'
import type { Part } from './fit-parts.ts'
import { foldedScreen } from './folded-screen.ts'
import type { Screen } from './screen.ts'
import { volumeText } from './words.ts'
import { wrapped } from './wrap.ts'

export function renderExplanation(answer: Explanation, screen: Screen): string {
  if (screen.wide) return wideText(answer, screen)
  return foldedScreen(partsOf(answer, screen), screen, ['decisions'])
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
      : [chainBlock(`driver ${driver.name}`, chainText(answer.chain, screen, 'full'), screen)]),
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
    { forms: identityForms(answer, screen), rank: 9, name: 'identity' },
    { forms: placesForms(places, volumes.length, screen), rank: 7, name: 'paths' },
    // No one volume is what a question about a node is about.
    subject.kind === 'Node'
      ? { forms: growing(chainForms(answer, sorted, screen)), rank: 8, name: 'chains' }
      : { forms: chainForms(answer, sorted, screen), rank: 1, ahead: 1, name: 'chains' },
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
    ...(driver === undefined && subject.kind !== 'Node'
      ? [{ forms: holdersForms(holders, screen), rank: 3, name: 'holders' }]
      : []),
    { forms: adviceForms(answer.advice, screen), rank: 2, name: 'what to do' },
    { forms: growing([rulesText(answer, screen)]), rank: 8, name: 'rules' },
    { forms: ['', '\n'], rank: 10 },
  ]
}

const FEW_FACTS = 4

/** Of a node the facts are what was asked for. */
function identityForms({ identity, subject }: Explanation, screen: Screen): string[] {
  const text = factsText(identity, screen)
  return subject.kind === 'Node' ? [factsText(identity.slice(0, FEW_FACTS), screen), text] : growing([text])
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

/** The one that matters, then all that have trouble, then all with a claim. */
function chainForms(answer: Explanation, sorted: readonly VolumeView[], screen: Screen): string[] {
  const { driver, chain } = answer
  const [first] = sorted
  if (driver !== undefined) {
    const title = `driver ${driver.name}`
    return [
      chainBlock(title, chainLines(chain, screen, 'folded'), screen),
      chainBlock(title, chainText(chain, screen, 'folded'), screen),
    ]
  }
  if (first === undefined) return ['']
  const form = answer.subject.kind === 'Pod' ? 'ofPod' : 'folded'
  const tree = (view: VolumeView): string => chainBlock(titleOf(view), chainText(view.chain, screen, form), screen)
  const others = sorted.slice(1)
  const troubled = others.filter(({ verdict }) => verdict.state !== 'nothing')
  const claimed = others.filter((each) => each.verdict.state !== 'nothing' || each.chain.length > 1)
  return [
    chainBlock(titleOf(first), chainLines(chain, screen, 'ofPod'), screen),
    chainBlock(titleOf(first), chainText(chain, screen, 'ofPod'), screen),
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
  const summaries = [false, true].map((named) => `\n${volumesSummary(volumes, screen, named)}`)
  return [...summaries, `${volumesTable(volumes, screen)}\n`]
}

/** The first is what helps most; it is shown in any case. */
function adviceForms(advice: readonly Advice[], screen: Screen): string[] {
  const forms = advice.map((_, index) => adviceText(advice.slice(0, index + 1), screen))
  return forms.length === 0 ? [''] : forms
}
