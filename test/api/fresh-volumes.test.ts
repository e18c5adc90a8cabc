/** What pods want is resolved by claims and volumes of the same moment, from a real API server (S21). */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { withFreshVolumes } from '../../src/core/api/fresh-volumes.ts'
import { listNodePods } from '../../src/core/api/node-objects.ts'
import { readApi } from '../../src/core/api/read-api.ts'
import type { ApiSnapshot } from '../../src/core/model/snapshot.ts'
import { controllerWantedVolumes } from '../../src/core/populator/controller-wanted.ts'
import { startApiServer, type TestApiServer } from '../helpers/api-server/start.ts'
import { connect } from './connect.ts'

const NODE = 'node-1'
const NAME = 'kubernetes.io/csi/disk.test^vol-1'

let server: TestApiServer
let before: ApiSnapshot
beforeAll(async () => {
  server = await startApiServer({
    nodeName: NODE,
    objects: [
      {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name: NODE, uid: 'n' },
        status: { nodeInfo: {}, conditions: [] },
      },
      {
        apiVersion: 'storage.k8s.io/v1',
        kind: 'CSIDriver',
        metadata: { name: 'disk.test', uid: 'd' },
        spec: { attachRequired: true },
      },
    ],
  })
  before = await look()
})
afterAll(() => server.stop())
beforeEach(async () => {
  await server.setFaults()
  for (const [kind, name] of [
    ['Pod', 'web'],
    ['PersistentVolumeClaim', 'data'],
  ] as const)
    await server.remove(kind, name, 'shop').catch(() => {})
  await server.remove('PersistentVolume', 'pv').catch(() => {})
})

const client = () => connect(server, 'admin')

async function look(): Promise<ApiSnapshot> {
  return readApi({ client: client(), nodeName: NODE })
}

const claim = { name: 'data', namespace: 'shop', uid: 'claim-uid' }
const POD = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'shop', uid: 'pod-uid' },
  spec: {
    nodeName: NODE,
    containers: [],
    volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
  },
  status: { phase: 'Pending' },
}
const CLAIM = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: claim,
  spec: { volumeName: 'pv', accessModes: ['ReadWriteOnce'] },
  status: { phase: 'Bound' },
}
const VOLUME = {
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name: 'pv', uid: 'pv-uid' },
  spec: { claimRef: claim, csi: { driver: 'disk.test', volumeHandle: 'vol-1' }, accessModes: ['ReadWriteOnce'] },
}

/** By the last look alone, and as it is done. */
async function wanted(api = before) {
  const pods = (await listNodePods(client(), NODE)).items
  const resolve = (from: ApiSnapshot) => {
    const { names, unresolved } = controllerWantedVolumes(pods, from, NODE)
    return { wants: names.has(NAME), unresolved: unresolved.map(({ cause }) => cause) }
  }
  return { old: resolve(api), fresh: resolve(await withFreshVolumes(client(), api, pods, NODE)) }
}

describe('pod, claim and volume that were made after the last look (S21)', () => {
  it('are seen, where the last look would have called the claim absent', async () => {
    await server.put(VOLUME, CLAIM, POD)
    expect(await wanted()).toEqual({
      old: { wants: false, unresolved: ['Absent'] },
      fresh: { wants: true, unresolved: [] },
    })
  })

  it('a claim that does not exist now is absent', async () => {
    await server.put(POD)
    expect((await wanted()).fresh).toEqual({ wants: false, unresolved: ['Absent'] })
  })

  it.each(['persistentvolumeclaims', 'persistentvolumes'])('what cannot be read of %s is unknown', async (resource) => {
    await server.put(VOLUME, CLAIM, POD)
    await server.setFaults({ path: `/${resource}/`, action: { type: 'status', status: 403, reason: 'Forbidden' } })
    expect((await wanted()).fresh).toEqual({ wants: false, unresolved: ['Unknown'] })
  })
})
