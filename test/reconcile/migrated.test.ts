/** A PersistentVolume of an in-tree plugin whose work a CSI driver does (R150, R155; T41, T107). */
import { expect, it } from 'vitest'
import { attachmentName, csiGlobalDir, csiUniqueName } from '../../src/core/volumes/volume-names.ts'
import { type NodeBuilder, node, uid, volumeData } from '../helpers/node-builder.ts'
import { csiNodeObject } from '../helpers/objects.ts'
import { GONE_CSI, kinds, ops, outcome, plan, WANTS_PV_1 } from './planned.ts'

const EBS = 'ebs.csi.aws.com'
const APP = uid(2)

/** The volume is attached, and reported in use; its PersistentVolume names the cloud's disk alone. */
function migrated(): NodeBuilder {
  const awsElasticBlockStore = { volumeID: 'vol-1', fsType: 'ext4' }
  const built = node().persistentVolume('pv-1', { source: { awsElasticBlockStore } })
  built.drivers.push(EBS)
  built.attachments.push({
    metadata: { name: attachmentName('vol-1', EBS, 'node-1'), uid: 'va', resourceVersion: '7' },
    spec: { attacher: EBS, nodeName: 'node-1', source: { persistentVolumeName: 'pv-1' } },
    status: { attached: true },
  })
  built.attached.push(csiUniqueName(EBS, 'vol-1'))
  built.inUse.push(csiUniqueName(EBS, 'vol-1'))
  return built
}

const wanted = (): NodeBuilder => migrated().livingPod(APP, 'app', WANTS_PV_1)

/** Staged, and mounted for a pod that is gone. */
function gone(): NodeBuilder {
  const built = migrated()
  const record = JSON.stringify({ driverName: EBS, volumeHandle: 'vol-1', specVolID: 'pv-1' })
  const staging = csiGlobalDir(EBS, 'vol-1')
  for (const [at, path] of [
    [staging, 'globalmount'],
    [GONE_CSI, 'mount'],
  ])
    built
      .mount(`${at}/${path}`, { dev: '7:1', fsType: 'ext4', source: '/dev/nvme1n1' })
      .file(`${at}/vol_data.json`, record)
  return built
}

it('whose pod is gone is undone and detached, since the hash confirms whose the attachment is', () => {
  expect(outcome(plan(gone()))).toEqual(['UnmountVolume', 'UnmountDevice', 'DetachVolume'])
})

it('an inline one is known by its directory, whose name is escaped (T134, R815)', () => {
  const azure = 'disk.csi.azure.com'
  const uri = '/subscriptions/s/disks/d'
  const built = node().livingPod(APP, 'app', [{ name: 'd', azureDisk: { diskName: 'd', diskURI: uri } }])
  built.drivers.push(azure)
  built.attached.push(csiUniqueName(azure, uri))
  built.inUse.push(csiUniqueName(azure, uri))
  built.attachments.push({
    metadata: { name: attachmentName(uri, azure, 'node-1'), uid: 'va' },
    spec: { attacher: azure, nodeName: 'node-1', source: {} },
    status: { attached: true },
  })
  expect(kinds(plan(built))).toEqual(['MountVolume'])
  const disk = { dev: '8:16', fsType: 'ext4', source: '/dev/sdb' }
  const record = (name: string) => volumeData(name, uri).replaceAll('disk.test', azure)
  const dir = `pods/${APP}/volumes/kubernetes.io~csi/~subscriptions~s~disks~d`
  const staging = csiGlobalDir(azure, uri)
  built.mount(`${staging}/globalmount`, disk).file(`${staging}/vol_data.json`, record('x'))
  built.mount(`${dir}/mount`, disk).file(`${dir}/vol_data.json`, record(uri))
  expect(plan(built).operations).toEqual([])
})

it('is mounted by its driver, whatever the annotation of the CSINode lists (R150)', () => {
  const built = wanted()
  const csiNode = csiNodeObject('node-1', built.drivers)
  const annotations = { 'storage.alpha.kubernetes.io/migrated-plugins': 'kubernetes.io/gce-pd' }
  const made = plan(built.withApi({ csiNode: { ...csiNode, metadata: { ...csiNode.metadata, annotations } } }))
  expect(ops(made)[0]).toMatch(/NodeStageVolume.*NodePublishVolume/)
  expect(made.operations[0]?.volume).toMatchObject({ driver: EBS, handle: 'vol-1' })
  expect(outcome(made)).toEqual(['MountVolume'])
})
