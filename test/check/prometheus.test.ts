/** Gauges as the node exporter's textfile collector takes them: by an own, strict reading of the format, and by promtool. */
import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { checkOf, examine, failedCheck, gaugesOf, snakeCase } from '../../src/core/explain/check/check-node.ts'
import { planWithDecisions } from '../../src/core/reconcile/decisions.ts'
import { captureFiles, recorded } from '../helpers/captures.ts'
import { node } from '../helpers/node-builder.ts'
import { planOptions } from '../helpers/plan-options.ts'

const files = captureFiles()

async function gaugesIn(path: string): Promise<string> {
  const state = await recorded(path)
  const look = examine(planWithDecisions(state, planOptions({ orphans: true })))
  return gaugesOf(checkOf(look), look)
}

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*'
const LABEL = String.raw`[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[\\"n])*"`
const LINES = {
  help: new RegExp(String.raw`^# HELP (${NAME}) (?:[^\\\n]|\\[\\n])+$`),
  type: new RegExp(`^# TYPE (${NAME}) gauge$`),
  sample: new RegExp(String.raw`^(${NAME})(\{${LABEL}(?:,${LABEL})*\})? (-?\d+(?:\.\d+)?)$`),
}

/** What is wrong with a text; of each metric HELP, TYPE and samples stand together, no sample twice. */
function defectsOf(text: string): string[] {
  const defects: string[] = []
  const seen = new Set<string>()
  let current: { name: string; typed: boolean } | undefined
  if (!text.endsWith('\n')) defects.push('the last line has no end')
  for (const line of text.trimEnd().split('\n')) {
    const help = LINES.help.exec(line)?.[1]
    const type = LINES.type.exec(line)?.[1]
    const [, name, labels = ''] = LINES.sample.exec(line) ?? []
    if (help !== undefined) {
      if (seen.has(help)) defects.push(`${help} twice`)
      seen.add(help)
      current = { name: help, typed: false }
    } else if (type !== undefined && current?.name === type && !current.typed) current.typed = true
    else if (name !== undefined && current?.name === name && current.typed) {
      if (seen.has(name + labels) && labels !== '') defects.push(`twice: ${line}`)
      seen.add(name + labels)
    } else defects.push(`not understood here: ${line}`)
  }
  return defects
}

it.each(files)(
  '%s: is read whole by a strict reader; what volctl writes into labels is in snake case',
  async (path) => {
    const text = await gaugesIn(path)
    expect(defectsOf(text)).toEqual([])
    expect(text).toContain('volctl_check_status ')
    const values = [...text.matchAll(/^volctl_(?!build_info).*\{\w+="(.*)"\}/gm)].map(([, value]) => value)
    expect(values.filter((value) => !/^[a-z]+(?:_[a-z]+)*$/.test(value ?? ''))).toEqual([])
  },
)

it('counts volumes as a kubelet does, by plugin and driver', async () => {
  const text = await gaugesIn('healthy/node.json')
  expect(text).toContain(
    'volume_manager_total_volumes{plugin_name="kubernetes.io/csi:loop.pg.test",state="desired_state_of_world"} 6\n',
  )
  const total = (state: string): number =>
    [...text.matchAll(new RegExp(`^volume_manager_total_volumes\\{.*state="${state}"\\} (\\d+)$`, 'gm'))].reduce(
      (sum, [, value]) => sum + Number(value),
      0,
    )
  expect(total('actual_state_of_world')).toBe(total('desired_state_of_world'))
})

it.each([
  ['deadMount', 'dead_mount'],
  ['NodeIsLost', 'node_is_lost'],
  ['NotAPlan', 'not_a_plan'],
  ['SELinuxMismatch', 'se_linux_mismatch'],
  ['waiting', 'waiting'],
])('%s is %s', (name, words) => expect(snakeCase(name)).toBe(words))

const FAILED = gaugesOf(failedCheck('x', '1.2.3'), undefined)

const EMPTY = examine(planWithDecisions(node().build(), planOptions({ orphans: true })))

it('which volctl looked, and of what there is nothing of no line', () => {
  expect(FAILED).toMatch(/\nvolctl_build_info\{version="1\.2\.3"\} 1\n/)
  expect(gaugesOf(checkOf(EMPTY), EMPTY)).not.toMatch(/volctl_operations|volctl_waiting|volctl_troubles/)
})

it('what comes from outside ends neither value nor line', () => {
  const row = { pod: { uid: 'u' }, desired: 'wanted', volume: { plugin: 'a"b\\c\nd{}=,é\ud800' } }
  const text = gaugesOf(checkOf(EMPTY), { ...EMPTY, status: { ...EMPTY.status, rows: [row as never] } })
  expect(text).toContain('{plugin_name="a\\"b\\\\c\\nd{}=,é\ufffd",state="desired_state_of_world"} 1\n')
  expect(defectsOf(text)).toEqual([])
})

it.each([
  'x 1',
  '# TYPE x gauge\nx 1\n',
  '# HELP x y\n# TYPE x counter\nx 1\n',
  '# HELP x y\n# TYPE x gauge\nx{a="b} 1\n',
])('the strict reader refuses %j', (text) => expect(defectsOf(text)).not.toEqual([]))

const promtool = (text: string) => spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' })
const hasPromtool = spawnSync('promtool', ['--version']).error === undefined

it.skipIf(!hasPromtool)('promtool check metrics finds nothing to say (needs promtool)', async () => {
  for (const gauges of [await gaugesIn('stuck/after.json'), await gaugesIn('recreate/before.json'), FAILED]) {
    const { status, stdout, stderr } = promtool(gauges)
    expect({ status, said: `${stdout}${stderr}` }).toEqual({ status: 0, said: '' })
  }
  expect(promtool('# TYPE x_total gauge\nx_total 1\n').status).not.toBe(0)
})
