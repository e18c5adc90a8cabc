import { count } from '../base/count.ts'
import { apiDoubts } from '../plan/insecure-api.ts'
import { KUBELET_STATES } from '../plan/kubelet-units.ts'
import type { Plan, PlanInputs } from '../plan/plan.ts'
import type { Palette, Screen } from './screen.ts'

import { wrapped } from './wrap.ts'

/**
 * What a person must have seen before saying yes (S31): which cluster and as whom, whether this is the machine that
 * the Node object describes, what the kubelet is doing, how many pods of the node are orphaned, which rules are not judged.
 */
export function planHeader(plan: Plan, screen: Screen): string {
  const { inputs } = plan
  const { paint } = screen
  const rows: readonly Line[] = [
    { label: 'Node', ...nodeText(plan, paint) },
    { label: 'Root', text: `${plan.rootDir} (${count(inputs.actual.mounts, 'mount')} in the mount table)` },
    { label: 'API', ...apiText(inputs.api, paint) },
    { label: 'Kubelet', ...kubeletText(inputs.kubelet, paint) },
    { label: 'Runtime', text: `${inputs.runtime.source}, ${count(inputs.runtime.pods, 'pod')}` },
    { label: 'Pods', ...podsText(inputs, paint) },
    ...inputs.unjudged.map(({ message }) => ({ label: 'Not judged', text: message, colour: paint.warn })),
  ]
  return headerText(rows, screen)
}

export function headerText(rows: readonly Line[], { width }: Screen): string {
  return rows.map(({ label, text, colour }) => wrapped(`${label}:`.padEnd(12), text, width, colour)).join('')
}

interface Line {
  readonly label: string
  readonly text: string
  /** Of the whole text: what a person must not overlook. */
  readonly colour?: ((text: string) => string) | undefined
}

type Text = Omit<Line, 'label'>

function nodeText({ node, bootID, inputs: { machine } }: Plan, paint: Palette): Text {
  const differs = (machine.contradictions ?? []).map(({ field, accepted }) => (accepted ? `${field}, accepted` : field))
  const but = differs.length === 0 ? '' : `; different: ${differs.join('; ')}`
  const matches = machine.matches
    ? `matches the Node object${but}`
    : `NOT proven to be the machine of this Node object${but}`
  const boot = machine.bootID ?? bootID
  return {
    text: `${node} (${matches}${boot === undefined ? '' : `; boot ${boot}`})`,
    colour: machine.matches ? (but === '' ? undefined : paint.warn) : paint.bad,
  }
}

/** Which server, as whom, and why another could have answered. */
export function apiText(api: PlanInputs['api'], paint: Palette): Text {
  const user = api.user === undefined ? '' : ` as ${api.user}`
  const version = api.resourceVersion === undefined ? '' : `, pods at resource version ${api.resourceVersion}`
  const server = `${api.server === '' ? 'not read' : api.server}${user}${version}`
  const doubts = apiDoubts(api)
  return doubts.length === 0 ? { text: server } : { text: `${server} (${doubts.join('; ')})`, colour: paint.bad }
}

function kubeletText({ state, note, unit }: PlanInputs['kubelet'], paint: Palette): Text {
  const more = note ?? unit
  return {
    text: `${KUBELET_STATES[state]}${more === undefined ? '' : ` (${more})`}`,
    colour: state === 'stopped' ? undefined : paint.warn,
  }
}

function podsText({ pods, actual }: PlanInputs, paint: Palette): Text {
  const text = [
    `${pods.listed} in the API`,
    count(actual.podDirs, 'pod directory', 'pod directories'),
    `${pods.gone} orphaned`,
  ].join(', ')
  return { text, colour: pods.gone > 0 ? paint.bold : undefined }
}
