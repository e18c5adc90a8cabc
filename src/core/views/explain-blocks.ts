/** Parts of an explanation on a screen: what it is, the pods, the planner's own words. */
import type { Explanation, Fact, PodView } from '../explain/explanation.ts'
import type { Screen } from './screen.ts'
import { podText } from './words.ts'
import { wrapped } from './wrap.ts'

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
