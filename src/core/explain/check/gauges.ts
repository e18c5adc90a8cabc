/** The state of a node in numbers, in Prometheus' text format 0.0.4, for the node exporter's textfile collector. */
import { counted } from '../../base/count.ts'
import { CSI_PLUGIN } from '../../facts/actual/volume-names.ts'
import type { Status } from '../status/status.ts'
import { CHECK_STATUS, type Check, type Look } from './check-node.ts'

type Counts = Readonly<Partial<Record<string, number>>>

/** Gauges only, as one look knows no rates: what plan and status count. @param look absent: the node could not be looked at */
export function gaugesOf({ status, createdAt, volctlVersion }: Check, look: Look | undefined): string {
  const at = createdAt === undefined ? Date.now() : Date.parse(createdAt)
  const version = labelsText({ version: volctlVersion })
  return [
    gauge('volctl_build_info', 'The volctl that looked. Always 1.', { [version]: 1 }),
    gauge('volctl_check_status', 'Result of volctl check: 0 ok, 1 not ok, 2 unknown.', CHECK_STATUS[status]),
    gauge('volctl_check_timestamp_seconds', 'When the node was looked at.', Math.round(at / 1000)),
    ...(look === undefined ? [] : nodeGauges(look)),
  ].join('')
}

function nodeGauges({ decided: { plan }, status, troubles }: Look): string[] {
  const { rows, complete, kubelet, summary } = status
  const longestMs = Math.max(0, ...troubles.map(({ forMs = 0 }) => forMs))
  const codes = counted(plan.waiting.map(({ code }) => code))
  const severities = counted(plan.problems.map(({ severity }) => severity))
  return [
    gauge('volume_manager_total_volumes', 'Number of volumes in Volume Manager', totalVolumes(rows)),
    gauge('volctl_volumes', 'Volumes by verdict of volctl status.', by('verdict', summary.verdicts)),
    gauge('volctl_troubles', 'What volctl check counts.', by('kind', counted(troubles.map(({ kind }) => kind)))),
    gauge('volctl_longest_wait_seconds', 'Of the pod that waits longest.', Math.round(longestMs / 1000)),
    gauge('volctl_operations', 'Operations of volctl plan --orphans.', by('kind', plan.summary.operations)),
    gauge('volctl_blocked_operations', 'Those of them that are blocked.', plan.summary.blocked),
    gauge('volctl_waiting', 'What waits for somebody else.', by('code', codes)),
    gauge('volctl_problems', 'Problems that volctl plan reports.', by('severity', severities)),
    gauge('volctl_plan_complete', '1 if everything that may matter could be read, else 0.', complete ? 1 : 0),
    gauge('volctl_kubelet_running', '1 if a kubelet runs on this node, else 0.', kubelet.state === 'running' ? 1 : 0),
  ]
}

/**
 * As the kubelet counts: volumes of pods that are wanted, and that are certainly mounted; of a CSI volume the plugin's name has the
 * driver's behind it (upstream: pkg/kubelet/volumemanager/metrics).
 */
function totalVolumes(rows: Status['rows']): Counts {
  const ofPods = rows.filter(({ pod }) => pod !== undefined)
  const labels = ({ volume: { plugin, driver } }: Status['rows'][number], state: string): string => {
    const known = plugin === 'unknown' ? 'N/A' : plugin
    return labelsText({
      plugin_name: plugin === CSI_PLUGIN && driver !== undefined ? `${plugin}:${driver}` : known,
      state,
    })
  }
  return counted([
    ...ofPods.filter(({ desired }) => desired === 'wanted').map((row) => labels(row, 'desired_state_of_world')),
    ...ofPods.filter(({ mounted }) => mounted === 'VolumeMounted').map((row) => labels(row, 'actual_state_of_world')),
  ])
}

function by(label: string, counts: Counts): Counts {
  return Object.fromEntries(Object.entries(counts).map(([key, n]) => [labelsText({ [label]: snakeCase(key) }), n]))
}

/** @param of a number, or one for each set of labels; without any, nothing of its kind is on the node */
function gauge(name: string, help: string, of: number | Counts): string {
  const counts = Object.entries(typeof of === 'number' ? { '': of } : of).toSorted(([a], [b]) => (a < b ? -1 : 1))
  const samples = counts.map(([labels, value]) => `${name}${labels} ${value}\n`)
  return samples.length === 0 ? '' : `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${samples.join('')}`
}

/** Names of drivers and plugins come from outside: nothing in them may end the value or the line. */
function labelsText(labels: Readonly<Record<string, string>>): string {
  const escaped = (value: string): string => value.toWellFormed().replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n')
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`)
  return `{${pairs.join(',')}}`
}

/** Word by word, as labels of Prometheus are written: "deadMount" and "DeadMount" are "dead_mount". */
export function snakeCase(name: string): string {
  return name.replace(/(?<=[a-z0-9])[A-Z]|(?<=[A-Z])[A-Z](?=[a-z])/g, '_$&').toLowerCase()
}
