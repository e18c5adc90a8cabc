/** A claim's status over the wire: the rights that it takes, and what comes of two writers (C40, C102). */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { getClaim, patchClaimStatus } from '../../src/core/api/fresh-volumes.ts'
import { finishedPatch, inProgressPatch } from '../../src/core/desired/claim-status-patch.ts'
import { startApiServer, type TestApiServer } from '../helpers/api-server/start.ts'
import { connect, failureOf } from './connect.ts'

let server: TestApiServer
const key = { namespace: 'ns', name: 'data' }

beforeAll(async () => {
  const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }]
  server = await startApiServer({
    nodeName: 'node-1',
    objects: [
      { kind: 'Pod', metadata: { name: 'app', namespace: 'ns' }, spec: { nodeName: 'node-1', volumes } },
      { kind: 'PersistentVolumeClaim', metadata: key, spec: {}, status: { capacity: { storage: '1Gi' } } },
      { kind: 'PersistentVolumeClaim', metadata: { ...key, name: 'other' }, spec: {}, status: {} },
    ],
  })
})
afterAll(async () => await server.stop())

it.each(['kubelet', 'apply'])('%s may write it, and a change in between is a conflict', async (user) => {
  const client = connect(server, user)
  const claim = await getClaim(client, key)
  if (claim === undefined) throw new Error('no claim')
  const begun = await patchClaimStatus(client, key, inProgressPatch(claim))
  expect(begun.status?.allocatedResourceStatuses).toEqual({ storage: 'NodeResizeInProgress' })
  expect((await failureOf(patchClaimStatus(client, key, finishedPatch(claim, '2Gi')))).code).toBe('Conflict')
  await patchClaimStatus(client, key, finishedPatch(begun, '2Gi'))
  expect((await getClaim(client, key))?.status).toEqual({ capacity: { storage: '2Gi' } })
})

it('a node writes only claims of its own pods, and who may only look writes none', async () => {
  const patch = { status: { capacity: { storage: '9Gi' } } }
  const other = { ...key, name: 'other' }
  expect((await failureOf(patchClaimStatus(connect(server, 'kubelet'), other, patch))).code).toBe('Forbidden')
  expect((await failureOf(patchClaimStatus(connect(server, 'plan'), key, patch))).code).toBe('Forbidden')
  expect(await getClaim(connect(server, 'admin'), { ...key, name: 'none' })).toBeUndefined()
})
