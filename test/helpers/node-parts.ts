/**
 * What a volctl of the tests takes for its node: an API server, a container runtime, CSI drivers, and a host that is a machine of its
 * own, with a kubelet that is stopped (test-host.ts).
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Places } from '../../src/core/node/places.ts'
import type { SandboxState } from '../../src/core/rpc/endpoints.ts'
import { type ApiServerOptions, startApiServer } from './api-server/start.ts'
import { startCriServer } from './cri-server/start.ts'
import { type CsiDriver, type DriverOptions, startCsiDriver } from './csi-driver/start.ts'

export type NodeParts = Awaited<ReturnType<typeof startNodeParts>>

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
export async function startNodeParts(directory: string, given: PartsGiven) {
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
  /** Only these have containers; and processes, unless it is said of others. */
  const setAlive = (pods: readonly SandboxState[], processes: readonly string[] = pods.map(({ uid }) => uid)): void => {
    cri.set({ pods })
    writeFileSync(hostFile, JSON.stringify({ ...host, processes }))
  }
  setAlive([])
  const ended = started.move()
  return {
    ...{ api, cri, drivers, hostFile, setAlive },
    /** What volctl needs in its environment. */
    env: { VOLCTL_TEST_HOST: hostFile } as Readonly<Record<string, string>>,
    [Symbol.asyncDispose]: () => ended.disposeAsync(),
  }
}
