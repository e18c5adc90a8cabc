/** Processes that stand somewhere or hold something: each says when it does, and stays until it is ended. */
import { type ChildProcessByStdio, type SpawnOptions, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'

export interface Holder extends AsyncDisposable {
  readonly pid: number
  readonly child: ChildProcessByStdio<Writable, Readable, null>
  /** By which it said that it is ready. */
  readonly said: string
  /** Kills it; one that is `detached` with all that it has started. */
  end(): Promise<void>
}

/** A program that prints something once it is ready. @param input what it is told first */
export async function hold(
  [program = '', ...args]: readonly string[],
  { input = '', ...options }: SpawnOptions & { readonly input?: string } = {},
): Promise<Holder> {
  const child = spawn(program, args, { ...options, stdio: ['pipe', 'pipe', 'inherit'] })
  const { pid = 0 } = child
  child.stdin.on('error', () => undefined).write(input)
  const exit = once(child, 'exit')
  const died = exit.then(() => Promise.reject(new Error(`${program} ${args.join(' ')} ended`)))
  died.catch(() => undefined)
  const [said] = await Promise.race([once(child.stdout, 'data'), died])
  const end = async (): Promise<void> => {
    child.stdin.end()
    if (options.detached) spawnSync('kill', ['-KILL', '--', `-${pid}`])
    else child.kill('SIGKILL')
    await exit
  }
  return { pid, child, said: String(said), end, [Symbol.asyncDispose]: end }
}

/** A shell that has done this. */
export function holdByShell(script: string, cwd?: string): Promise<Holder> {
  return hold(['sh', '-c', `${script}; ${STAYS}`], { cwd })
}

/** The same in a mount namespace of its own. @param kinds of namespaces, by unshare(1)'s letters */
export function holdElsewhere(script: string, kinds = '-m'): Promise<Holder> {
  return hold(['unshare', kinds, '--propagation', 'private', 'sh', '-c', `${script}; ${STAYS}`])
}

/** Of a shell: it is ready, and ends with its standard input. */
export const STAYS = 'echo ready; read -r line'
