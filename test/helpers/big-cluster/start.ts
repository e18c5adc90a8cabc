import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { createKubeClient } from '../../../src/core/api/kube-client.ts'
import { discoverKubeConfig } from '../../../src/core/api/kubeconfig/kube-config.ts'
import { nodeProgram } from '../programs.ts'
import type { BigClusterSize } from './objects.ts'

export interface BigApiServer extends AsyncDisposable {
  readonly url: string
  readonly kubeconfig: string
  /** How many requests of each form it has answered, such as `GET one of nodes`. */
  counted(): Promise<Readonly<Record<string, number>>>
}

const MAIN = new URL('./serve.ts', import.meta.url)

export interface BigApiServerOptions extends BigClusterSize {
  /** Each list is one answer, whatever limit is asked for. */
  readonly ignoresLimit?: boolean
  /** How long its attachers take. */
  readonly attacherMs?: number
}

/** Starts an API server of a big cluster in a separate process. @param directory receives the kubeconfig */
export async function startBigCluster(directory: string, options: BigApiServerOptions): Promise<BigApiServer> {
  const { nodes, podsPerNode = 30, seed = 1, ignoresLimit = false } = options
  const { goneNodes = 0, withoutController = false, lacking = 0, attacherMs = 0 } = options
  const flags = ['--dir', directory, `--nodes=${nodes}`, `--pods-per-node=${podsPerNode}`, `--seed=${seed}`]
  flags.push(`--gone-nodes=${goneNodes}`, `--lacking=${lacking}`, `--attacher-ms=${attacherMs}`)
  if (withoutController) flags.push('--without-controller')
  if (ignoresLimit) flags.push('--ignore-limit')
  const child: ChildProcess = spawn(...nodeProgram(MAIN, flags), { stdio: ['pipe', 'pipe', 'inherit'] })
  if (!child.stdout) throw new Error('no standard output')
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
  const { url, kubeconfig } = JSON.parse(line) as { url: string; kubeconfig: string }
  return {
    ...{ url, kubeconfig },
    counted: async () => {
      const client = createKubeClient(discoverKubeConfig({ kubeconfig }))
      try {
        return await client.get<Record<string, number>>('/counted', { plain: true })
      } finally {
        client.close()
      }
    },
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode !== null) return
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    },
  }
}
