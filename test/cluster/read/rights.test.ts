/** A cluster is read with exactly the rights of the ClusterRole that ships. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readCluster } from '../../../src/core/cluster/read/read-cluster.ts'
import { requestInfo } from '../../helpers/api-server/access.ts'
import { startApiServer, type TestApiServer } from '../../helpers/api-server/start.ts'
import { loadRole } from '../../helpers/api-server/users.ts'
import { connect } from '../../kube/connect.ts'

const ROLE = loadRole(new URL('../../../deploy/clusterrole-cluster-plan.yaml', import.meta.url).pathname)
const DRIVER = 'disk.csi.example.com'
const objects = [
  { kind: 'Node', metadata: { name: 'a', uid: 'n' }, status: { conditions: [{ type: 'Ready', status: 'True' }] } },
  { kind: 'CSIDriver', metadata: { name: DRIVER, uid: 'd' }, spec: { attachRequired: true } },
  {
    kind: 'VolumeAttachment',
    metadata: { name: 'csi-of-nobody', uid: 'va', creationTimestamp: '2026-11-22T00:00:00Z' },
    spec: { attacher: DRIVER, nodeName: 'a', source: { persistentVolumeName: 'pv' } },
    status: { attached: true },
  },
  {
    kind: 'Lease',
    metadata: { name: 'kube-controller-manager', namespace: 'kube-system', uid: 'l' },
    spec: { holderIdentity: 'cp', leaseDurationSeconds: 15, renewTime: '2026-11-22T00:00:00.000000Z' },
  },
]

/** `verb resource` of a request. */
function rightFor(method: string, path: string): string {
  // The server of the tests has no namespaces.
  if (path === '/api/v1/namespaces/kube-system') return 'get namespaces'
  const { verb, resource } = requestInfo(method, new URL(path, 'https://server'))
  return `${verb} ${resource}`
}

let server: TestApiServer
beforeAll(async () => {
  server = await startApiServer({ objects, users: [{ name: 'all', user: 'all', login: 'token', roles: [ROLE] }] })
})
afterAll(async () => await server.stop())

describe('the ClusterRole of plan --cluster', () => {
  it('is enough, and each of its rights is used', async () => {
    server.clearRequests()
    const client = connect(server, 'all')
    const state = await readCluster({ client })
    client.close()
    expect(state.errors).toEqual([])
    expect(Object.values(state.lists).filter((list) => list.state !== 'whole')).toEqual([])
    expect(state).toMatchObject({
      attachers: [],
      lostNodes: [],
      controller: { lease: { holder: 'cp' }, leaseAtEnd: {} },
    })
    const asked = server.requests().filter(({ path }) => !path.includes('reviews') && path !== '/version')
    const used = [...new Set(asked.map(({ method, path }) => rightFor(method, path)))].toSorted()
    const given = ROLE.rules.flatMap(({ resources = [], verbs }) =>
      resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}`)),
    )
    expect(used).toEqual(given.toSorted())
    expect(asked.filter(({ status }) => status === 403)).toEqual([])
  })
})
