/** deploy/node-problem-detector/volctl-alerts.yaml: which node each alert is raised for, as Prometheus evaluates it. */
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { load } from 'js-yaml'
import { expect, it } from 'vitest'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'

const RULES = join(import.meta.dirname, '../../deploy/node-problem-detector/volctl-alerts.yaml')
interface Rule {
  readonly alert: string
  readonly annotations: Readonly<Record<string, string>>
}
const { groups } = load(readFileSync(RULES, 'utf8')) as { groups: readonly { readonly rules: readonly Rule[] }[] }
const alerts = groups.flatMap(({ rules }) => rules)

const hasPromtool = spawnSync('promtool', ['--version']).error === undefined
const directory = temporaryDirectory()

const series = (metric: string, node: string, values: string): object => ({
  series: `${metric}{job="node", instance="${node}"}`,
  values,
})
/** A sample a minute for two hours; each node's exporter answers, and has what lies in its directory of text files. */
const exporter = (node: string): object => series('node_textfile_scrape_error', node, '0x120')
const checked = (node: string, status: number): object[] => [
  exporter(node),
  series('volctl_check_status', node, `${status}x120`),
  series('volctl_check_timestamp_seconds', node, '0+60x120'),
]
const NODES = [
  ...checked('fine', 0),
  ...checked('broken', 1),
  ...checked('unread', 2),
  exporter('stale'),
  series('volctl_check_status', 'stale', '0x120'),
  series('volctl_check_timestamp_seconds', 'stale', '0x120'),
  exporter('never checked'),
]

const RAISED: Readonly<Record<string, readonly string[]>> = {
  VolumesUnhealthy: ['broken'],
  VolumesUnknown: ['unread'],
  VolctlCheckMissing: ['never checked', 'stale'],
}

it('each alert is tried', () => expect(alerts.map(({ alert }) => alert)).toEqual(Object.keys(RAISED)))

it.skipIf(!hasPromtool)('promtool: each alert is raised for its nodes alone (needs promtool)', () => {
  const firing = ({ alert, annotations }: Rule): object[] =>
    (RAISED[alert] ?? []).map((instance) => ({
      exp_labels: { severity: 'warning', job: 'node', instance },
      exp_annotations: Object.fromEntries(
        Object.entries(annotations).map(([name, text]) => [name, text.replace('{{ $labels.instance }}', instance)]),
      ),
    }))
  const test = {
    rule_files: [RULES],
    evaluation_interval: '1m',
    tests: [
      {
        interval: '1m',
        input_series: NODES,
        alert_rule_test: alerts.map((rule) => ({
          eval_time: '90m',
          alertname: rule.alert,
          exp_alerts: firing(rule),
        })),
      },
    ],
  }
  const path = join(directory, 'test.yaml')
  // JSON is YAML.
  writeFileSync(path, JSON.stringify(test))
  const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', path], { encoding: 'utf8' })
  expect({ status, said: `${stdout}${stderr}` }).toEqual({ status: 0, said: expect.stringContaining('SUCCESS') })
})
