/** Which driver and handle a volume is undone with, and when nobody can tell (S16, S17; O5, O6, O9, O22). */
import { describe, expect, it } from 'vitest'
import { csiGlobalDir } from '../../../src/core/volumes/volume-names.ts'
import { DRIVER, type NodeBuilder, node, ROOT, uid, volumeData } from '../../helpers/node-builder.ts'
import { blocked, GONE, GONE_CSI, kinds, only, outcome, plan, WANTS_PV_1 } from '../planned.ts'

describe('names that every JavaScript object has', () => {
  const NAMES = ['constructor', 'toString', '__proto__', 'hasOwnProperty']
  it.each(NAMES)('nobody gave a handle for a file system volume called %s', (name) => {
    const built = node().published(GONE, name, '7:2', { stateFile: false }).staged('other', '7:1')
    expect(plan(built).operations.find((each) => each.pod?.uid === GONE)?.blocked).toMatchObject({
      code: 'IdentityUnconfirmed',
      message: expect.stringContaining('vol_data.json is missing'),
    })
  })
  it.each(NAMES)('nor for a block volume called %s', (name) => {
    const built = node()
      .persistentVolume(name, { mode: 'Block', attached: false })
      .link(`pods/${GONE}/volumeDevices/kubernetes.io~csi/${name}`, `${ROOT}/elsewhere`)
    expect(blocked(plan(built))).toEqual(['UnmapVolume IdentityUnconfirmed'])
  })
})

const ofGone = (built: NodeBuilder) => plan(built).operations.find(({ pod }) => pod?.uid === GONE)

describe('S17: a state file is compared with what is mounted', () => {
  const LIVING = uid(7)
  /** A pod that lives has vol-1, of device 7:1; the file of one that is gone names the same volume. */
  const beside = (dev: string, fsType = 'ext4'): NodeBuilder => {
    const built = node().persistentVolume('pv-1', { handle: 'vol-1' }).livingPod(LIVING, 'web', WANTS_PV_1)
    built.staged('vol-1', '7:1').published(LIVING, 'pv-1', '7:1', { handle: 'vol-1' })
    return built
      .mount(`${GONE_CSI}/mount`, { dev, fsType })
      .file(`${GONE_CSI}/vol_data.json`, volumeData('pv-1', 'vol-1'))
  }

  it.each<[string, NodeBuilder]>([
    ['of another device', beside('7:2')],
    ['staged for another volume', beside('7:2').staged('vol-2', '7:2')],
    ['staged for another volume, by FUSE', beside('0:52', 'fuse.s3').staged('vol-2', '0:52')],
  ])('it is %s: the volume that lives is not undone by its name', (_name, built) => {
    expect(ofGone(built)?.blocked).toMatchObject({
      code: 'IdentityUnconfirmed',
      message: expect.stringMatching(/^vol_data\.json names another volume than .* shows: .*, and not .*\^vol-1/),
    })
  })

  it.each<[string, NodeBuilder]>([
    ['of the same device', beside('7:1')],
    ['a mount of its own, as FUSE may have', beside('0:52', 'fuse.s3')],
  ])('control: it is %s: undone, and what is staged stays (O30)', (_name, built) => {
    expect(ofGone(built)?.volume?.handle).toBe('vol-1')
    expect(outcome(plan(built))).toEqual(['UnmountVolume'])
  })
})

it.each([
  ['nas:/a/dir', undefined],
  ['nas:/b', 'IdentityUnconfirmed'],
])('S17: all exports of a server may have the device number of nas:/a, which is staged: %s', (source, code) => {
  const [dir, share] = [csiGlobalDir(DRIVER, 'vol-1'), { dev: '0:70', fsType: 'nfs4' }]
  const built = node().file(`${dir}/vol_data.json`, volumeData('pv-1', 'vol-1'))
  built.mount(`${dir}/globalmount`, { ...share, source: 'nas:/a' }).mount(`${GONE_CSI}/mount`, { ...share, source })
  expect([ofGone(built)?.kind, ofGone(built)?.blocked?.code]).toEqual(['CleanOrphanVolume', code])
})

describe('S17: --handle does not lift the device check', () => {
  const lost = (dev: string): NodeBuilder =>
    node().published(GONE, 'pv-1', dev, { stateFile: false }).persistentVolume('pv-1', { handle: 'vol-1' })
  const OTHER = 'IdentityUnconfirmed'
  it.each<[code: string | undefined, name: string, change: (built: NodeBuilder) => NodeBuilder]>([
    [OTHER, 'the handle is staged from another device', (built) => built.staged('vol-1', '7:1')],
    [OTHER, 'so it is, its state file lost', (built) => built.staged('vol-1', '7:1', { stateFile: false })],
    [OTHER, 'the device is that of another staged volume', (built) => built.staged('other', '7:2')],
    [
      OTHER,
      'the handle is staged from another part of the device',
      (built) => {
        const dir = csiGlobalDir(DRIVER, 'vol-1')
        return built
          .mount(`${dir}/globalmount`, { dev: '7:2', root: '/another', fsType: 'ext4' })
          .file(`${dir}/vol_data.json`, volumeData('pv-1', 'vol-1'))
      },
    ],
    [undefined, 'the handle is staged from the same device', (built) => built.staged('vol-1', '7:2')],
    [undefined, 'so it is, its state file lost', (built) => built.staged('vol-1', '7:2', { stateFile: false })],
    [undefined, 'nothing is staged (C20)', (built) => built],
    [undefined, 'what is staged is on other devices', (built) => built.staged('other', '7:5')],
    [
      undefined,
      'several show the device, this one among them',
      (built) => built.staged('vol-1', '7:2').staged('other', '7:2', { stateFile: false }),
    ],
    [
      undefined,
      'the older layout, with a state file that says so (C11)',
      (built) =>
        built
          .mount('plugins/kubernetes.io/csi/pv/pv-1/globalmount', { dev: '7:2', fsType: 'ext4' })
          .file('plugins/kubernetes.io/csi/pv/pv-1/vol_data.json', volumeData('pv-1', 'vol-1')),
    ],
  ])('%s: %s', (code, _name, change) => {
    const made = only(plan(change(lost('7:2')), { handles: { 'pv-1': 'vol-1' } }), 'CleanOrphanVolume')
    expect(made.blocked?.code).toBe(code)
    if (code === undefined) expect(made.volume).toMatchObject({ driver: DRIVER, handle: 'vol-1' })
  })
  it('a sub-path shows the device where the target does not', () => {
    const built = node()
      .persistentVolume('pv-1', { handle: 'vol-1', attached: false })
      .staged('vol-1', '7:1')
      .file(`${GONE_CSI}/vol_data.json`, '')
      .leaf(GONE, 'pv-1', '7:2')
    expect(blocked(plan(built))).toContainEqual('CleanOrphanVolume IdentityUnconfirmed')
    expect(blocked(plan(built, { handles: { 'pv-1': 'vol-1' } }))).toContainEqual(
      'CleanOrphanVolume IdentityUnconfirmed',
    )
  })
  it('a block volume is not one that is staged as a file system', () => {
    const built = node()
      .persistentVolume('pv-b', { handle: 'vol-1', mode: 'Block', attached: false })
      .link(`pods/${GONE}/volumeDevices/kubernetes.io~csi/pv-b`, `${ROOT}/elsewhere`)
    expect(kinds(plan(built, { handles: { 'pv-b': 'vol-1' } }))).toEqual(['UnmapVolume'])
    built.staged('vol-1', '7:1')
    const made = plan(built, { handles: { 'pv-b': 'vol-1' } })
    expect(only(made, 'UnmapVolume').blocked?.code).toBe('IdentityUnconfirmed')
  })
})

describe('S17: nothing is mounted, so that there is no device to compare', () => {
  /** A pod that is gone, whose state file was emptied, and a PV of that name that is staged here. */
  const emptied = (): NodeBuilder =>
    node()
      .file(`${GONE_CSI}/vol_data.json`, '')
      .dir(`${GONE_CSI}/mount`)
      .persistentVolume('pv-1', { handle: 'new', attached: false })
      .staged('new', '7:1')
  it('a PersistentVolume of that name that is staged for nobody else confirms it (O6)', () => {
    expect(kinds(plan(emptied()))).toEqual(['CleanOrphanVolume', 'UnmountDevice'])
  })
  it.each<[string, (built: NodeBuilder) => NodeBuilder]>([
    [
      'another pod has it',
      (built) => built.livingPod(uid(2), 'app', WANTS_PV_1).published(uid(2), 'pv-1', '7:1', { handle: 'new' }),
    ],
    ['another pod wants it', (built) => built.livingPod(uid(2), 'app', WANTS_PV_1)],
    ['another pod that is gone had it', (built) => built.published(uid(8), 'pv-1', '7:1', { handle: 'new' })],
    [
      'another pod that is gone shows it, its state file lost',
      (built) => built.published(uid(8), 'pv-1', '7:1', { stateFile: false }),
    ],
  ])('%s: it may have been made anew, and confirms nothing', (_name, change) => {
    const made = plan(change(emptied()))
    expect(made.operations.find((each) => each.pod?.uid === GONE)?.blocked?.code).toBe('IdentityUnconfirmed')
  })
})

it('a staging directory whose state file is lost: is told by a name in the status of the node that has its hash', () => {
  const built = node().staged('vol-1', '7:1', { stateFile: false }).persistentVolume('pv-1', { handle: 'vol-1' })
  built.volumes.length = 0
  const made = plan(built)
  expect(kinds(made)).toEqual(['UnmountDevice', 'DetachVolume'])
  expect(only(made, 'UnmountDevice').volume).toMatchObject({
    driver: DRIVER,
    handle: 'vol-1',
    handleFrom: "the node's status, confirmed by the directory's hash",
  })
})

it('S17: a staging directory whose name is not the hash of the handle on record is left alone', () => {
  const built = node().staged('vol-1', '7:1', { stateFile: false })
  built.file(`${csiGlobalDir(DRIVER, 'vol-1')}/vol_data.json`, volumeData('pv-1', 'other'))
  expect(blocked(plan(built))).toEqual(['UnmountDevice IdentityUnconfirmed'])
})
