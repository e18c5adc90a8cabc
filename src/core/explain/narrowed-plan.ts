/** The plan of a node narrowed to what is asked about, with the command that does just that. */
import { type Given, withAdvice } from '../plan/next-steps.ts'
import { partOf } from '../plan/part-of-plan.ts'
import type { Operation, Plan } from '../plan/plan.ts'
import { readyAmong } from '../plan/plan-summary.ts'
import { namedAmong } from '../reconcile/context/filter-operations.ts'
import type { Concern } from './concern.ts'

/** @param what as it was asked: a next step that asks it again is none */
export function narrowedPlan(plan: Plan, concern: Concern, what: string, given: Given): Plan {
  const { before, operations, waiting, problems } = concern
  const part = partOf(plan, new Set<object>([...before, ...operations, ...waiting, ...problems]), 0)
  const words = [...given.words, ...scopeWords(part.operations, plan)]
  const { next = [], ...summary } = withAdvice(part, { ...given, words }).summary
  const steps = next.filter(({ command }) => plan.refused !== undefined || !isAskedAgain(command, what))
  return { ...part, summary: { ...summary, ...(steps.length > 0 && { next: steps }) } }
}

/** What is asked about is explained already; what its driver is, is another question. */
function isAskedAgain(command: string, what: string): boolean {
  const [, again] = /^volctl explain (\S+)/.exec(command) ?? []
  if (again === undefined) return false
  return !again.startsWith('driver/') || again === what || again === `driver/${what}`
}

/** Flags with which a plan has all that is ready among these and nothing else; none: the whole plan is the narrowest. */
function scopeWords(operations: readonly Operation[], plan: Plan): string[] {
  const ready = readyAmong(operations)
  const wanted = operations.filter(({ id }) => ready.has(id))
  const { pod, volume } = wanted[0] ?? {}
  const pods = pod === undefined ? [] : [pod.uid]
  const volumes = [volume?.name, volume?.uniqueName].flatMap((name) => name ?? [])
  const scopes = [
    ...pods.map((each) => ({ pods: [each], volumes: [] })),
    ...volumes.map((each) => ({ pods: [], volumes: [each] })),
    ...pods.flatMap((uid) => volumes.map((each) => ({ pods: [uid], volumes: [each] }))),
  ]
  const all = plan.operations
  const byId = new Map(all.map((operation) => [operation.id, operation]))
  const isReady = readyAmong(all)
  const found = scopes.find((scope) => {
    const chosen = namedAmong(all, scope, ({ after }) => after.flatMap((id) => byId.get(id) ?? []))
    const named = [...chosen].filter(({ id }) => isReady.has(id))
    return named.length === wanted.length && wanted.every((each) => chosen.has(each))
  })
  return [
    ...(found?.pods ?? []).flatMap((each) => ['--pod', each]),
    ...(found?.volumes ?? []).flatMap((each) => ['--volume', each]),
  ]
}
