/** C10: names that collide in the directory of block volumes. */
import { describe, expect, it } from 'vitest'
import { blockVolumes } from '../../src/core/facts/block-volumes.ts'
import { ActualInputs } from '../../src/core/volumes/on-disk/actual-inputs.ts'
import type { BlockVolume } from '../../src/core/volumes/on-disk/block-volume.ts'
import { claimOf, type NodeBuilder, node, ROOT, uid, volumeData } from '../helpers/node-builder.ts'
import { kinds, plan } from '../reconcile/planned.ts'

const BASE = 'plugins/kubernetes.io/csi/volumeDevices'
const DEVICE = { dev: '0:6', root: '/loop1', fsType: 'devtmpfs', type: 'file' } as const
const of = (built: NodeBuilder): BlockVolume[] => blockVolumes(new ActualInputs(built.build()))

/** A raw block volume of a pod, as the kubelet maps it. */
const mapped = (built: NodeBuilder, name: string, podUid: string): NodeBuilder => {
  built.loops.push({ name: '/dev/loop9', backingFile: `${ROOT}/${BASE}/${name}/dev/${podUid}` })
  return built
    .mount(`${BASE}/${name}/dev/${podUid}`, DEVICE)
    .mount(`${BASE}/publish/${name}/${podUid}`, DEVICE)
    .dir(`${BASE}/staging/${name}`)
    .file(`${BASE}/${name}/data/vol_data.json`, volumeData(name, name))
    .link(`pods/${podUid}/volumeDevices/kubernetes.io~csi/${name}`, 'x')
}

const wanting = (built: NodeBuilder, podUid: string, name: string): NodeBuilder =>
  built.livingPod(podUid, `app-${name}`, [claimOf(name)], { devices: true }).persistentVolume(name, { mode: 'Block' })

describe('a PersistentVolume called like a directory of the kubelet', () => {
  it.each(['publish', 'staging', 'data', 'dev'])('%s: a healthy node stays as it is', (name) => {
    const built = mapped(wanting(node(), uid(2), name), name, uid(2))
    expect(of(built).map((block) => [block.name, block.mappings.map(({ podUid }) => podUid)])).toEqual([
      [name, [uid(2)]],
    ])
    const made = plan(built, { orphans: true })
    expect([made.operations, made.waiting]).toEqual([[], []])
  })
  it.each([
    ['publish', 'pv-1'],
    ['staging', 'pv-1'],
    ['publish', 'staging'],
  ])('%s and %s side by side', (one, other) => {
    const built = mapped(mapped(wanting(wanting(node(), uid(2), one), uid(3), other), one, uid(2)), other, uid(3))
    expect(of(built).map((block) => block.name)).toEqual([one, other].toSorted())
    expect(plan(built, { orphans: true }).operations).toEqual([])
  })
  it('of a pod that is gone: nothing of another volume goes with it', () => {
    const built = mapped(mapped(wanting(node(), uid(2), 'pv-1'), 'pv-1', uid(2)), 'publish', uid(9))
    const made = plan(built)
    expect(made.operations.flatMap((each) => each.paths).filter((path) => path.includes('pv-1'))).toEqual([])
    expect(kinds(made)).toContain('UnmapVolume')
  })
})

it('only a pod’s UID is a map: any other file is somebody’s', () => {
  const built = mapped(node(), 'pv-1', uid(9)).file(`${BASE}/pv-1/dev/notes`, 'x')
  const [block] = of(built)
  expect(block?.mappings.map(({ podUid }) => podUid)).toEqual([uid(9)])
  expect(block?.unexpected.map(({ path }) => path)).toEqual([`${BASE}/pv-1/dev/notes`])
})

it('a directory of it that could not be read may hold anything', () => {
  const path = `${BASE}/pv-1/dev/sub`
  const [block] = of(mapped(node(), 'pv-1', uid(9)).entry({ path, type: 'dir', error: 'EACCES' }))
  expect(block?.unexpected.map((each) => each.path)).toEqual([path])
})

it('P104, P73: without a device on the map only the link that the record names belongs to it', () => {
  const map = 'plugins/kubernetes.io/iscsi/volumeDevices/iface-default/10.0.0.1:3260-iqn.a-lun-0'
  const link = (name: string) => `pods/${uid(9)}/volumeDevices/kubernetes.io~iscsi/${name}`
  const built = node()
    .file(`${map}/${uid(9)}`, '')
    .file(`${map}/iscsi.json`, '{"VolName":"own"}')
  const found = of(built.link(link('a'), '/dev/sdb').link(link('own'), '/dev/sdc'))
  expect(found.map(({ mappings }) => mappings.map(({ symlink }) => symlink))).toEqual([[link('own')], [link('a')]])
})
