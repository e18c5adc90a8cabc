/** The state of a node in numbers, for Prometheus: gauges only, as one look knows no rates. */

import { CSI_PLUGIN } from '../names/volume-names.ts'
import { VERDICT_STATES } from '../plan/verdict-states.ts'
import type { Decided } from '../reconcile/decisions.ts'
import type { Status } from '../status/status.ts'
import { CHECK_STATUS, type CheckStatus } from './judge.ts'
import { TROUBLE_KINDS, type Trouble } from './troubles.ts'

export interface Gauge {
  readonly name: string
  readonly help: string
  readonly samples: readonly Sample[]
}

interface Sample {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

const one = (value: number): readonly Sample[] => [{ labels: {}, value }]

/** Which volctl made the file: always 1. @param commit of the sources that it was built from */
export function buildInfo(version: string, commit: string): Gauge {
  return {
    name: 'volctl_build_info',
    help: 'The volctl that looked: its version, and the commit that it was built from. Always 1.',
    samples: [{ labels: { version, commit }, value: 1 }],
  }
}

/** How the check ended: all that is known where it failed. @param at milliseconds since the epoch */
export function outcomeGauges(status: CheckStatus, at: number): Gauge[] {
  return [
    {
      name: 'volctl_check_status',
      help: 'Result of volctl check: 0 ok, 1 not ok, 2 unknown.',
      samples: one(CHECK_STATUS[status]),
    },
    {
      name: 'volctl_check_timestamp_seconds',
      help: 'When the node was looked at, in seconds since the epoch.',
      samples: one(Math.round(at / 1000)),
    },
  ]
}

/** @param troubles as they are counted by volctl check */
export function nodeGauges({ plan, context }: Decided, status: Status, troubles: readonly Trouble[]): Gauge[] {
  const { rows, complete } = status
  const waits = troubles.flatMap(({ forMs }) => forMs ?? [])
  return [
    {
      name: 'volume_manager_total_volumes',
      help: 'Number of volumes in Volume Manager',
      samples: totalVolumes(status),
    },
    {
      name: 'volctl_volumes',
      help: 'Volumes of pods, and staged, mapped or attached ones, as volctl plan --orphans judges them.',
      samples: VERDICT_STATES.map((verdict) => ({
        labels: { verdict: snakeCase(verdict) },
        value: rows.filter((row) => row.verdict.state === verdict).length,
      })),
    },
    {
      name: 'volctl_uncertain_volumes',
      help: 'Volumes that may be mounted (state pod) or staged (state node), as evidence is missing.',
      samples: [
        { labels: { state: 'pod' }, value: rows.filter(({ mounted }) => mounted === 'VolumeMountUncertain').length },
        {
          labels: { state: 'node' },
          value: rows.filter(({ pod, staged }) => pod === undefined && staged === 'DeviceMountUncertain').length,
        },
      ],
    },
    {
      name: 'volctl_volumes_in_use',
      help: 'Volumes that the kubelet should report in use (computed), and those that the status of the Node lists (reported).',
      samples: inUse(status),
    },
    {
      name: 'volctl_pods',
      help: 'Pods of this node by class: desired, frozen (left alone), finished, gone (orphaned).',
      samples: (['Desired', 'Frozen', 'Finished', 'Gone'] as const).map((name) => ({
        labels: { class: snakeCase(name) },
        value: context.classes.all.filter((pod) => pod.class === name).length,
      })),
    },
    {
      name: 'volctl_troubles',
      help: 'What volctl check counts, by kind.',
      samples: TROUBLE_KINDS.map((kind) => ({
        labels: { kind: snakeCase(kind) },
        value: troubles.filter((each) => each.kind === kind).length,
      })),
    },
    {
      name: 'volctl_longest_wait_seconds',
      help: 'For how long the pod that waits longest has waited for a volume, or to terminate.',
      samples: one(Math.round(waits.reduce((longest, each) => Math.max(longest, each), 0) / 1000)),
    },
    {
      name: 'volctl_operations',
      help: 'Operations that volctl plan --orphans shows, by kind, and whether they are blocked.',
      samples: counted(
        plan.operations.map(({ kind, blocked }) => ({ kind: snakeCase(kind), blocked: `${blocked !== undefined}` })),
      ),
    },
    {
      name: 'volctl_waiting',
      help: 'What waits for the kubelet, the attach/detach controller or another party, by kind and code.',
      samples: counted(plan.waiting.map(({ kind, code }) => ({ kind: snakeCase(kind), code: snakeCase(code) }))),
    },
    {
      name: 'volctl_problems',
      help: 'Problems that volctl plan reports, by severity and code.',
      samples: counted(plan.problems.map(({ severity, code }) => ({ severity, code: snakeCase(code) }))),
    },
    {
      name: 'volctl_plan_complete',
      help: '1 if everything that may matter could be read, else 0.',
      samples: one(complete ? 1 : 0),
    },
    {
      name: 'volctl_kubelet_running',
      help: '1 if a kubelet runs on this node, else 0.',
      samples: one(status.kubelet.state === 'running' ? 1 : 0),
    },
  ]
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
function inUse({ rows }: Status): Sample[] {
  return (['computed', 'reported'] as const).map((by) => ({
    labels: { by },
    value: new Set(rows.flatMap(({ inUse: use, volume }) => (use?.[by] ? (volume.uniqueName ?? []) : []))).size,
  }))
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
