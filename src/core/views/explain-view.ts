/**
 * The answer of `volctl explain` on a screen: the worst first, the chain in few lines, then the answer narrowed to
 * the thing, and the next step last. `wide` has all that is known.
 */

import { alike, inSeconds, present, take } from '../base/text.ts'
import type { CodeExplanation } from '../explain/explain-code.ts'
import type { Explanation, Fact, HoldersView, PodView, ProcessView } from '../explain/explanation.ts'
import { byWorst } from '../explain/verdict.ts'
import { advice, type Hint, partsOf, volctl } from '../messages/command.ts'
import { podTextIn } from '../plan/names.ts'
import type { Plan } from '../plan/plan.ts'
import { podAndContainer, podNameAndUid } from '../volumes/pods.ts'
import { type Answer, type Need, withoutRoot } from './answer/answer.ts'
import { answerOf } from './answer/make-answer.ts'
import { needRows, renderAnswer } from './answer-view.ts'
import { chainText, colourOf, placesText, volumeBlock, volumeRows, volumesSummary } from './explain-parts.ts'
import { operationsTable } from './operations-table.ts'
import { type Screen, sentence, volumeText, wrapped } from './screen.ts'

/** @param place the node on which its commands are typed, if that is not here */
export function renderExplanation(explanation: Explanation, screen: Screen, place?: string): string {
  const { subject, identity, volumes, places, holders, chain, verdict, notes } = explanation
  const [first, ...others] = byWorst(volumes)
  const plan = planOnNode(explanation)
  const podText = podTextIn(plan)
  const answer = answerOf(plan, podText)
  const { wide, width, paint } = screen
  const says = saysOf(explanation)
  // What the first line says is not said again below.
  const said = saidBy(explanation, answer)
  const shown: Answer = {
    ...answer,
    needs: answer.needs.filter((need) => need !== said),
    notes: [...notes, ...answer.notes].filter((note) => note !== says),
    counts: verdict.state === 'nothing' ? '' : answer.counts,
  }
  const isPlanned = verdict.state === 'nothing' || verdict.state === 'operation'
  const code = isPlanned ? undefined : verdict.code
  const more = present(
    ...(wide
      ? [
          factsText(identity, screen),
          placesText(places, screen),
          podsText(explanation.pods, screen),
          subject.kind === 'Driver' && chainText(chain, screen),
          ...volumes.map((volume) => volumeBlock(volume, screen)),
          operationsTable(plan, podText, screen),
        ]
      : [
          others.length > 0 && volumesSummary(volumes, screen),
          first !== undefined && others.length === 0 && volumeRows(first, screen),
        ]),
    holdersText(holders, screen),
    code && wrapped('', advice`Code: ${code} (${volctl('explain', code)})`, width, paint.dim),
  )
  return renderAnswer(shown, screen, {
    unfolded: wide,
    most: 2,
    place,
    header: headerText(explanation, screen, place, answer),
    more,
  })
}

function planOnNode(explanation: Explanation): Plan {
  return { ...explanation, kind: 'Plan', scope: 'node' }
}

function saysOf({ verdict, rootDir }: Explanation): string {
  return withoutRoot(verdict.message, rootDir)
}

function saidBy(explanation: Explanation, { needs }: Answer): Need | undefined {
  return needs.find(({ text }) => text === saysOf(explanation))
}

/** The verdict, the chain in few lines, and what lifts what the verdict says, or would end a wait sooner that ends without anybody. */
export function headerText(
  explanation: Explanation,
  screen: Screen,
  place?: string,
  answer = answerOf(planOnNode(explanation)),
): string {
  const { subject, node, createdAt, volumes, chain, verdict, summary } = explanation
  const { wide, width, paint } = screen
  const [first, ...others] = byWorst(volumes)
  const title = `${subject.kind} ${subject.name} on node ${node}`
  const how = verdict.state === 'blocked' ? ' is stuck' : verdict.state === 'waiting' ? ' waits' : ''
  const headline = `${title}${wide ? `, as of ${inSeconds(createdAt)}` : ''}${how}: ${saysOf(explanation)}`
  const links = wide ? '' : chainText(chain, screen, subject.kind === 'Pod')
  const isOfOne = links !== '' && others.length > 0 && first !== undefined && subject.kind !== 'Driver'
  const passing = summary.causes?.find(({ severity, code }) => severity === 'info' && code === verdict.code)
  const { remedy = (verdict.state === 'waiting' && passing?.remedy) || [], ...said } = saidBy(explanation, answer) ?? {}
  const typedAt = (way: Hint): Hint =>
    place !== undefined && partsOf(way).some((part) => typeof part !== 'string')
      ? advice`on node ${place}: ${way}`
      : way
  return [
    wrapped('', headline, width, colourOf(verdict, paint)),
    isOfOne ? wrapped('  ', `Volume ${volumeText(first.volume)}:`, width) : '',
    links,
    needRows({ blocks: [], ...said, remedy: remedy.map(typedAt) }, screen),
  ].join('')
}

/** Nothing without lines. */
function block(title: string, lines: readonly string[], { paint }: Screen): string {
  return lines.length === 0 ? '' : `${paint.bold(title)}\n${lines.join('')}`
}

function factsText(facts: readonly Fact[], screen: Screen): string {
  const labels = Math.max(0, ...facts.map(({ label }) => label.length)) + 2
  const lines = facts.map(({ label, value, from }) =>
    wrapped(`  ${label.padEnd(labels)}`, `${value} (${from})`, screen.width),
  )
  return block('Identity:', lines, screen)
}

function podsText(pods: readonly PodView[], screen: Screen): string {
  const { paint, width } = screen
  const lines = pods.map(({ pod, class: name, why, phase, deletedAt, signsOfLife }) => {
    const details = present(
      `${name}: ${why}`,
      phase,
      deletedAt && `deleted at ${deletedAt}`,
      signsOfLife.length > 0 && `signs of life: ${signsOfLife.join(', ')}`,
    )
    return `${wrapped('  ', podNameAndUid(pod), undefined)}${wrapped('    ', details.join('; '), width, paint.dim)}`
  })
  return block(pods.length === 1 ? 'Pod:' : 'Pods:', lines, screen)
}

const MOST_HOLDERS = 4
const MOST_PATHS = 4

/** In a line or two the first few, by name; wide: each with what it holds. */
export function holdersText(holders: HoldersView, screen: Screen, indent = ''): string {
  const { known, processes, namespaces, loops, kernel, notes } = holders
  const { paint, width, wide } = screen
  const held = (what: string, paths: readonly string[]): string =>
    wide ? `; ${what} ${take([...new Set(paths)], MOST_PATHS, 'and ').join(', ')}` : ''
  const found = [
    ...processes.map((each) => {
      const holds = alike(each.holds, ({ what }) => what).map((own) => {
        const paths = own.map(({ path }) => path)
        return held(own[0].what, paths)
      })
      return `${nameOf(each)}${holds.join('')}`
    }),
    ...namespaces.map((each) => `mount namespace of ${nameOf(each)}${held('mounted on', each.mountPoints)}`),
    ...loops.map(({ device, backingFile }) => `${device}, backed by ${backingFile}`),
    ...kernel,
  ]
  if (known && found.length === 0) found.push(notes.length === 0 ? 'nobody' : 'nobody, as far as visible')
  const lines = [...found, ...notes].map((text) => wrapped('  ', text, width))
  if (wide) return block('Held by:', lines, screen)
  const few = take(found, MOST_HOLDERS, 'and ')
  return few.length === 0 ? '' : wrapped(`${indent}${paint.bold('Held by:')} `, [...few, ...notes].join('; '), width)
}

function nameOf({ command, pid, container, pod }: Omit<ProcessView, 'holds'>): string {
  const of = pod === undefined ? '' : `, ${podAndContainer({ pod, container })}`
  return `${command} (pid ${pid})${of}`
}

// A code, whatever node this is.

export function renderCode({ code, meaning, appears, next, rules }: CodeExplanation, { paint, width }: Screen): string {
  const label = rules.length === 1 ? 'Rule:        ' : 'Rules:       '
  return [
    `${paint.bold(code)}\n\n`,
    wrapped('Meaning:     ', sentence(meaning), width),
    ...appears.map(({ in: place, says }, index) =>
      wrapped(index === 0 ? 'Appears in:  ' : CODE_INDENT, `${place}: ${says}`, width),
    ),
    wrapped('What to do:  ', next, width),
    rules.length === 0 ? '' : wrapped(label, rules.join(', '), width, paint.dim),
  ].join('')
}

const CODE_INDENT = ' '.repeat(13)
