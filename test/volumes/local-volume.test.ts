/** Is a raw local volume there, by each of its parts (P98, R805); and the steps that bring one up (P67, P68, P99). */
import { describe, expect, it } from 'vitest'
import type { PersistentVolume, Pod } from '../../src/core/kube/api/objects.ts'
import type { VolumeToMount } from '../../src/core/volumes/desired-state.ts'
import { whyNotMapped } from '../../src/core/volumes/map-steps.ts'
import { ActualInputs } from '../../src/core/volumes/on-disk/actual-inputs.ts'
import { claimOf, type NodeBuilder, node, ROOT, uid } from '../helpers/node-builder.ts'
import { kinds, only, plan } from '../reconcile/planned.ts'

const POD = uid(2)
const MAPS = 'plugins/kubernetes.io~local-volume/volumeDevices/pv-1'
const LINK = `pods/${POD}/volumeDevices/kubernetes.io~local-volume/pv-1`
const GLOBAL = 'plugins/kubernetes.io/local-volume/mounts/pv-1'
const MOUNT = `pods/${POD}/volumes/kubernetes.io~local-volume/pv-1`

/** A pod with a claim to a local volume, and nothing of it on disk. */
function wanting(source: Partial<PersistentVolume['spec']>, spec: Partial<Pod['spec']> = {}): NodeBuilder {
  const { volumeMode: mode = 'Filesystem' } = source
  return node()
    .persistentVolume('pv-1', { mode, source: { local: { path: '/dev/sdb' }, ...source } })
    .livingPod(POD, 'app', [claimOf()], { devices: mode === 'Block', spec })
}

describe('a raw device is there with its link, its map and its loop device', () => {
  const link = (built: NodeBuilder) => built.link(LINK, '/dev/sdb')
  const map = (built: NodeBuilder) => built.mount(`${MAPS}/${POD}`, { dev: '0:6', root: '/sdb', fsType: 'devtmpfs' })
  const loop = (built: NodeBuilder, backingFile = `${ROOT}/${MAPS}/${POD}`) => {
    built.loops.push({ name: '/dev/loop3', backingFile })
    return built
  }
  const block = () => wanting({ volumeMode: 'Block' })

  it.each<{ name: string; made: NodeBuilder; want: string[] }>([
    { name: 'no map', made: loop(link(block())), want: ['MapVolume'] },
    { name: "another file's loop device", made: loop(map(link(block())), '/srv/x'), want: ['MapVolume'] },
    { name: 'a loop device that may be its', made: loop(map(link(block())), '/'), want: [] },
  ])('$name: $want', ({ made, want }) => expect(kinds(plan(made))).toEqual(want))

  it('or with a loop device that may be its, where nobody has read them', () => {
    const { snapshot, mounts } = map(link(block())).build()
    const { blockDevices: _, ...unread } = snapshot
    const volume = { podUid: POD, plugin: 'kubernetes.io/local-volume', specName: 'pv-1' } as VolumeToMount
    expect(whyNotMapped(new ActualInputs({ snapshot: unread, mounts }), volume, `${MAPS}/${POD}`)).toBeUndefined()
  })

  it("is made in the kubelet's order", () => {
    const target = `${ROOT}/${MAPS}/${POD}`
    expect(only(plan(block()), 'MapVolume').steps).toEqual([
      { op: 'mkdir', target: `${ROOT}/${MAPS}`, mode: '0750' },
      { op: 'mapDevice', target, source: '/dev/sdb' },
      { op: 'symlink', target: `${ROOT}/${LINK}` },
      { op: 'losetup -f', target },
    ])
  })
})

describe('a file system', () => {
  const steps = (built: NodeBuilder) => only(plan(built), 'MountVolume').steps
  const device = { op: 'mountDevice', target: `${ROOT}/${GLOBAL}`, detail: 'unless it is a directory' }
  const dir = { op: 'mkdir', target: `${ROOT}/${MOUNT}`, mode: '0750' }
  const bind = { op: 'mount', target: `${ROOT}/${MOUNT}` }

  it('as the PersistentVolume says', () =>
    expect(steps(wanting({ local: { path: '/mnt/d', fsType: 'xfs' }, mountOptions: ['noexec', 'discard'] }))).toEqual([
      { ...device, source: '/mnt/d', fsType: 'xfs', options: ['discard', 'noexec'] },
      dir,
      { ...bind, options: ['bind', 'discard', 'noexec'] },
    ]))
})

it('R455, R462: a file system that has grown is expanded, where it is asked for', () => {
  const device = { dev: '8:16', fsType: 'xfs', source: '/dev/sdb' }
  const grown = wanting({ capacity: { storage: '2Gi' } })
    .mount(GLOBAL, device)
    .mount(MOUNT, device)
  const { blocked, steps } = only(plan(grown), 'ExpandVolume')
  expect([blocked?.code, ...steps.map(({ op, target }) => [op, target])]).toEqual([
    'NotAsked',
    ['growFileSystem', `${ROOT}/${MOUNT}`],
  ])
})
