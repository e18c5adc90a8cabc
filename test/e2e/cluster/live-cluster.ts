/** A cluster with parts that run: an API server, kubelets and attachers; and volctl. What the controller does, a test does. */

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import { ATTACHMENTS, LEASES, NODES, PODS } from '../../../src/core/kube/api/objects.ts'
import { objectPath } from '../../../src/core/kube/api/resources.ts'
import { createKubeClient, type KubeClient } from '../../../src/core/kube/kube-client.ts'
import { discoverKubeConfig } from '../../../src/core/kube/kubeconfig/kube-config.ts'
import { anything } from '../../../src/core/trust/shape.ts'
import { csiUniqueName } from '../../../src/core/volumes/volume-names.ts'
import { base, DRIVER } from '../../apply/cluster/scene.ts'
import { startApiServer, type TestApiServer } from '../../helpers/api-server/start.ts'
import { defaultUsers, type TestUser } from '../../helpers/api-server/users.ts'
import { temporary } from '../../helpers/left-behind.ts'
import type { Run } from '../../helpers/scene/volctl.ts'
import { VOLCTL } from '../../helpers/volctl-program.ts'
import { endEvents } from '../scenarios/outcomes.ts'

const ROLE = fileURLToPath(new URL('../../../deploy/clusterrole-cluster-apply.yaml', import.meta.url))

/** volctl has the rights of its role and no others; who asked for what stands in the server's log. */
const USERS: readonly TestUser[] = [
  ...defaultUsers('none'),
  { name: 'volctl', user: 'volctl', login: 'token', roles: [ROLE] },
]

export const GONE = ['--node-gone', 'gone'] as const
export const DETACH = 'DetachVolume pv-data@gone'
export const ATTACH = 'AttachVolume pv-data@here'

/** What an apply says at its end, with the code of each outcome. */
interface Applied extends Run {
  /** `done DetachVolume pv-data@gone`, with the code where there is one. */
  readonly ends: readonly string[]
}

export class LiveCluster implements AsyncDisposable {
  readonly api: TestApiServer
  readonly directory = temporary('volctl-cluster-')
  readonly #client: KubeClient

  private constructor(api: TestApiServer) {
    this.api = api
    this.#client = createKubeClient(discoverKubeConfig({ kubeconfig: api.kubeconfig('admin') }))
  }

  /** Of these objects, and those that every cluster has; its controller has been dead for ten minutes. Volumes come and go at once. */
  static async start(objects: readonly object[]): Promise<LiveCluster> {
    const api = await startApiServer({ objects: [...base(), ...objects], users: USERS })
    api.set({ reportsDetached: false, attachesAtOnce: true })
    const cluster = new LiveCluster(api)
    await cluster.kubelets()
    api.clearRequests()
    return cluster
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#client.close()
    await this.api.stop()
    rmSync(this.directory, { recursive: true, force: true })
  }

  /** So many minutes pass in which only kubelets are at work. */
  async elapse(minutes: number): Promise<void> {
    this.api.elapse(minutes * 60_000)
    await this.kubelets()
  }

  /** The kubelet of each node that is ready reports that it lives, and which volumes its pods use (R330). */
  async kubelets(): Promise<void> {
    const { items: pods } = await this.#client.list(PODS)
    for (const { metadata, status } of (await this.#client.list(NODES)).items) {
      const [ready] = status?.conditions ?? []
      if (ready?.status !== 'True') continue
      const now = new Date().toISOString()
      const volumesInUse = pods
        .filter(({ spec }) => spec.nodeName === metadata.name)
        .flatMap(({ spec }) => spec.volumes ?? [])
        .map((each) => csiUniqueName(DRIVER, `h-${each.persistentVolumeClaim?.claimName}`))
      const conditions = [{ ...ready, lastHeartbeatTime: now }]
      await this.#patch(objectPath(NODES, metadata), { status: { conditions, volumesInUse } })
      const lease = objectPath(LEASES, { namespace: 'kube-node-lease', name: metadata.name })
      await this.#patch(lease, { spec: { renewTime: now } })
    }
  }

  #patch(path: string, body: object): Promise<unknown> {
    return this.#client.send('patch', { path, body, shape: anything })
  }

  /** `pv-data@node`, with `!` while it is on the way. */
  async attachments(): Promise<string[]> {
    const { items } = await this.#client.list(ATTACHMENTS)
    return items
      .map(({ metadata, spec, status }) => {
        const isOnTheWay = metadata.deletionTimestamp != null || status?.attached !== true
        return `${spec.source.persistentVolumeName}@${spec.nodeName}${isOnTheWay ? '!' : ''}`
      })
      .toSorted()
  }

  async apply(...flags: readonly string[]): Promise<Applied> {
    return await this.begin(...flags).ended
  }

  /** An apply that a test does something beside. */
  begin(...flags: readonly string[]): { readonly pid: number; readonly ended: Promise<Applied> } {
    const journal = flags.includes('--journal') ? [] : ['--journal', join(this.directory, 'journal')]
    const words = ['apply', '--cluster', '-o', 'ndjson', '--kubeconfig', this.api.kubeconfig('volctl')]
    const child = execa(VOLCTL, [...words, ...journal, ...flags], { reject: false, stdin: 'ignore' })
    const ended = child.then(({ exitCode, stdout, stderr }) => {
      const run = { status: exitCode, stdout, stderr }
      return { ...run, ends: endsOf(run) }
    })
    return { pid: child.pid ?? 0, ended }
  }
}

function endsOf(run: Run): string[] {
  return endEvents(run).map(
    ({ type, kind, volume, node, code }) => `${type} ${kind} ${volume}@${node}${code === undefined ? '' : ` ${code}`}`,
  )
}
