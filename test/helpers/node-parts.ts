/**
 * What a volctl of the tests takes for its node: an API server, a container runtime, CSI drivers, and a host that is a machine of its
 * own, with a kubelet that is stopped (test-host.ts).
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SandboxState } from '../../src/core/facts/actual/snapshot.ts'
import type { Places } from '../../src/core/node/places.ts'
import { type ApiServerOptions, startApiServer, type TestApiServer } from './api-server/start.ts'
import { type CriServer, startCriServer } from './cri-server/start.ts'
import { type CsiDriver, type DriverOptions, startCsiDriver } from './csi-driver/start.ts'

export interface NodeParts extends AsyncDisposable {
  readonly api: TestApiServer
  readonly cri: CriServer
  readonly drivers: readonly CsiDriver[]
  readonly hostFile: string
  /** What volctl needs in its environment. */
  readonly env: Readonly<Record<string, string>>
  /** Only these have containers; and processes, unless it is said of others. */
  setAlive(pods: readonly SandboxState[], processes?: readonly string[]): void
}

interface PartsGiven {
  readonly rootDir: string
  /** The node's name is the host's, too. */
  readonly api: ApiServerOptions & { readonly nodeName: string }
  readonly drivers?: readonly (DriverOptions & { readonly name: string; readonly stateDir: string })[]
  /** What the host says of itself besides. */
  readonly host?: Places
  /** Whose credential volctl has; default: an administrator's. */
  readonly user?: string
}

/** @param directory for the host's file, the runtime's socket, lock and journal */
export async function startNodeParts(directory: string, given: PartsGiven): Promise<NodeParts> {
  const { rootDir, api: ofApi, drivers: ofDrivers = [], user = 'admin' } = given
  await using started = new AsyncDisposableStack()
  const api = started.use(await startApiServer(ofApi))
  const cri = started.adopt(await startCriServer({ socketPath: join(directory, 'cri.sock'), pods: [] }), (each) =>
    each.stop(),
  )
  const drivers: CsiDriver[] = []
  for (const each of ofDrivers)
    drivers.push(started.adopt(await startCsiDriver({ ...each, rootDir }), (driver) => driver.dispose()))
  const hostFile = join(directory, 'host.json')
  const host: Places = {
    nodeName: ofApi.nodeName,
    rootDir,
    kubelet: { running: false, mayReturn: false },
    runtimeEndpoints: [cri.endpoint],
    runtimeExpected: true,
    lockFile: join(directory, 'apply.lock'),
    journalDir: join(directory, 'journal'),
    kubeconfig: api.kubeconfig(user),
    ...given.host,
  }
  const setAlive: NodeParts['setAlive'] = (pods, processes = pods.map(({ uid }) => uid)) => {
    cri.set({ pods })
    writeFileSync(hostFile, JSON.stringify({ ...host, processes }))
  }
  setAlive([])
  const ended = started.move()
  return {
    ...{ api, cri, drivers, hostFile, env: { VOLCTL_TEST_HOST: hostFile }, setAlive },
    [Symbol.asyncDispose]: () => ended.disposeAsync(),
  }
}
