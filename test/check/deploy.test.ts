/** deploy/node-problem-detector: the detector takes the files, and volctl the command lines in them. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Parser } from '@oclif/core'
import { load } from 'js-yaml'
import { describe, expect, it } from 'vitest'
import Check from '../../src/commands/check.ts'
import { parseDuration } from '../../src/core/cli/options.ts'

const FOLDER = join(import.meta.dirname, '../../deploy/node-problem-detector')
const read = (file: string): string => readFileSync(join(FOLDER, file), 'utf8')
const monitors = readdirSync(FOLDER).filter((file) => file.endsWith('.json'))

/** Flags as `volctl check` would have them; throws on one that it has not. */
async function flagsOf(args: readonly string[]): Promise<{ output: string; confirm?: string; timeout?: string }> {
  const [command, ...rest] = args
  expect(command).toBe('check')
  const { flags } = await Parser.parse([...rest], { flags: { ...Check.baseFlags, ...Check.flags }, strict: true })
  return flags as { output: string }
}

/** Of node-problem-detector's pkg/custompluginmonitor/types: all that a configuration can have. */
const FIELDS = {
  top: ['plugin', 'pluginConfig', 'source', 'metricsReporting', 'conditions', 'rules'],
  pluginConfig: [
    'invoke_interval',
    'timeout',
    'max_output_length',
    'concurrency',
    'enable_message_change_based_condition_update',
    'skip_initial_status',
  ],
  condition: ['type', 'reason', 'message'],
  rule: ['type', 'condition', 'reason', 'path', 'args', 'timeout', 'invoke_interval'],
}

it('there are two monitors', () => expect(monitors).toHaveLength(2))

describe.each(monitors)('%s', (file) => {
  const monitor = JSON.parse(read(file))
  const { pluginConfig, conditions, rules } = monitor

  it('has the fields that node-problem-detector knows, and no other', () => {
    const unknown = (value: object, known: readonly string[]): string[] =>
      Object.keys(value).filter((field) => !known.includes(field))
    expect([
      ...unknown(monitor, FIELDS.top),
      ...unknown(pluginConfig, FIELDS.pluginConfig),
      ...conditions.flatMap((each: object) => unknown(each, FIELDS.condition)),
      ...rules.flatMap((each: object) => unknown(each, FIELDS.rule)),
    ]).toEqual([])
    expect(monitor.plugin).toBe('custom')
  })

  it('is valid by its rules: times, and a default condition for each permanent one', () => {
    parseDuration(String(pluginConfig.invoke_interval), 'invoke_interval')
    expect(pluginConfig.max_output_length).toBe(80)
    for (const { type, condition, reason, path, timeout } of rules) {
      expect(parseDuration(timeout, 'timeout')).toBeLessThanOrEqual(parseDuration(pluginConfig.timeout, 'timeout'))
      expect(type).toBe('permanent')
      expect(conditions).toContainEqual(expect.objectContaining({ type: condition }))
      expect(reason).toMatch(/^[A-Z][A-Za-z]+$/)
      expect(path).toMatch(/^\/.*\/volctl$/)
    }
  })

  it('volctl takes the command line, and ends before it is killed', async () => {
    for (const { args, timeout } of rules) {
      const { timeout: own = '', confirm = '' } = await flagsOf(args)
      expect(parseDuration(own, '--timeout')).toBeLessThan(parseDuration(timeout, 'timeout'))
      expect(parseDuration(confirm, '--confirm')).toBeLessThan(parseDuration(own, '--timeout') / 2)
    }
  })
})

it('the service of the timer: volctl takes the command line, and its answers are no failures', async () => {
  const unit = read('volctl-metrics.service')
  const [, line = ''] = /^ExecStart=.*\/volctl ([^>]*) >/m.exec(unit) ?? []
  const flags = await flagsOf(line.split(' '))
  expect(flags).toMatchObject({ output: 'prometheus' })
  const [, limit = ''] = /^TimeoutStartSec=(\d+)$/m.exec(unit) ?? []
  expect(parseDuration(flags.timeout ?? '', '--timeout')).toBeLessThan(Number(limit) * 1000)
  expect(unit).toMatch(/^SuccessExitStatus=1 2$/m)
})

it('the patch gives the container what --host-root needs', () => {
  const patch = load(read('daemonset-patch.yaml')) as { spec: { template: { spec: Record<string, never> } } }
  const { hostPID, containers, volumes } = patch.spec.template.spec as never as {
    hostPID: boolean
    containers: { volumeMounts: { name: string; mountPath: string }[] }[]
    volumes: { name: string }[]
  }
  expect(hostPID).toBe(true)
  const mounts = containers[0]?.volumeMounts ?? []
  expect(mounts.map(({ name }) => name).toSorted()).toEqual(volumes.map(({ name }) => name).toSorted())
  const { rules } = JSON.parse(read('volctl-monitor-container.json'))
  expect(rules[0]?.args).toContain(`--host-root=${mounts[0]?.mountPath}`)
  expect(mounts.some(({ mountPath }) => rules[0]?.path.startsWith(mountPath))).toBe(true)
})
