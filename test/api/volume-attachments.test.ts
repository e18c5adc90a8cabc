import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { getNode } from '../../src/core/api/node-objects.ts'
import {
  type AttachmentVersion,
  deleteVolumeAttachment,
  getVolumeAttachment,
} from '../../src/core/api/volume-attachments.ts'
import { startApiServer, type TestApiServer } from '../helpers/api-server/start.ts'
import { connect, failureOf } from './connect.ts'

const FINALIZER = 'external-attacher/driver'

let server: TestApiServer

beforeAll(async () => {
  server = await startApiServer({ nodeName: 'node-1', detachDelayMs: 300 })
})

afterAll(async () => await server.stop())

beforeEach(async () => await server.setFaults())

let counter = 0

/** A VolumeAttachment, and what was known of it when a plan was made. */
async function attached(finalizers: string[]): Promise<AttachmentVersion> {
  const name = `csi-${++counter}`
  const handle = `vol-${counter}`
  await server.put(
    {
      kind: 'PersistentVolume',
      metadata: { name: `pv-${counter}` },
      spec: { csi: { driver: 'driver', volumeHandle: handle } },
    },
    {
      kind: 'Node',
      metadata: { name: 'node-1' },
      status: { volumesAttached: [{ name: `kubernetes.io/csi/driver^${handle}` }] },
    },
    {
      kind: 'VolumeAttachment',
      metadata: { name, uid: `uid-${name}`, finalizers },
      spec: { attacher: 'driver', nodeName: 'node-1', source: { persistentVolumeName: `pv-${counter}` } },
    },
  )
  const object = await getVolumeAttachment(connect(server, 'admin'), name)
  return { name, uid: object?.metadata.uid ?? '', resourceVersion: object?.metadata.resourceVersion ?? '' }
}

describe('deleting a VolumeAttachment', () => {
  it('is done when nobody holds it', async () => {
    const version = await attached([])
    const client = connect(server, 'apply')
    expect(await deleteVolumeAttachment(client, version)).toEqual({ state: 'gone' })
    expect(await getVolumeAttachment(client, version.name)).toBeUndefined()
    expect(await deleteVolumeAttachment(client, version)).toEqual({ state: 'gone' })
  })

  it('takes as long as the attacher takes (N59)', async () => {
    const version = await attached([FINALIZER])
    const client = connect(server, 'apply')
    const outcome = await deleteVolumeAttachment(client, version)
    expect(outcome).toMatchObject({
      state: 'deleting',
      attachment: { metadata: { deletionTimestamp: expect.any(String) } },
    })
    expect(await getVolumeAttachment(client, version.name)).toBeDefined()
    await expect.poll(() => getVolumeAttachment(client, version.name), { timeout: 10_000 }).toBeUndefined()
    expect((await getNode(client, 'node-1')).status?.volumesAttached).toEqual([])
  })

  it.each([
    { name: 'recreated', change: (version: AttachmentVersion) => ({ ...version, uid: 'another' }) },
    { name: 'changed', change: (version: AttachmentVersion) => ({ ...version, resourceVersion: '1' }) },
  ])('is not done to one that was $name since (N60)', async ({ change }) => {
    const version = await attached([])
    const client = connect(server, 'apply')
    const outcome = await deleteVolumeAttachment(client, change(version))
    expect(outcome).toMatchObject({ state: 'changed', message: expect.stringContaining('Precondition failed') })
    expect(await getVolumeAttachment(client, version.name)).toBeDefined()
  })

  it('is forbidden to a node and to the plan role', async () => {
    const version = await attached([])
    for (const user of ['kubelet', 'plan']) {
      expect(await failureOf(deleteVolumeAttachment(connect(server, user), version))).toMatchObject({
        code: 'Forbidden',
      })
    }
    expect(await getVolumeAttachment(connect(server, 'admin'), version.name)).toBeDefined()
  })

  it('whose answer was lost is looked at, not repeated', async () => {
    const version = await attached([])
    const client = connect(server, 'apply')
    await server.clearRequests()
    await server.setFaults({ method: 'DELETE', action: { type: 'drop' } })
    expect(await failureOf(deleteVolumeAttachment(client, version))).toMatchObject({ code: 'ApiUnreachable' })
    await server.remove('VolumeAttachment', version.name)
    expect(await deleteVolumeAttachment(client, version)).toEqual({ state: 'gone' })
    expect((await server.requests()).filter(({ method }) => method === 'DELETE')).toHaveLength(2)
  })
})
