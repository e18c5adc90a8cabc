import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { type OperationKind, TAKING_AWAY } from '../../../src/core/plan/kinds.ts'
import type { Result } from '../run-main.ts'
import { VOLCTL } from '../volctl-program.ts'
import type { Scene } from './scene.ts'

/** Its status is undefined where a signal has ended it. */
export type Run = Result

/** Codes of what an apply's own look finds in use: a plan that was made a moment before says so (docs/contract.md). */
const KNOWN_BEFORE: ReadonlySet<string> = new Set(['HeldBy', 'UsersUnknown', 'DeviceUnknown'])

/**
 * What a plan calls ready, an apply does: an apply that makes its own plan neither fails nor refuses an operation for a use that was
 * there when it planned. (A plan file may be older than the use.)
 */
function requireReadyDone({ stdout }: Run, args: readonly string[]): void {
  if (!args.includes('ndjson') || args[1]?.startsWith('-') !== true) return
  for (const line of stdout.split('\n')) {
    if (!/"type":"(?:failed|refused)"/.test(line)) continue
    const { code, kind, message } = JSON.parse(line) as Record<string, string>
    // Of a call that waits for a dead server no process shows that it has the mount.
    const isSeen =
      TAKING_AWAY.has(kind as OperationKind) && KNOWN_BEFORE.has(code ?? '') && !message?.endsWith(' is in use')
    if (isSeen) throw new Error(`a ready ${kind} was not done (${code}): ${message}`)
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
