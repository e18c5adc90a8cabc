import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startProgram } from '../start-program.ts'
import type { BigClusterSize } from './objects.ts'

export interface BigApiServer extends AsyncDisposable {
  readonly kubeconfig: string
}

export interface BigApiServerOptions extends BigClusterSize {
  /** Each list is one answer, whatever limit is asked for. */
  readonly ignoresLimit?: boolean
}

/** Starts an API server of a big cluster in a separate process. @param directory receives the kubeconfig */
export async function startBigCluster(directory: string, options: BigApiServerOptions): Promise<BigApiServer> {
  const { nodes, podsPerNode = 30, seed = 1, ignoresLimit = false } = options
  const flags = ['--dir', directory, `--nodes=${nodes}`, `--pods-per-node=${podsPerNode}`, `--seed=${seed}`]
  if (ignoresLimit) flags.push('--ignore-limit')
  const program = await startProgram(fileURLToPath(new URL('./serve.ts', import.meta.url)), flags)
  const kubeconfig = join(directory, 'big.kubeconfig')
  return { kubeconfig, [Symbol.asyncDispose]: () => program.end('SIGKILL') }
}
