/**
 * The rules in deploy/node-problem-detector, run as the detector's custom plugin monitor runs them: each in a process group of its
 * own, as many at once as `concurrency` says; killed with its group after the shorter of both timeouts; of each output 4 KiB are
 * read, to its end; standard output is trimmed and cut by bytes; 0 is ok, 1 not ok, all else unknown.
 *
 * @see node-problem-detector, pkg/custompluginmonitor/plugin/plugin.go
 */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { parseDuration } from '../../src/core/base/duration.ts'
import { TEST_BUNDLE } from '../helpers/volctl-program.ts'
import { type CheckedNode, startCheckedNode } from './checked-node.ts'

interface Rule {
  readonly args: readonly string[]
  readonly timeout: string
}

interface Monitor {
  readonly pluginConfig: { readonly timeout: string; readonly max_output_length: number; readonly concurrency: number }
  readonly rules: readonly Rule[]
}

const MONITOR = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../deploy/node-problem-detector/volctl-monitor.json'), 'utf8'),
) as Monitor

const MOST_BYTES = 4096

interface Answer {
  readonly status: 'ok' | 'notOk' | 'unknown'
  readonly message: string
  readonly stderr: string
  readonly killed: boolean
}

/** All rules of a monitor, as many at once as it says. */
async function runRules({ pluginConfig, rules }: Monitor, env: NodeJS.ProcessEnv): Promise<Answer[]> {
  const answers: Answer[] = []
  const left = [...rules.entries()]
  const worker = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift())
      answers[next[0]] = await run(next[1], pluginConfig, env)
  }
  await Promise.all(Array.from({ length: pluginConfig.concurrency }, worker))
  return answers
}

async function run(rule: Rule, config: Monitor['pluginConfig'], env: NodeJS.ProcessEnv): Promise<Answer> {
  // The path of the rule is where volctl is installed on a node.
  const child = spawn(TEST_BUNDLE, rule.args, { detached: true, stdio: ['ignore', 'pipe', 'pipe'], env })
  const outputs = [child.stdout, child.stderr].map((stream) => firstBytes(stream))
  let killed = false
  const limit = Math.min(parseDuration(rule.timeout, ''), parseDuration(config.timeout, ''))
  const timer = setTimeout(() => {
    killed = true
    process.kill(-(child.pid ?? 0), 'SIGKILL')
  }, limit)
  const ended = new Promise<number | null>((resolve) => child.on('exit', resolve))
  // A process that outlives volctl with its standard output open would keep the detector waiting here.
  const [stdout = '', stderr = ''] = await Promise.all(outputs)
  const code = await ended
  clearTimeout(timer)
  const message = Buffer.from(stdout.trim()).subarray(0, config.max_output_length).toString()
  return { status: code === 0 ? 'ok' : code === 1 ? 'notOk' : 'unknown', message, stderr, killed }
}

async function firstBytes(stream: NodeJS.ReadableStream): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks).subarray(0, MOST_BYTES).toString()
}

let node: CheckedNode
beforeAll(async () => {
  node = await startCheckedNode()
})
afterAll(() => node[Symbol.asyncDispose]())

const here = (): NodeJS.ProcessEnv => ({ ...process.env, ...node.env })

/** The monitor with these flags, in the place of its own ones of the same names. */
function withFlags(flags: readonly string[], change: Partial<Rule> = {}): Monitor {
  const names = flags.map((flag) => flag.split('=')[0])
  const own = ({ args }: Rule): string[] => args.filter((arg) => !names.includes(arg.split('=')[0]))
  return { ...MONITOR, rules: MONITOR.rules.map((rule) => ({ ...rule, ...change, args: [...own(rule), ...flags] })) }
}

it('not ok: the second look follows sooner than on a node', async () => {
  const answers = await runRules(withFlags(['--confirm=50ms']), here())
  expect(answers).toHaveLength(MONITOR.rules.length)
  for (const { status, message, killed } of answers) {
    expect({ status, killed }).toEqual({ status: 'notOk', killed: false })
    expect(message).toMatch(/^not ok: .*orphaned pod/)
  }
})

it('killed with its group: nothing is left that keeps the detector waiting', async () => {
  const monitor = withFlags([`--kubeconfig=${node.kubeconfig(node.silentPort)}`], { timeout: '800ms' })
  const [answer] = await runRules(monitor, here())
  expect(answer).toMatchObject({ status: 'unknown', killed: true })
})
