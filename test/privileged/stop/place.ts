/**
 * A node whose kubelet is a unit of a real systemd and answers on its health port, beside a staged volume that it has forgotten:
 * what `volctl apply --stop-kubelet` is for. The built volctl runs in systemd's namespaces.
 */
import { type ChildProcess, type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { afterAll, beforeAll } from 'vitest'
import type { ApplyResult, KubeletDowntime } from '../../../src/core/plan/events.ts'
import { kernelTextIfAny } from '../../../src/core/trust/kernel.ts'
import { endOf } from '../../helpers/apply-plan.ts'
import { sweep, temporary } from '../../helpers/left-behind.ts'
import type { Result } from '../../helpers/run-main.ts'
import { unmountBelow } from '../../helpers/scenario.ts'
import { until } from '../../helpers/until.ts'
import { VOLCTL } from '../../helpers/volctl-program.ts'
import { named, unitText } from '../systemd/kubelet-unit.ts'
import { startSystemd, UNITS } from '../systemd/start.ts'
import { environment, NODE, nodeObject, startNode } from '../trust/node.ts'
import { familyOf } from '../trust/watched-run.ts'

export const UNIT = 'kubelet.service'
export const TIMER = 'volctl-start-kubelet.timer'
export const STARTER = 'volctl-start-kubelet.service'
export const RUNS = { kubelet: 'active', timer: 'not-found' }
export const WHOLE = ['begin', 'stop', 'start, runs', 'end']

const DEVICE = 'plugins/kubernetes.io/flexvolume/v/d/mounts/x'

export interface Run {
  /** nsenter(1), which has volctl as its child. */
  readonly child: ChildProcess
  /** What it said on standard error so far. */
  said(): string
  /** Until it has said what is asked for, or has ended. */
  saying(holds: () => boolean): Promise<unknown>
  readonly ended: Promise<Result>
}

export type StopPlace = Awaited<ReturnType<typeof startStopPlace>>

/** With a time that is short, and still long enough for two looks on a busy machine. */
export const QUICK = ['--settle', '1s', '--max-downtime', '20s']

/** For what systemd does on a machine on which all else is busy. */
export const PATIENCE_MS = 60_000

/** One for the tests of a group, each of which begins with a reset. */
export function stopPlaceForAll(): () => StopPlace {
  let place: StopPlace
  beforeAll(async () => {
    place = await startStopPlace(temporary('volctl-stop-'))
  })
  afterAll(async () => {
    await place[Symbol.asyncDispose]()
    unmountBelow(place.directory)
    sweep(place.directory)
  })
  return () => place
}

async function startStopPlace(directory: string) {
  const node = await startNode(directory, 'none')
  const booted = await startSystemd(directory)
  const port = await freePort()
  const health = `${directory}/health.cjs`
  // One process, as a kubelet is: it ends as a whole where the unit's KillMode spares all others. Node.js renames it.
  writeFileSync(
    health,
    `require('fs').writeFileSync('/proc/self/comm', 'kubelet')
require('http').createServer((_, answer) => answer.end('ok')).listen(${port}, '127.0.0.1')
`,
  )
  const kubelet = named(directory, 'kubelet', process.execPath)
  const device = `${node.root}/${DEVICE}`
  /** Runs a program in systemd's namespaces. */
  const inside = (...args: readonly string[]): SpawnSyncReturns<string> => {
    const [program = '', ...rest] = place.systemd.inside
    return spawnSync(program, [...rest, ...args], { encoding: 'utf8' })
  }
  const place = {
    directory,
    node,
    systemd: booted,
    inside,
    /** The kubelet's command line. @param before what its shell runs first */
    command: (before = '') =>
      `/bin/bash -c '${before}exec ${kubelet} ${health} ${node.flags().join(' ')} --healthz-port=${port}'`,
    /** Writes a unit anew, and starts it anew. @param more lines of its section Service */
    restart: (command: string, more?: string) => {
      place.systemd.unit(UNIT, unitText(command, more))
      place.systemd.systemctl('restart', UNIT)
    },
    /** Removes a unit that was written. */
    remove: (unit: string) => {
      rmSync(`${UNITS}/${unit}`)
      place.systemd.systemctl('daemon-reload')
    },
    /** Mounts the forgotten volume, if it is not mounted. */
    forget: () => {
      if (place.isMounted()) return
      mkdirSync(device, { recursive: true })
      inside('mount', '-t', 'tmpfs', 'tmpfs', device)
    },
    isMounted: () => inside('mountpoint', '-q', device).status === 0,
    /** `active`, `inactive`, …; of the timer also `not-found`. */
    state: (unit = UNIT) => {
      const shown = inside('systemctl', 'show', '--value', '--property=LoadState,ActiveState', unit).stdout.trim()
      const [load, active = ''] = shown.split('\n')
      return load === 'not-found' ? load : active
    },
    /** Words of a command line of apply on this node. */
    words: (...flags: readonly string[]) => [
      ...['apply', '--stop-kubelet', '--driver-gone', 'v/d', '--root-dir', node.root, '--node', NODE],
      ...(flags.includes('--kubeconfig') ? [] : ['--kubeconfig', node.api.kubeconfig('admin')]),
      ...flags,
    ],
    /** Starts a program there; `run` has volctl as its child. */
    start: (...command: readonly string[]): Run => {
      const [program = '', ...rest] = [...place.systemd.inside, ...command]
      const child = spawn(program, rest, { stdio: ['ignore', 'pipe', 'pipe'], env: environment(directory) })
      const said = { stdout: '', stderr: '' }
      for (const name of ['stdout', 'stderr'] as const) {
        child[name].setEncoding('utf8').on('data', (text: string) => {
          said[name] += text
        })
      }
      const ended = once(child, 'close').then(([status]) => ({
        status: (status as number | null) ?? undefined,
        ...said,
      }))
      const saying = (holds: () => boolean): Promise<unknown> => {
        const heard = new Promise<void>((resolve) => {
          child.stderr.on('data', () => holds() && resolve())
        })
        return Promise.race([heard, ended])
      }
      return { child, said: () => said.stderr, saying, ended }
    },
    /** The same to its end. */
    run: (...words: readonly string[]): Promise<Result> => place.start(VOLCTL, ...words).ended,
    /** Of volctl itself, as systemd's namespace numbers it. */
    pidOf: ({ child }: Run) => /^NSpid:.*\t(\d+)$/m.exec(textOf(`/proc/${volctlOf(child.pid ?? 0)}/status`))?.[1],
    /** Sends a signal to volctl itself. */
    signal: (run: Run, name: NodeJS.Signals) => {
      const pid = volctlOf(run.child.pid ?? 0)
      if (pid !== undefined) process.kill(pid, name)
    },
    /** The lines of the journal that are not about an operation, by their types; a start with whether it runs. */
    journal: journalOf,
    /** As at the beginning: the kubelet runs, the volume is mounted, nothing was done yet. */
    reset: () => {
      rmSync('/var/lib/volctl', { recursive: true, force: true })
      inside('systemctl', 'unmask', '--runtime', UNIT)
      // Where the kubelet could not be started it waits.
      inside('systemctl', 'stop', TIMER)
      place.restart(place.command())
      place.forget()
    },
    [Symbol.asyncDispose]: async () => {
      clearInterval(reporting)
      await place.systemd[Symbol.asyncDispose]()
      await node[Symbol.asyncDispose]()
    },
  }
  booted.unit(
    'containerd.service',
    unitText(`${named(`${directory}/runtime`, 'containerd')} -c 'sleep infinity & wait'`),
  )
  booted.systemctl('start', 'containerd.service')
  booted.unit(UNIT, unitText(place.command()))
  booted.systemctl('enable', '--now', UNIT)
  place.forget()
  const reporting = reportNode(place)
  return place
}

/** As the kubelet does as long as it runs. */
function reportNode(place: StopPlace): NodeJS.Timeout {
  return setInterval(() => {
    if (place.state() !== 'active') return
    const { status, ...node } = nodeObject() as { readonly status: object }
    const ready = { type: 'Ready', status: 'True', lastHeartbeatTime: new Date().toISOString() }
    place.node.api.put({ ...node, status: { ...status, conditions: [ready] } })
  }, 500)
}

/** Below nsenter, and below script(1) where that gives a terminal: the first process that is volctl. */
function volctlOf(root: number): number | undefined {
  return familyOf(root).find((pid) => {
    const words = textOf(`/proc/${pid}/cmdline`)
    return pid !== root && words.includes('\0apply\0') && !words.startsWith('script\0')
  })
}

function journalOf(): string[] {
  return textOf('/var/lib/volctl/journal.jsonl')
    .split('\n')
    .filter((line) => line !== '')
    .flatMap((line) => {
      const { type, runs } = JSON.parse(line) as { type: string; runs?: boolean }
      if (type === 'intent' || type === 'outcome') return []
      return runs === undefined ? type : `${type}, ${runs ? 'runs' : 'does not run'}`
    })
}

const textOf = (path: string): string => kernelTextIfAny(path) ?? ''

/** Below those that a connection of another test may be given while nobody listens there. */
async function freePort(): Promise<number> {
  const port = randomInt(20_000, 32_000)
  const server = createServer().listen(port, '127.0.0.1')
  const isFree = await once(server, 'listening').then(
    () => true,
    () => false,
  )
  server.close()
  return isFree ? port : await freePort()
}

/** A program that hands connections on to a port, and its own port. */
export async function forwarder(
  directory: string,
  to: number,
): Promise<{ readonly program: string; readonly port: number }> {
  const port = await freePort()
  const program = `${directory}/forwarder.cjs`
  const hand = `require('net').createServer((from) => { const to = require('net').connect(${to}, '127.0.0.1'); from.pipe(to).pipe(from); for (const end of [from, to]) end.on('error', () => end.destroy()) })`
  writeFileSync(program, `${hand}.listen(${port}, '127.0.0.1')\n`)
  return { program, port }
}

/** How it stands after a run. */
export interface After {
  readonly status: number | undefined
  /** Code and words of an error, or what else was said. */
  readonly said: string
  readonly kubelet: string
  readonly timer: string
  readonly left: boolean
  readonly journal: readonly string[]
  readonly downtime?: KubeletDowntime | undefined
  /** State and code of each operation that was not blocked. */
  readonly ends?: readonly string[] | undefined
}

export const codeOf = ({ stderr }: Result): string => {
  const [line] = /^\{"apiVersion".*/m.exec(stderr) ?? []
  if (line === undefined) return stderr
  const { code, message } = JSON.parse(line) as { code: string; message: string }
  return `${code}: ${message}`
}

export function after(place: StopPlace, ended: Result): After {
  const document = ended.stdout.startsWith('{') ? (JSON.parse(ended.stdout) as ApplyResult) : undefined
  return {
    status: ended.status,
    said: codeOf(ended),
    kubelet: place.state(),
    timer: place.state(TIMER),
    left: place.isMounted(),
    journal: place.journal(),
    downtime: document?.downtime,
    ends: document?.outcomes.filter(({ state }) => state !== 'blocked').map(endOf),
  }
}

export const JSON_OUT = ['--yes', '-o', 'json']

export async function untilStopped(place: StopPlace, run: Run): Promise<void> {
  const stopped = await Promise.race([run.ended, until(() => place.state() === 'inactive', PATIENCE_MS)])
  if (stopped !== true) throw new Error(`not stopped: ${JSON.stringify(stopped)} ${run.said()}`)
}

/** Runs volctl, does something once the kubelet is down, and waits for the end. */
export async function interruptedBy(
  place: StopPlace,
  act: (run: Run) => unknown,
  ...flags: readonly string[]
): Promise<After> {
  place.reset()
  const run = place.start(VOLCTL, ...place.words(...JSON_OUT, '--settle', '6s', '--max-downtime', '40s', ...flags))
  await untilStopped(place, run)
  try {
    await act(run)
  } finally {
    await run.ended
  }
  return after(place, await run.ended)
}

/** The unit's state does not change by a run. */
export async function untouched(
  place: StopPlace,
  ...flags: readonly string[]
): Promise<After & { readonly same: boolean }> {
  rmSync('/var/lib/volctl', { recursive: true, force: true })
  const times = () =>
    place.systemd.systemctl('show', '--property=ActiveState,SubState,StateChangeTimestampMonotonic', UNIT)
  const before = times()
  const ended = await place.run(...place.words(...JSON_OUT, ...QUICK, ...flags))
  return { ...after(place, ended), same: times() === before }
}

/** SIGKILL once it has said this line, by its number or its end, after the timer was armed. */
export async function killedAt(place: StopPlace, point: number | string): Promise<object> {
  place.forget()
  const run = place.start(VOLCTL, ...place.words(...JSON_OUT, '-v', '--settle', '200ms', '--max-downtime', '2s'))
  const lines = (): string[] => run.said().split(`${TIMER} is armed`)[1]?.split('\n').slice(1) ?? []
  await run.saying(() =>
    typeof point === 'number' ? lines().length > point : lines().some((line) => line.endsWith(point)),
  )
  place.signal(run, 'SIGKILL')
  const { status } = await run.ended
  const runs = await until(() => place.state() === 'active', PATIENCE_MS)
  const gone = await until(() => [TIMER, STARTER].every((unit) => place.state(unit) === 'not-found'), PATIENCE_MS)
  place.forget()
  return { killed: status !== 0, runs, gone }
}
