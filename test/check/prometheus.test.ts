/** Gauges as the node exporter's textfile collector takes them. */
import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { checkOf, examine, failedCheck, gaugesOf, snakeCase } from '../../src/core/explain/check/check-node.ts'
import { decideNode } from '../../src/core/reconcile/plan-node.ts'
import { captureFiles, recorded } from '../helpers/captures.ts'
import { node } from '../helpers/node-builder.ts'
import { planOptions } from '../helpers/plan-options.ts'

const files = captureFiles()

async function gaugesIn(path: string): Promise<string> {
  const state = await recorded(path)
  const look = examine(decideNode(state, planOptions({ orphans: true })))
  return gaugesOf(checkOf(look), look)
}

const promtool = (text: string) => {
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' })
  return { status, said: `${stdout}${stderr}` }
}
const hasPromtool = spawnSync('promtool', ['--version']).error === undefined

/** Of each metric once, and together: HELP, TYPE and samples, which are numbers. To promtool any TYPE, none, and NaN are right. */
const GAUGES =
  /^(?:# HELP (\w+) (?![\s\S]*# HELP \1 )[^\\\n]+\n# TYPE \1 gauge\n(?:\1(?:\{(?:\w+="(?:[^"\\\n]|\\[\\"n])*",?)+\})? \d+\n)+)+$/

it.each(files)('%s: is gauges alone; what volctl writes into labels is in snake case', async (path) => {
  const text = await gaugesIn(path)
  expect(text).toMatch(GAUGES)
  expect(text).toContain('volctl_check_status ')
  const values = [...text.matchAll(/^volctl_(?!build_info).*\{\w+="(.*)"\}/gm)].map(([, value]) => value)
  expect(values.filter((value) => !/^[a-z]+(?:_[a-z]+)*$/.test(value ?? ''))).toEqual([])
})

it.each([
  ['deadMount', 'dead_mount'],
  ['NodeIsLost', 'node_is_lost'],
  ['NotAPlan', 'not_a_plan'],
  ['SELinuxMismatch', 'se_linux_mismatch'],
  ['waiting', 'waiting'],
])('%s is %s', (name, words) => expect(snakeCase(name)).toBe(words))

const FAILED = gaugesOf(failedCheck('x', '1.2.3'), undefined)

const EMPTY = examine(decideNode(node().build(), planOptions({ orphans: true })))

it('which volctl looked, and of what there is nothing of no line', () => {
  expect(FAILED).toMatch(GAUGES)
  expect(FAILED).toMatch(/\nvolctl_build_info\{version="1\.2\.3"\} 1\n/)
  expect(gaugesOf(checkOf(EMPTY), EMPTY)).not.toMatch(/volctl_operations|volctl_waiting|volctl_troubles/)
})

it.skipIf(!hasPromtool)('promtool check metrics finds nothing to say (needs promtool)', async () => {
  const gauges = await Promise.all(files.map(gaugesIn))
  for (const each of [...gauges, FAILED]) expect(promtool(each)).toEqual({ status: 0, said: '' })
})
