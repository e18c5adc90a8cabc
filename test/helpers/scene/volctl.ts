import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { type OperationKind, TAKING_AWAY } from '../../../src/core/plan/kinds.ts'
import type { Result } from '../run-main.ts'
import { VOLCTL } from '../volctl-program.ts'
import type { Scene } from './scene.ts'

/** Its status is undefined where a signal has ended it. */
export type Run = Result

/** What apply alone finds, by its code: the closed list of docs/contract.md. */
const FOUND_BY_APPLY: ReadonlySet<string> = new Set([
  // What a driver answers.
  ...['DriverFailed', 'DriverRefused', 'DriverUnavailable', 'OperationPending', 'VolumeNotFound'],
  ...['TimedOut', 'SharedConnection'],
  // What comes after the plan: the disk is full, the API or the runtime is away, a kubelet or a pod is back.
  ...['WriteFailed', 'JournalFailed', 'ApiFailed', 'ApiUnreachable', 'Forbidden', 'AlivenessUnknown'],
  ...['KubeletRunning', 'WantedAgain', 'PodStillRunning', 'Interrupted'],
])

/**
 * What a plan calls ready, an apply does: an apply that makes its own plan neither fails nor refuses an operation that takes something
 * away for anything that was there when it planned. (A plan file may be older.)
 */
function requireReadyDone({ stdout }: Run, args: readonly string[]): void {
  if (!args.includes('ndjson') || args[1]?.startsWith('-') !== true) return
  for (const line of stdout.split('\n')) {
    if (!/"type":"(?:failed|refused)"/.test(line)) continue
    const { code, kind, message } = JSON.parse(line) as Record<string, string>
    // Of a call that waits for a dead server no process shows that it has the mount.
    const isFound = FOUND_BY_APPLY.has(code ?? '') || (code === 'HeldBy' && message?.endsWith(' is in use'))
    if (TAKING_AWAY.has(kind as OperationKind) && !isFound)
      throw new Error(`a ready ${kind} was not done (${code}): ${message}`)
  }
}

/** Runs the built volctl on a scene to its end. `onLine` hears each line of its output and may kill it. */
export async function runVolctl(...given: Parameters<typeof runUnjudged>): Promise<Run> {
  const run = await runUnjudged(...given)
  if (given[1][0] === 'apply') requireReadyDone(run, given[1])
  return run
}

/** The same, whatever it ends with: for whom it is what he asks. */
export async function runUnjudged(
  scene: Pick<Scene, 'env'> & { readonly cwd?: string; readonly program?: string },
  args: readonly string[],
  onLine: (line: string, child: ChildProcess) => void = () => undefined,
): Promise<Run> {
  const { cwd, env, program = VOLCTL } = scene
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], cwd, env: { ...process.env, ...env } })
  const lines: string[] = []
  let stderr = ''
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line)
    onLine(line, child)
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const [status] = (await once(child, 'close')) as [number | null]
  return { status: status ?? undefined, stdout: lines.map((line) => `${line}\n`).join(''), stderr }
}

/** What it printed as JSON. @throws Error what it said instead */
export function answerOf<T>({ stdout, stderr }: Pick<Run, 'stdout' | 'stderr'>): T {
  if (stdout === '') throw new Error(stderr)
  return JSON.parse(stdout) as T
}
