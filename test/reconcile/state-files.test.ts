/** What a vol_data.json alone tells of a volume that is to be undone: the kubelet's reconstruction (C75, C83, C88-C94; upstream's tables). */
import { describe, expect, it } from 'vitest'
import type { TreeEntry } from '../../src/core/volumes/snapshot.ts'
import { DRIVER, HOUR_AGO, type NodeBuilder, node, ROOT } from '../helpers/node-builder.ts'
import { BLOCK, blocked, GONE, GONE_CSI, kinds, only, ops, outcome, plan } from './planned.ts'

const HANDLE = 'my/vol.1'
const THREE = { specVolID: 'pv-1', driverName: DRIVER, volumeHandle: HANDLE }

/** A mounted file system of a pod that is gone. */
function mounted(content: object | string): NodeBuilder {
  const text = typeof content === 'string' ? content : JSON.stringify(content)
  return node().mount(`${GONE_CSI}/mount`, { dev: '7:1', fsType: 'ext4' }).file(`${GONE_CSI}/vol_data.json`, text)
}

describe('a file system', () => {
  it('the three keys are enough to have it undone by its driver: without a mode, as in files of old kubelets, it is persistent', () => {
    const made = plan(mounted(THREE))
    expect(only(made, 'UnmountVolume')).toMatchObject({
      pod: { uid: GONE },
      volume: {
        ...{ name: 'pv-1', driver: DRIVER, handle: HANDLE, mode: 'Filesystem' },
        uniqueName: `kubernetes.io/csi/${DRIVER}^${HANDLE}`,
      },
      steps: [{ op: 'NodeUnpublishVolume' }, { op: 'unlink' }, { op: 'rmdir' }],
    })
    expect(blocked(made)).toEqual([])
  })

  it('an inline volume has a unique name of its pod', () => {
    const made = plan(mounted({ ...THREE, volumeLifecycleMode: 'Ephemeral' }))
    const uniqueName = `kubernetes.io/csi/${GONE}-pv-1`
    expect(only(made, 'UnmountVolume').volume).toMatchObject({ uniqueName, driver: DRIVER, handle: HANDLE })
  })

  it.each([
    ['without a driver', { specVolID: 'pv-1', volumeHandle: HANDLE }],
    ['without a handle', { specVolID: 'pv-1', driverName: DRIVER }],
    ['empty', ''],
    ['with another value than texts', { ...THREE, attachmentID: 7 }],
    ['cut off', JSON.stringify(THREE).slice(0, 30)],
  ])('a file %s tells nothing: nothing is undone with it', (_name, content) => {
    expect(outcome(plan(mounted(content)))).toEqual(['CleanOrphanVolume IdentityUnconfirmed'])
  })
})

const at = `${GONE_CSI}/vol_data.json`
it.each<[string, Partial<TreeEntry> & Pick<TreeEntry, 'type'>, string]>([
  ['a link', { type: 'link', target: '/etc/passwd' }, 'a link, not a file'],
  ['on a broken disk', { type: 'file', error: 'EIO' }, 'EIO'],
])(
  'something in the place of a state file that cannot be read whole: %s: not ready, since it could not be kept before it is removed',
  (_name, entry, why) => {
    // What is staged on the same device says which volume it is.
    const built = node().staged('pv-1', '7:1').published(GONE, 'pv-1', '7:1', { stateFile: false })
    const made = plan(built.entry({ path: at, mtime: HOUR_AGO, ...entry }))
    expect(only(made, 'CleanOrphanVolume').blocked).toMatchObject({
      code: 'NodeUnreadable',
      message: `${ROOT}/${at} could not be read (${why}); what it contains is unknown`,
    })
    expect(kinds(made)).toEqual([])
  },
)

describe('a raw block volume', () => {
  const data = `${BLOCK}/pv-1/data/vol_data.json`
  const link = `pods/${GONE}/volumeDevices/kubernetes.io~csi/pv-1`
  const linked = (): NodeBuilder =>
    node()
      .link(link, '/var/lib/kubelet/x')
      .file(data, JSON.stringify({ ...THREE, attachmentID: 'csi-1' }))

  it('of which only the link is left goes where its PersistentVolume is shown not to exist, and no driver is called', () => {
    const left = (): NodeBuilder => node().link(link, '/var/lib/kubelet/x')
    const made = plan(left(), { orphans: true })
    expect(outcome(made)).toEqual(['UnmapVolume', 'RemoveOrphanPodDir'])
    expect(only(made, 'UnmapVolume').steps).toEqual([{ op: 'unlink', target: `${ROOT}/${link}` }])
    const known = left().persistentVolume('pv-1', { mode: 'Block', attached: false })
    expect(blocked(plan(known))).toEqual(['UnmapVolume IdentityUnconfirmed'])
    for (const more of [`${BLOCK}/staging/pv-1`, `${BLOCK}/publish/pv-1/${GONE}`])
      expect(blocked(plan(left().dir(more)))[0]).toMatch(/^UnmapVolume Identity/)
    const looped = left()
    looped.loops.push({ name: '/dev/loop6', backingFile: `${ROOT}/${BLOCK}/pv-1/dev/${GONE}` })
    expect(blocked(plan(looped))).toEqual(['UnmapVolume IdentityUnconfirmed'])
  })

  it('with nothing staged on disk the driver is asked all the same (S16), and nothing of it is left', () => {
    const made = plan(linked(), { orphans: true })
    expect(kinds(made)).toEqual(['UnmapVolume', 'UnmapDevice', 'RemoveOrphanPodDir'])
    expect(only(made, 'UnmapDevice').volume).toMatchObject({
      name: 'pv-1',
      mode: 'Block',
      driver: DRIVER,
      handle: HANDLE,
    })
    expect(ops(made)[0]).toBe('unlink, NodeUnpublishVolume')
    expect(only(made, 'UnmapDevice').steps.map(({ op, target }) => `${op} ${target.split(BLOCK)[1]}`)).toEqual([
      'NodeUnstageVolume /staging/pv-1',
      'unlink /pv-1/data/vol_data.json',
      'rmdir /pv-1/data',
      'rmdir /pv-1',
    ])
  })
})
