/** What is wrong with a volume, the worst thing first; the plan's own words, so that status and plan agree. */
import type { BlockCode, Code } from '../codes/codes.ts'
import { defined } from '../lang/defined.ts'
import type { Problem, Severity } from '../plan/plan.ts'
import { podVerdict } from '../reconcile/decisions.ts'
import type { PodClass } from '../reconcile/pods/pod-classes.ts'
import type { SourceFindings } from './source-findings.ts'
import { type RowVerdict, VERDICT_STATES, type VerdictState } from './status.ts'
import type { StatusSource } from './status-source.ts'

type Found = Omit<RowVerdict, 'also'>

/** @param unjudged why the node was not planned; undefined: it was */
export function verdictOf(source: StatusSource, parts: SourceFindings, unjudged: string | undefined): RowVerdict {
  const found = [...allFound(parts), ...aboutPod(source.pod), ...notJudged(unjudged)].toSorted(
    (a, b) => rankOf(a.state) - rankOf(b.state),
  )
  const [worst, ...others] = found
  if (worst === undefined) return { state: 'good', ...goodBecause(source, parts), also: [] }
  const codes = others.flatMap(({ code }) => (code === undefined || code === worst.code ? [] : [code]))
  return { ...worst, also: [...new Set<Code>(codes)] }
}

export function rankOf(state: VerdictState): number {
  return VERDICT_STATES.indexOf(state)
}

function allFound({ operations, waiting, problems, decisions }: SourceFindings): Found[] {
  return [
    ...problems.flatMap(ofProblem),
    ...operations.map(({ kind, reason, message, rule, blocked }): Found => {
      if (blocked === undefined) return { state: 'operation', code: reason, message: `${kind}: ${message}`, rule }
      const { code, hint } = blocked
      const state = ASKED_FOR.has(code) ? 'notAsked' : 'blocked'
      return { state, code, message: `${kind} is blocked: ${blocked.message}`, ...defined({ hint }), rule }
    }),
    ...waiting.map(
      ({ kind, code, message, hint, rule }): Found => ({
        state: 'waiting',
        code,
        message: `${kind} waits: ${message}`,
        ...defined({ hint }),
        rule,
      }),
    ),
    ...decisions.flatMap(({ obstacle, rule }): Found[] =>
      obstacle === undefined ? [] : [{ state: 'unknown', ...obstacle, rule }],
    ),
  ]
}

/** Blocked for a flag that was not given, and for nothing else. */
const ASKED_FOR: ReadonlySet<BlockCode> = new Set(['NotAsked', 'DeletesData'])

const STATES: Readonly<Record<Severity, VerdictState | undefined>> = {
  error: 'error',
  warning: 'warning',
  // What is only noted is no reason to worry.
  info: undefined,
}

function ofProblem({ severity, code, message, hint }: Problem): Found[] {
  const state = STATES[severity]
  return state === undefined ? [] : [{ state, code, message, ...defined({ hint }) }]
}

/** S9: nothing is done about the volumes of a pod that ends, or may still run. */
function aboutPod(pod: PodClass | undefined): Found[] {
  if (pod?.class !== 'Frozen') return []
  const [rule, message] = podVerdict(pod)
  return [{ state: 'kept', ...defined({ code: pod.why?.code }), message, rule }]
}

function notJudged(why: string | undefined): Found[] {
  return why === undefined ? [] : [{ state: 'unknown', message: `not judged: ${why}`, rule: 'S3' }]
}

function goodBecause(source: StatusSource, { decisions }: SourceFindings): Pick<RowVerdict, 'message' | 'rule'> {
  const own = decisions.find(({ satisfied }) => satisfied !== undefined) ?? decisions[0]
  if (source.unused !== undefined) return { message: 'no container uses it, so the kubelet ignores it', rule: 'R105' }
  if (own !== undefined) return { message: own.satisfied ?? own.why, rule: own.rule }
  return { message: source.pod === undefined ? 'nothing of it is left to undo' : 'nothing is to be done' }
}
