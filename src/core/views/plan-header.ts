import type { Plan, PlanInputs } from '../plan/plan.ts'
import type { Palette } from './palette.ts'
import { terminalSafe } from './terminal-safe.ts'
import { count } from './words.ts'

/**
 * What a person must have seen before saying yes (S31): which cluster and as whom, whether this is the machine that
 * the Node object describes, what the kubelet is doing, how many pods of the node are orphaned, which rules are not judged.
 */
export function planHeader(plan: Plan, paint: Palette): string {
  const { inputs } = plan
  const rows: [string, string][] = [
    ['Node', nodeText(plan, paint)],
    ['Root', `${terminalSafe(plan.rootDir)} (${count(inputs.actual.mounts, 'mount')} in the mount table)`],
    ['API', apiText(inputs.api, paint)],
    ['Kubelet', kubeletText(inputs.kubelet, paint)],
    ['Runtime', `${terminalSafe(inputs.runtime.source)}, ${count(inputs.runtime.pods, 'pod')}`],
    ['Pods', podsText(inputs, paint)],
    ...inputs.unjudged.map(({ message }): [string, string] => ['Not judged', paint.warn(terminalSafe(message))]),
  ]
  return rows.map(([label, text]) => `${`${label}:`.padEnd(12)}${text}\n`).join('')
}

function nodeText({ node, bootID, inputs: { machine } }: Plan, paint: Palette): string {
  const differs = (machine.contradictions ?? []).map(({ field, accepted }) => (accepted ? `${field}, accepted` : field))
  const but = differs.length === 0 ? '' : `; different: ${differs.join('; ')}`
  const matches = machine.matches
    ? `${paint.good('matches the Node object')}${paint.warn(but)}`
    : paint.bad(`NOT proven to be the machine of this Node object${but}`)
  const boot = machine.bootID ?? bootID
  return `${terminalSafe(node)} (${matches}${boot === undefined ? '' : `; boot ${terminalSafe(boot)}`})`
}

function apiText(api: PlanInputs['api'], paint: Palette): string {
  const user = api.user === undefined ? '' : ` as ${api.user}`
  const version = api.resourceVersion === undefined ? '' : `, pods at resource version ${api.resourceVersion}`
  const server = terminalSafe(`${api.server === '' ? 'not read' : api.server}${user}${version}`)
  const { insecure, secondLookInsecure } = api
  const doubts = [
    insecure === undefined ? [] : INSECURE[insecure],
    secondLookInsecure === undefined ? [] : `with the kubelet's credential: ${INSECURE[secondLookInsecure]}`,
  ].flat()
  return doubts.length === 0 ? server : `${server} ${paint.bad(`(${doubts.join('; ')})`)}`
}

const INSECURE = {
  TlsNotVerified: 'certificate not verified: anyone on the network path could answer',
  PlainHttp: 'plain http: anyone on the network path could read the credential, and answer',
} as const

const KUBELET = {
  running: 'running',
  mayReturn: 'down, but may come back',
  stopped: 'stopped',
  unknown: 'unknown',
} as const

function kubeletText({ state, note, unit }: PlanInputs['kubelet'], paint: Palette): string {
  const text = state === 'stopped' ? KUBELET[state] : paint.warn(KUBELET[state])
  const more = note ?? unit
  return more === undefined ? text : `${text} (${terminalSafe(more)})`
}

function podsText({ pods, actual }: PlanInputs, paint: Palette): string {
  const orphaned = `${pods.gone} orphaned`
  return [
    `${pods.listed} in the API`,
    count(actual.podDirs, 'pod directory', 'pod directories'),
    pods.gone > 0 ? paint.bold(orphaned) : orphaned,
  ].join(', ')
}
