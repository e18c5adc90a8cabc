/** What the person should do: the hints of what applies, else of its codes, and the command that does the rest. */
import { type BlockCode, CODES, type Code } from '../codes/codes.ts'
import { defined } from '../lang/defined.ts'
import { isPlainWord } from '../lang/plain-word.ts'
import type { Operation, Plan, PlanOptions, Problem } from '../plan/plan.ts'
import { namedAmong } from '../reconcile/context/filter-operations.ts'
import type { Concern } from './concern.ts'
import type { Advice, Verdict } from './explanation.ts'

/**
 * What must be seen to first stands first: what refuses all, and errors, that of the verdict before the others. What can be done at
 * once comes before what somebody has to see to.
 *
 * @param clues what follows from the objects themselves, whatever is planned
 */
export function adviceOn(
  concern: Concern,
  plan: Plan,
  options: PlanOptions,
  { urgent, more }: AdviceClues,
  verdict: Verdict,
): Advice[] {
  const first = plan.refused?.code ?? verdict.code
  const said = hintsOf(concern, plan).toSorted((a, b) => Number(b.code === first) - Number(a.code === first))
  const errors = errorCodes(concern, plan)
  const [before, after] = [true, false].map((isError) => said.filter(({ code }) => errors.has(code) === isError))
  return [...(before ?? []), ...urgent, ...commandsOf(concern, plan, options), ...(after ?? []), ...more]
}

export interface AdviceClues {
  /** Nothing else is of use before. */
  readonly urgent: readonly Advice[]
  readonly more: readonly Advice[]
}

/** An answer about something of a node or of a cluster. */
interface Advised {
  readonly advice: readonly Advice[]
  readonly problems: readonly Pick<Problem, 'severity' | 'code'>[]
  readonly refused?: { readonly code: Code }
}

/** How many of the advices come before everything else that volctl or a person could do. */
export function leadingAdvice({ advice, problems, refused }: Advised): number {
  const errors = errorCodes({ problems }, defined({ refused }))
  const end = advice.findIndex(({ code }) => !errors.has(code))
  return end === -1 ? advice.length : end
}

function errorCodes(
  { problems }: Pick<Advised, 'problems'>,
  { refused }: Pick<Advised, 'refused'>,
): ReadonlySet<Code | undefined> {
  const errors = problems.filter(({ severity }) => severity === 'error').map(({ code }): Code => code)
  return new Set(refused === undefined ? errors : [refused.code, ...errors])
}

function hintsOf({ operations, before, waiting, problems, decisions }: Concern, plan: Plan): Advice[] {
  const { refused } = plan
  const all = [...before, ...operations]
  const errors = problems.filter(({ severity }) => severity === 'error')
  const obstacles = [
    ...all.flatMap(({ blocked }) => blocked ?? []),
    ...waiting,
    ...decisions.flatMap(({ obstacle }) => obstacle ?? []),
    ...problems.filter(({ severity }) => severity === 'warning'),
  ]
  // What only follows from something else, or says nothing of what to do, is left out where something does.
  const causes = obstacles.filter(({ code, hint }) => hint !== undefined && !CONSEQUENCES.has(code))
  const worst = [...(refused === undefined ? [] : [refused]), ...errors]
  const hints = [...worst, ...(causes.length > 0 || worst.length > 0 ? causes : obstacles)].map(({ code, hint }) => ({
    text: hint ?? CODES[code].next,
    code,
    meaning: CODES[code].means,
  }))
  return distinct(hints)
}

function commandsOf({ operations, before }: Concern, plan: Plan, options: PlanOptions): Advice[] {
  const runnable = [...before, ...operations].filter(({ blocked }) => blocked === undefined)
  if (runnable.length === 0 || plan.refused !== undefined) return []
  return [{ text: commandFor(runnable, plan, options) }]
}

const CONSEQUENCES: ReadonlySet<Code> = new Set<BlockCode>(['Predecessor'])

/** The same advice once, under the code that comes first. */
function distinct(advice: readonly Advice[]): Advice[] {
  return [...Map.groupBy(advice, ({ text }) => text).values()].flatMap(([first]) => first ?? [])
}

/** The narrowest scope that has all of them and nothing else. */
function commandFor(wanted: readonly Operation[], { operations }: Plan, options: PlanOptions): string {
  const guards = flagsText(options)
  const byId = new Map(operations.map((operation) => [operation.id, operation]))
  const only = scopes(wanted).find((scope) => {
    const named = namedAmong(operations, scope, ({ after }) => after.flatMap((id) => byId.get(id) ?? []))
    const chosen = operations.filter((operation) => operation.blocked === undefined && named.has(operation))
    return chosen.length === wanted.length && wanted.every((each) => chosen.includes(each))
  })
  if (guards === undefined) return 'volctl apply with the flags given here carries this out; review volctl plan first.'
  if (only === undefined) {
    const [pod, ...others] = new Set(wanted.flatMap((each) => each.pod?.uid ?? []))
    const own = pod === undefined || others.length > 0 || !isPlainWord(pod) ? '' : ` --pod ${pod}`
    return own === ''
      ? `volctl apply${guards} carries this out, with the rest of the plan; review volctl plan${guards} first.`
      : `volctl apply${guards}${own} carries out the pod's own part, volctl apply${guards} all, with the rest of the plan; review volctl plan${guards} first.`
  }
  const flags = [
    ...only.pods.map((pod) => ` --pod ${pod}`),
    ...only.volumes.map((volume) => ` --volume ${volume}`),
  ].join('')
  return `volctl plan${guards}${flags} shows just this, volctl apply${guards}${flags} carries it out.`
}

interface NamedScope {
  readonly pods: readonly string[]
  readonly volumes: readonly string[]
}

function scopes([first]: readonly Operation[]): NamedScope[] {
  const { name, uniqueName } = { ...first?.volume }
  const pods = [first?.pod?.uid].filter((each) => each !== undefined).filter(isPlainWord)
  const volumes = [name, uniqueName].filter((each) => each !== undefined).filter(isPlainWord)
  return [
    ...pods.map((pod) => ({ pods: [pod], volumes: [] })),
    ...volumes.map((volume) => ({ pods: [], volumes: [volume] })),
    ...pods.flatMap((pod) => volumes.map((volume) => ({ pods: [pod], volumes: [volume] }))),
  ]
}

/** The flags under which this is the answer; undefined where one is not to be written into a command. */
function flagsText(options: PlanOptions): string | undefined {
  const { orphans, remount, expand, driverGone, handles, devices = {}, foreignPods = [] } = options
  const { forceUnmount, lazy, acceptOutage, acceptIdentity = [], acceptInsecureApi } = options
  const values = [
    ...driverGone.map((each) => ['--driver-gone', each]),
    ...Object.entries(handles).map(([volume, handle]) => ['--handle', `${volume}=${handle}`]),
    ...Object.entries(devices).map(([volume, device]) => ['--device', `${volume}=${device}`]),
    ...forceUnmount.map((each) => ['--force-unmount', each]),
    ...lazy.map((each) => ['--lazy', each]),
    ...foreignPods.map((each) => ['--foreign-pod', each]),
    ...acceptIdentity.map((each) => ['--accept-identity', each]),
    ...(acceptOutage === undefined ? [] : [['--accept-outage', `${acceptOutage}`]]),
  ]
  if (values.some(([, value = '']) => !isPlainWord(value))) return undefined
  const switches = [
    ...[orphans ? ' --orphans' : '', remount ? ' --remount' : '', expand ? ' --expand' : ''],
    acceptInsecureApi === true ? ' --accept-insecure-api' : '',
  ]
  return [...switches, ...values.map(([flag, value]) => ` ${flag} ${value}`)].join('')
}
