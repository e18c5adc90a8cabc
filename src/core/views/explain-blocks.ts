/** The plain blocks of an explanation: head, identity, pods, decisions, what to do, rules. */
import type { Advice, Explanation, Fact, PodView } from '../explain/explanation.ts'
import { colourOf, verdictText } from './explain-volumes.ts'
import type { Screen } from './screen.ts'
import { podText, seconds } from './words.ts'
import { wrapped } from './wrap.ts'

export function headText(
  { subject, node, createdAt, verdict, refused, complete }: Explanation,
  screen: Screen,
): string {
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

/** The rules that were followed, in the order in which the answer comes to them; `wide` has those of the decisions too. */
export function rulesText(answer: Explanation, { wide, paint, width }: Screen): string {
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

export function factsText(facts: readonly Fact[], { paint, width }: Screen): string {
  if (facts.length === 0) return ''
  const labels = Math.max(0, ...facts.map(({ label }) => label.length)) + 2
  const lines = facts.map(({ label, value, from }) => wrapped(`  ${label.padEnd(labels)}`, `${value} (${from})`, width))
  return `\n${paint.bold('Identity:')}\n${lines.join('')}`
}

export function podsText(pods: readonly PodView[], { paint, width }: Screen): string {
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

export function decisionsText({ decisions }: Explanation, { paint, width }: Screen): string {
  if (decisions.length === 0) return ''
  const lines = decisions.map(
    ({ path, why }) => `${wrapped('  ', path, undefined)}${wrapped('    ', why, width, paint.dim)}`,
  )
  return `\n${paint.bold('Decisions:')}\n${lines.join('')}`
}

export function adviceText(advice: readonly Advice[], { wide, paint, width }: Screen): string {
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
