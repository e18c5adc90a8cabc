import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { nodeProgram } from '../programs.ts'
import type { BigClusterSize } from './objects.ts'

export interface BigApiServer extends AsyncDisposable {
  readonly url: string
  readonly kubeconfig: string
}

const MAIN = new URL('./serve.ts', import.meta.url)

export interface BigApiServerOptions extends BigClusterSize {
  /** Each list is one answer, whatever limit is asked for. */
  readonly ignoresLimit?: boolean
}

/** Starts an API server of a big cluster in a separate process. @param directory receives the kubeconfig */
export async function startBigCluster(directory: string, options: BigApiServerOptions): Promise<BigApiServer> {
  const { nodes, podsPerNode = 30, seed = 1, ignoresLimit = false } = options
  const flags = ['--dir', directory, `--nodes=${nodes}`, `--pods-per-node=${podsPerNode}`, `--seed=${seed}`]
  if (ignoresLimit) flags.push('--ignore-limit')
  const child: ChildProcess = spawn(...nodeProgram(MAIN, flags), { stdio: ['pipe', 'pipe', 'inherit'] })
  if (!child.stdout) throw new Error('no standard output')
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
  const { url, kubeconfig } = JSON.parse(line) as { url: string; kubeconfig: string }
  return {
    ...{ url, kubeconfig },
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode !== null) return
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    },
  }
}
