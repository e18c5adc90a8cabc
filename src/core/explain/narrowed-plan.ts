/** The plan of a node narrowed to what is asked about, with the command that does just that. */
import { type Given, withAdvice } from '../plan/next-steps.ts'
import type { Operation, Plan } from '../plan/plan.ts'
import { readyAmong, summaryOf } from '../plan/plan-summary.ts'
import { namedAmong } from '../reconcile/context/filter-operations.ts'
import type { Concern } from './concern.ts'

/** @param what as it was asked: a next step that asks it again is none */
export function narrowedPlan(plan: Plan, concern: Concern, what: string, given: Given): Plan {
  const own = new Set([...concern.before, ...concern.operations])
  const operations = plan.operations.filter((operation) => own.has(operation))
  const { waiting, problems } = concern
  const named = new Set([
    ...operations.map(({ blocked }) => blocked?.cause),
    ...[...waiting, ...problems].map(({ cause }) => cause),
  ])
  const causes = (plan.summary.causes ?? []).filter(({ key }) => named.has(key))
  const parts = { operations, waiting, problems }
  const summary = { ...summaryOf(parts, 0), causes }
  const advised = withAdvice<Plan>(
    { ...plan, ...parts, summary },
    { ...given, words: [...given.words, ...scopeWords(operations, plan)] },
  )
  const next = advised.summary.next?.filter(({ command }) => plan.refused !== undefined || !isAskedAgain(command, what))
  const { next: _, ...rest } = advised.summary
  return { ...advised, summary: next === undefined || next.length === 0 ? rest : { ...rest, next } }
}

/** What is asked about is explained already; what its driver is, is another question. */
function isAskedAgain(command: string, what: string): boolean {
  const [, again] = /^volctl explain (\S+)/.exec(command) ?? []
  return again !== undefined && !(again.startsWith('driver/') && !again.endsWith(`/${what}`) && again !== what)
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
