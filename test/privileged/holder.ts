/** Processes that hold something: each says when it has it, and stays until it is ended. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'

export interface Holder {
  readonly pid: number
  end(): Promise<void>
}

/** A program that prints something once it is ready: what it is told, if nothing else. */
export async function hold([program = '', ...args]: readonly string[], cwd?: string): Promise<Holder> {
  const child = spawn(program, args, { cwd, stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.on('error', () => undefined).write('ready\n')
  const exit = once(child, 'exit')
  const died = exit.then(() => Promise.reject(new Error(`${program} ${args.join(' ')} ended`)))
  died.catch(() => undefined)
  await Promise.race([once(child.stdout, 'data'), died])
  return {
    pid: child.pid ?? 0,
    end: async () => {
      child.stdin.end()
      child.kill('SIGKILL')
      await exit
    },
  }
}

/** A shell that has done this. */
export function holdByShell(script: string, cwd?: string): Promise<Holder> {
  return hold(['sh', '-c', `${script}; ${STAYS}`], cwd)
}

/** The same in a mount namespace of its own. @param kinds of namespaces, by unshare(1)'s letters */
export function holdElsewhere(script: string, kinds = '-m'): Promise<Holder> {
  return hold(['unshare', kinds, '--propagation', 'private', 'sh', '-c', `${script}; ${STAYS}`])
}

/** Of a shell: it is ready, and ends with its standard input. */
export const STAYS = 'echo ready; read -r line; read -r line'
