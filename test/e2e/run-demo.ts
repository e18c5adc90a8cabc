/** Runs the demo, and looks at what it leaves. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect } from 'vitest'
import { loopDevicesWork } from '../helpers/csi-driver/start.ts'
import { sweep, temporary } from '../helpers/left-behind.ts'

const DEMO = join(import.meta.dirname, '..', '..', 'scripts', 'demo.ts')

/** The temporary directory of the demos of a test. */
export let directory: string
beforeEach(() => {
  directory = temporary('volctl-demo-test-')
})
afterEach(() => sweep(directory))

interface Shown {
  readonly status: number | null
  readonly text: string
}

export interface Settings {
  /** Hears all that was printed so far. */
  readonly onText?: (text: string, child: ChildProcess) => void
  readonly path?: string
  /** The command that starts it. */
  readonly by?: readonly string[]
  /** Started from a terminal, on which nobody types; default: without one. */
  readonly terminal?: boolean
  /** Of the demo; default: what the tests use. */
  readonly program?: string
}

/** Runs the demo with a temporary directory of its own, in a process group of its own. */
export async function demo(settings: Settings = {}): Promise<Shown> {
  const { onText, path = process.env.PATH, by = [], terminal = false, program } = settings
  const line = [...by, process.execPath, '--no-warnings', DEMO]
  const [file = '', ...args] = terminal ? onTerminal(line) : line
  const child = spawn(file, args, {
    // The terminal's keyboard stays silent, and is not at its end.
    stdio: [terminal ? 'pipe' : 'ignore', 'pipe', 'pipe'],
    env: { ...process.env, PATH: path, TMPDIR: directory, TERM: 'xterm', ...(program && { VOLCTL_PROGRAM: program }) },
    detached: true,
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (more: string) => {
      text += more
      onText?.(text, child)
    })
  }
  // Not before everything that it started has let go of its output, too.
  const [status] = (await once(child, 'close')) as [number | null]
  return { status, text }
}

/** Wide enough that no reason is wrapped. */
function onTerminal(line: readonly string[]): string[] {
  const words = line.map((word) => `'${word}'`).join(' ')
  return ['script', '-qec', `stty rows 10 cols 250; exec ${words}`, '/dev/null']
}

export function expectNothingLeft(): void {
  expect(readdirSync(directory)).toEqual([])
  expect(readFileSync('/proc/self/mountinfo', 'utf8')).not.toContain(directory)
  if (loopDevicesWork()) expect(execFileSync('losetup', ['--list'], { encoding: 'utf8' })).not.toContain(directory)
}

/** Does something to the demo as soon as that text is shown. */
export function onceShown(mark: string, act: (pid: number) => void): NonNullable<Settings['onText']> {
  let done = false
  return (shown, { pid }) => {
    if (done || pid === undefined || !shown.includes(mark)) return
    done = true
    act(pid)
  }
}

/** What was typed. */
export const commands = (text: string): string[] => text.split(/\r?\n/).filter((line) => line.startsWith('$ '))

const START = 'Next: systemctl start kubelet.service  #'

/** The main job, with nothing left to do at its end, and nothing left behind. */
export async function expectMainJob(settings: Settings): Promise<void> {
  const { status, text } = await demo(settings)
  expect(status, text).toBe(0)
  expect(commands(text)).toEqual([
    '$ volctl plan',
    expect.stringMatching(/^\$ volctl explain 'orphaned pod "\S+" found, but volume paths are still present on disk'$/),
    expect.stringMatching(/^\$ volctl apply --orphans --yes /),
    '$ volctl status',
  ])
  for (const words of ['2 deleted pods left something here', 'pv-old   unstage and detach', 'pv-idle   detach'])
    expect(text.replaceAll(/ {4,}/g, '   ')).toContain(words)
  expect(text).toMatch(
    /Nothing is left to do\..*The content of every volume is unchanged\..*everything that it created\..*volctl plan .*volctl apply --stop-kubelet .*volctl explain [^\n]*\s*$/s,
  )
  expect(text.match(/Next: (.*?) {2}#/g)).toEqual([
    'Next: volctl apply  #',
    expect.stringMatching(/^Next: volctl apply --pod \S+ {2}#$/),
    ...Array(2).fill(START),
  ])
  expect(text.split('\n').length).toBeLessThanOrEqual(120)
  // As wide as the least terminal.
  expect(text.match(/^done .{76,}$/gm)).toBe(null)
  expectNothingLeft()
}
