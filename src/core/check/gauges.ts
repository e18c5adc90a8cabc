/** The state of a node in numbers, for Prometheus: gauges only, as one look knows no rates. */
import { CSI_PLUGIN } from '../names/volume-names.ts'
import { VERDICT_STATES } from '../plan/verdict-states.ts'
import type { Status } from '../status/status.ts'
import { CHECK_STATUS, type Check, type Look, TROUBLE_KINDS } from './check-node.ts'

export interface Gauge {
  readonly name: string
  readonly help: string
  readonly samples: readonly Sample[]
}

interface Sample {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

function gauge(name: string, help: string, samples: readonly Sample[] | number): Gauge {
  return { name, help, samples: typeof samples === 'number' ? [{ labels: {}, value: samples }] : samples }
}

/** A sample for each of the names, also where nothing has it. */
function forEach<Name extends string>(label: string, names: readonly Name[], value: (name: Name) => number): Sample[] {
  return names.map((name) => ({ labels: { [label]: snakeCase(name) }, value: value(name) }))
}

/**
 * @param look absent: the node could not be looked at
 * @param commit of the sources that this volctl was built from
 */
export function gaugesOf(check: Check, look: Look | undefined, commit: string): Gauge[] {
  const at = check.createdAt === undefined ? Date.now() : Date.parse(check.createdAt)
  return [
    gauge(
      'volctl_build_info',
      'The volctl that looked: its version, and the commit that it was built from. Always 1.',
      [{ labels: { version: check.volctlVersion, commit }, value: 1 }],
    ),
    gauge('volctl_check_status', 'Result of volctl check: 0 ok, 1 not ok, 2 unknown.', CHECK_STATUS[check.status]),
    gauge(
      'volctl_check_timestamp_seconds',
      'When the node was looked at, in seconds since the epoch.',
      Math.round(at / 1000),
    ),
    ...(look === undefined ? [] : nodeGauges(look)),
  ]
}

function nodeGauges({ decided: { plan, context }, status, troubles }: Look): Gauge[] {
  const { rows, complete, kubelet } = status
  const longestMs = troubles.reduce((longest, { forMs = 0 }) => Math.max(longest, forMs), 0)
  return [
    gauge('volume_manager_total_volumes', 'Number of volumes in Volume Manager', totalVolumes(status)),
    gauge(
      'volctl_volumes',
      'Volumes of pods, and staged, mapped or attached ones, as volctl plan --orphans judges them.',
      forEach('verdict', VERDICT_STATES, (name) => many(rows, ({ verdict }) => verdict.state === name)),
    ),
    gauge(
      'volctl_uncertain_volumes',
      'Volumes that may be mounted (state pod) or staged (state node), as evidence is missing.',
      forEach('state', ['pod', 'node'], (name) =>
        many(rows, ({ pod, mounted, staged }) =>
          name === 'pod' ? mounted === 'VolumeMountUncertain' : pod === undefined && staged === 'DeviceMountUncertain',
        ),
      ),
    ),
    gauge(
      'volctl_volumes_in_use',
      'Volumes that the kubelet should report in use (computed), and those that the status of the Node lists (reported).',
      forEach('by', ['computed', 'reported'], (by) => volumesInUse(status, by)),
    ),
    gauge(
      'volctl_pods',
      'Pods of this node by class: desired, frozen (left alone), finished, gone (orphaned).',
      forEach('class', ['Desired', 'Frozen', 'Finished', 'Gone'], (name) =>
        many(context.classes.all, (pod) => pod.class === name),
      ),
    ),
    gauge(
      'volctl_troubles',
      'What volctl check counts, by kind.',
      forEach('kind', TROUBLE_KINDS, (name) => many(troubles, ({ kind }) => kind === name)),
    ),
    gauge(
      'volctl_longest_wait_seconds',
      'For how long the pod that waits longest has waited for a volume, or to terminate.',
      Math.round(longestMs / 1000),
    ),
    gauge(
      'volctl_operations',
      'Operations that volctl plan --orphans shows, by kind, and whether they are blocked.',
      counted(
        plan.operations.map(({ kind, blocked }) => ({ kind: snakeCase(kind), blocked: `${blocked !== undefined}` })),
      ),
    ),
    gauge(
      'volctl_waiting',
      'What waits for the kubelet, the attach/detach controller or another party, by kind and code.',
      counted(plan.waiting.map(({ kind, code }) => ({ kind: snakeCase(kind), code: snakeCase(code) }))),
    ),
    gauge(
      'volctl_problems',
      'Problems that volctl plan reports, by severity and code.',
      counted(plan.problems.map(({ severity, code }) => ({ severity, code: snakeCase(code) }))),
    ),
    gauge('volctl_plan_complete', '1 if everything that may matter could be read, else 0.', complete ? 1 : 0),
    gauge('volctl_kubelet_running', '1 if a kubelet runs on this node, else 0.', kubelet.state === 'running' ? 1 : 0),
  ]
}

function many<T>(all: readonly T[], isOne: (each: T) => boolean): number {
  return all.filter(isOne).length
}

/**
 * As the kubelet counts: volumes of pods that are wanted, and that are certainly mounted; of a CSI volume the plugin's name has the
 * driver's behind it (upstream: pkg/kubelet/volumemanager/metrics).
 */
function totalVolumes({ rows }: Status): Sample[] {
  const samples = rows.flatMap(({ pod, volume: { plugin, driver }, desired, mounted }) => {
    if (pod === undefined) return []
    const name =
      plugin === CSI_PLUGIN && driver !== undefined ? `${plugin}:${driver}` : plugin === 'unknown' ? 'N/A' : plugin
    return [
      ...(desired === 'wanted' ? [{ plugin_name: name, state: 'desired_state_of_world' }] : []),
      ...(mounted === 'VolumeMounted' ? [{ plugin_name: name, state: 'actual_state_of_world' }] : []),
    ]
  })
  return counted(samples)
}

/** A volume counts once, however many pods have it. */
function volumesInUse({ rows }: Status, by: 'computed' | 'reported'): number {
  return new Set(rows.flatMap(({ inUse, volume }) => (inUse?.[by] ? (volume.uniqueName ?? []) : []))).size
}

/** In the order of their labels. */
function counted(labels: readonly Readonly<Record<string, string>>[]): Sample[] {
  const groups = Map.groupBy(labels, (each) => JSON.stringify(each))
  return [...groups]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([, alike]) => (alike[0] === undefined ? [] : [{ labels: alike[0], value: alike.length }]))
}

/**
 * Prometheus' text format, version 0.0.4: what the node exporter's textfile collector reads.
 * A gauge without samples is left out: nothing of its kind is on the node.
 */
export function prometheusText(gauges: readonly Gauge[]): string {
  return gauges
    .filter(({ samples }) => samples.length > 0)
    .map(({ name, help, samples }) =>
      [
        `# HELP ${name} ${escapeHelp(help)}\n`,
        `# TYPE ${name} gauge\n`,
        ...samples.map(({ labels, value }) => `${name}${labelsText(labels)} ${value}\n`),
      ].join(''),
    )
    .join('')
}

function labelsText(labels: Readonly<Record<string, string>>): string {
  const parts = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`)
  return parts.length === 0 ? '' : `{${parts.join(',')}}`
}

function escapeHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
}

/** Names of drivers and plugins come from outside: nothing in them may end the value or the line. */
function escapeLabel(text: string): string {
  return escapeHelp(text.toWellFormed()).replaceAll('"', '\\"')
}

/** Word by word, as labels of Prometheus are written: "deadMount" and "DeadMount" are "dead_mount". */
export function snakeCase(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    .toLowerCase()
}
