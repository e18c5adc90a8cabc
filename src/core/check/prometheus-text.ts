/** Prometheus' text format, version 0.0.4: what the node exporter's textfile collector reads. */
import type { Gauge } from './gauges.ts'

/** A gauge without samples is left out: nothing of its kind is on the node. */
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
