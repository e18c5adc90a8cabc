/**
 * Drivers that mount below the staging path, as ceph-csi does for RBD: the device at STAGING/HANDLE, and a note of it
 * beside. The kubelet asks such a driver to unstage like any other (R442, R452, C20).
 */
import { describe, expect, it } from 'vitest'
import { csiGlobalDir } from '../../../src/core/volumes/volume-names.ts'
import { DRIVER, type NodeBuilder, node, ROOT, volumeData } from '../../helpers/node-builder.ts'
import { blocked, GONE, GONE_CSI, kinds, plan } from '../planned.ts'

const HANDLE = '0001-ceph-vol'
const DIR = csiGlobalDir(DRIVER, HANDLE)
const DISK = { dev: '251:0', fsType: 'ext4', source: '/dev/rbd0' }
const STATE = JSON.stringify({ driverName: DRIVER, volumeHandle: HANDLE })

const staged = (built = node(), name = HANDLE, disk: Parameters<NodeBuilder['mount']>[1] = DISK): NodeBuilder =>
  built
    .mount(`${DIR}/globalmount/${name}`, disk)
    .file(`${DIR}/vol_data.json`, STATE)
    .file(`${DIR}/globalmount/image-meta.json`, '{}')
const published = (built: NodeBuilder): NodeBuilder =>
  built.mount(`${GONE_CSI}/mount`, DISK).file(`${GONE_CSI}/vol_data.json`, volumeData('pv-1', HANDLE))

describe('a file system staged below globalmount', () => {
  it('is unstaged by its driver, then detached', () => {
    const made = plan(published(staged()).persistentVolume('pv-1', { handle: HANDLE }))
    expect(kinds(made)).toEqual(['UnmountVolume', 'UnmountDevice', 'DetachVolume'])
    const [, unstage] = made.operations
    expect(unstage?.steps).toMatchObject([
      { op: 'NodeUnstageVolume', target: `${ROOT}/${DIR}/globalmount` },
      { op: 'unlink', target: `${ROOT}/${DIR}/vol_data.json` },
      { op: 'rmdir', target: `${ROOT}/${DIR}` },
    ])
    expect(unstage?.expects).toMatchObject([
      { path: `${ROOT}/${DIR}/globalmount/${HANDLE}`, layers: [{ dev: '251:0' }] },
    ])
    expect(unstage?.paths).toContain(`${ROOT}/${DIR}/globalmount/${HANDLE}`)
    expect(unstage?.volume?.device).toBe('251:0 /dev/rbd0')
  })
  it.each<{ name: string; built: NodeBuilder; want: string[] }>([
    { name: 'no pod directory leads to it', built: staged(), want: [] },
    { name: 'under another name, shown by the pod’s mount', built: published(staged(node(), 'fs')), want: [] },
    { name: 'under another name', built: staged(node(), 'fs'), want: ['UnmountDevice ForeignMount'] },
    {
      name: 'stacked with another one',
      built: staged().mount(`${DIR}/globalmount/${HANDLE}`, { dev: '8:1', fsType: 'ext4' }),
      want: ['UnmountDevice ForeignMount'],
    },
    {
      name: 'with a mount beside it',
      built: staged().mount(`${DIR}/globalmount/mine`, { fsType: 'ext4' }),
      want: ['UnmountDevice ForeignMount'],
    },
    {
      name: 'and read by somebody (S24)',
      built: staged().mountLine('/mnt/mine', '/', '251:0', 'ext4', '/dev/rbd0'),
      want: ['UnmountDevice HeldBy'],
    },
    {
      name: 'with data of somebody’s',
      built: staged().file(`${DIR}/globalmount/sub/db`, 'precious'),
      want: ['UnmountDevice DataUnderMountPoint'],
    },
  ])('$name', ({ built, want }) => expect(blocked(plan(built))).toEqual(want))

  it('after a reboot: the driver is asked with what it left', () => {
    const built = node()
      .dir(`${DIR}/globalmount/${HANDLE}`)
      .file(`${DIR}/vol_data.json`, STATE)
      .file(`${DIR}/globalmount/image-meta.json`, '{}')
    expect(kinds(plan(built))).toEqual(['UnmountDevice'])
    expect(blocked(plan(built.file(`${DIR}/globalmount/db`, 'precious')))).toEqual([
      'UnmountDevice DataUnderMountPoint',
    ])
  })
})

describe('a block volume staged below staging/NAME', () => {
  const BASE = 'plugins/kubernetes.io/csi/volumeDevices'
  const DEVICE = { dev: '0:6', root: '/rbd0', fsType: 'devtmpfs', type: 'file' } as const
  const block = (): NodeBuilder =>
    node()
      .mount(`${BASE}/pv-b/dev/${GONE}`, DEVICE)
      .mount(`${BASE}/publish/pv-b/${GONE}`, DEVICE)
      .file(`${BASE}/pv-b/data/vol_data.json`, volumeData('pv-b', HANDLE))
      .link(`pods/${GONE}/volumeDevices/kubernetes.io~csi/pv-b`, 'x')
      .mount(`${BASE}/staging/pv-b/${HANDLE}`, DEVICE)
      .file(`${BASE}/staging/pv-b/image-meta.json`, '{}')

  it('is unmapped and unstaged', () => {
    const made = plan(block())
    expect(kinds(made)).toEqual(['UnmapVolume', 'UnmapDevice'])
    expect(made.operations[1]?.steps[0]).toEqual({ op: 'NodeUnstageVolume', target: `${ROOT}/${BASE}/staging/pv-b` })
    expect(made.operations[1]?.expects?.map(({ path }) => path)).toEqual([`${ROOT}/${BASE}/staging/pv-b/${HANDLE}`])
  })

  it.each<{ name: string; built: NodeBuilder; want: string[] }>([
    {
      name: 'a mount of somebody’s in the staging directory holds up the device alone',
      built: block().mount(`${BASE}/staging/pv-b/mine`, { fsType: 'ext4' }),
      want: ['UnmapDevice ForeignMount'],
    },
    {
      name: 'and a second user of the device (S24)',
      built: block().mountLine('/mnt/disk', '/rbd0', '0:6', 'devtmpfs', 'udev'),
      want: ['UnmapDevice HeldBy'],
    },
    {
      name: 'a mount of somebody’s among the maps holds up both',
      built: block().mount(`${BASE}/pv-b/dev/mine`, { fsType: 'ext4', type: 'file' }),
      want: ['UnmapVolume ForeignMount', 'UnmapDevice ForeignMount'],
    },
  ])('$name', ({ built, want }) => expect(blocked(plan(built))).toEqual(want))
})
