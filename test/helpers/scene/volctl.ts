import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { VOLCTL } from '../volctl-program.ts'
import type { Scene } from './scene.ts'

export interface Run {
  /** Undefined: ended by a signal. */
  readonly status: number | undefined
  readonly stdout: string
  readonly stderr: string
}

/** Runs the built volctl on a scene to its end. `onLine` hears each line of its output and may kill it. */
export async function runVolctl(
  scene: Pick<Scene, 'env'>,
  args: readonly string[],
  onLine: (line: string, child: ChildProcess) => void = () => undefined,
): Promise<Run> {
  const child = spawn(VOLCTL, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...scene.env } })
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
