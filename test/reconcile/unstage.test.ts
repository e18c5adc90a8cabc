/** Undoing what is staged: whose call it is, and who else shows it (S16, S24). */
import { describe, expect, it } from 'vitest'
import type { CsiSocket } from '../../src/core/rpc/endpoints.ts'
import { csiGlobalDir } from '../../src/core/volumes/volume-names.ts'
import { DRIVER, type NodeBuilder, node, ROOT, uid, volumeData } from '../helpers/node-builder.ts'
import { blocked, GONE, GONE_CSI, kinds, ops, outcome, plan, WANTS_PV_1 } from './planned.ts'

const withSocket = (built: NodeBuilder, socket: Partial<CsiSocket>): NodeBuilder =>
  built.with({ csiSockets: [{ path: 'x', driver: DRIVER, registered: true, ...socket }] })
const unmounted = (): NodeBuilder =>
  node()
    .dir(`${csiGlobalDir(DRIVER, 'vol-1')}/globalmount`)
    .file(
      `${csiGlobalDir(DRIVER, 'vol-1')}/vol_data.json`,
      JSON.stringify({ driverName: DRIVER, volumeHandle: 'vol-1' }),
    )

describe('S16 a driver that does not stage', () => {
  it('unmounts nothing that is staged (R444)', () => {
    const made = plan(withSocket(node().staged('vol-1', '7:1'), { capabilities: [] }))
    expect(blocked(made)).toEqual(['UnmountDevice ForeignMount'])
    expect(made.operations[0]?.blocked?.message).toContain('does not stage')
  })
  it('loses the directory and state file that an older one left', () => {
    const made = plan(withSocket(unmounted(), { capabilities: [] }))
    expect(kinds(made)).toEqual(['UnmountDevice'])
    expect(ops(made)).toEqual(['rmdir, unlink, rmdir'])
  })
  it('is not one whose capabilities are not known', () => {
    const made = plan(withSocket(node().staged('vol-1', '7:1'), {}))
    expect(made.operations[0]?.steps[0]?.op).toBe('NodeUnstageVolume')
    expect(blocked(made)).toEqual([])
  })
})

describe('S24 second users of what is staged, and copies that go with it', () => {
  const GLOBAL = `${csiGlobalDir(DRIVER, 'pv-1')}/globalmount`
  const OLDER = 'plugins/kubernetes.io/csi/pv/pv-1/globalmount'
  const TARGET = `${GONE_CSI}/mount`
  /** The kubelet's directory through another prefix: a peer of the root's mount, a slave of it, or neither. */
  const through = (propagation: string): NodeBuilder =>
    node().mountLine('/host', '/', '254:0', 'ext4', '/dev/vda', propagation)
  const volume = (built: NodeBuilder): NodeBuilder => built.staged('pv-1', '7:1').published(GONE, 'pv-1', '7:1')
  const copy = (built: NodeBuilder, path: string, group: string): NodeBuilder =>
    built.mountLine(`/host${ROOT}/${path}`, '/', '7:1', 'ext4', '/dev/loop1', group)

  it.each<{ name: string; built: NodeBuilder; held: boolean }>([
    { name: 'nobody', built: volume(node()), held: false },
    {
      name: 'its own staging of before 1.24 (C11)',
      built: volume(node())
        .mount(OLDER, { dev: '7:1', fsType: 'ext4', source: '/dev/loop1' })
        .file(OLDER.replace('globalmount', 'vol_data.json'), volumeData('pv-1', 'pv-1')),
      held: false,
    },
    { name: 'a copy of the global mount', built: copy(volume(through('shared:100')), GLOBAL, 'shared:7'), held: false },
    { name: 'a copy of the pod’s mount', built: copy(volume(through('shared:100')), TARGET, 'shared:7'), held: false },
    { name: 'a private copy of the global mount', built: copy(volume(through('')), GLOBAL, ''), held: true },
    { name: 'a copy in another group', built: copy(volume(through('shared:5')), GLOBAL, 'shared:7'), held: true },
    {
      name: 'a copy at another place',
      built: copy(volume(through('shared:100')), GLOBAL.replace('plugins', 'backup'), 'shared:7'),
      held: true,
    },
    {
      // Every bind mount of a shared mount is in its group (mount_namespaces(7)), and stays when the mount goes.
      name: 'a bind mount in the group of the global mount',
      built: node().staged('pv-1', '7:1').mountLine('/mnt/mine', '/', '7:1', 'ext4', '/dev/loop1', 'shared:112'),
      held: true,
    },
    {
      name: 'a bind mount of a directory in it',
      built: volume(node()).mountLine('/mnt/mine', '/sub', '7:1', 'ext4', '/dev/loop1'),
      held: true,
    },
  ])('$name: $held', ({ built, held }) => {
    const made = plan(built)
    expect(blocked(made)).toEqual(held ? ['UnmountDevice HeldBy'] : [])
    expect(kinds(made).includes('UnmountDevice')).toBe(!held)
  })
})

it('S24: a mount that an operation finds and leaves stays, and so does what is staged on its device', () => {
  const built = node().persistentVolume('pv-1').livingPod(uid(2), 'app', WANTS_PV_1).staged('pv-1', '7:1')
  built.published(uid(2), 'pv-1', '7:1', { stateFile: false }).staged('other', '7:1', { stateFile: false })
  expect(outcome(plan(built))).toEqual(['MountVolume'])
})

describe('staged without a mount (C20): nothing shows its device', () => {
  const volume = (): NodeBuilder => unmounted().persistentVolume('pv-1', { handle: 'vol-1', attached: false })
  /** Published for a pod that is gone, its state file lost. */
  const lost = (built: NodeBuilder, name: string, dev: string): NodeBuilder =>
    built.published(GONE, name, dev, { stateFile: false })
  const known = (): NodeBuilder => volume().published(uid(8), 'pv-1', '7:3', { handle: 'vol-1' })

  it.each([
    { name: 'of its PersistentVolume’s name', built: lost(volume(), 'pv-1', '7:2') },
    { name: 'of any name, since nothing tells its device', built: lost(volume(), 'other', '7:2') },
    { name: 'of the device that another pod shows', built: lost(known(), 'other', '7:3') },
  ])('waits for a mount that nobody can identify (S17, S24): $name', ({ built }) => {
    const made = plan(built)
    expect(blocked(made)).toEqual(['CleanOrphanVolume IdentityUnconfirmed', 'UnmountDevice IdentityUnconfirmed'])
    expect(made.operations.at(-1)?.blocked?.message).toContain(`of pod ${GONE} is mounted`)
  })
  it('goes once a person says which volume it is', () => {
    const made = plan(lost(volume(), 'pv-1', '7:2'), { handles: { 'pv-1': 'vol-1' } })
    expect(kinds(made)).toEqual(['CleanOrphanVolume', 'UnmountDevice'])
  })
  it.each([
    { name: 'a mount of another name, on another device than its own pod’s', built: lost(known(), 'other', '7:2') },
    {
      name: 'a raw block volume',
      built: volume().mount(`plugins/kubernetes.io/csi/volumeDevices/publish/pv-b/${GONE}`, { type: 'file' }),
    },
  ])('does not wait for what cannot be its own: $name', ({ built }) => {
    expect(kinds(plan(built))).toContain('UnmountDevice')
  })
})
