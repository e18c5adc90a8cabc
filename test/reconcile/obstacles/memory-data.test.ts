/** S13: an emptyDir in memory ends with its last mount, and that may be a sub-path's. */
import { describe, expect, it } from 'vitest'
import { type NodeBuilder, node } from '../../helpers/node-builder.ts'
import { blocked, GONE, kinds, plan } from '../planned.ts'

const LEAF = `pods/${GONE}/volume-subpaths/mem/c/0`
const MARKERS = `pods/${GONE}/plugins/kubernetes.io~empty-dir`

const leaf = (fsType = 'tmpfs'): NodeBuilder => node().mount(LEAF, { dev: '0:70', fsType, root: '/sub' })

describe('S13 sub-paths of an emptyDir in memory', () => {
  it.each<{ name: string; built: NodeBuilder; want: string[] }>([
    { name: 'whose directory is gone', built: leaf(), want: ['UnmountVolume DeletesData'] },

    {
      name: 'whose directory is unmounted',
      built: leaf().dir(`pods/${GONE}/volumes/kubernetes.io~empty-dir/mem`).file(`${MARKERS}/mem/ready`),
      want: ['UnmountVolume DeletesData'],
    },
    {
      name: 'seen through another prefix as well',
      built: leaf().mountLine(`/data/kubelet/${LEAF}`, '/sub', '0:70', 'tmpfs', 'tmpfs'),
      want: ['UnmountVolume DeletesData'],
    },
    {
      name: 'of a hostPath in memory, which the host keeps',
      built: leaf().mountLine('/run', '/', '0:70', 'tmpfs', 'tmpfs'),
      want: [],
    },
    { name: 'of a secret', built: leaf().file(`${MARKERS}/wrapped_mem/ready`), want: [] },
    {
      name: 'of a secret of which nothing else is left (O17)',
      built: node().mount(LEAF, { dev: '0:70', fsType: 'tmpfs', root: '/..2026_11_21_02_04_30.123456789/password' }),
      want: [],
    },
    { name: 'of a disk', built: leaf('ext4'), want: [] },
  ])('$name', ({ built, want }) => {
    expect(blocked(plan(built))).toEqual(want)
    expect(plan(built).operations).toHaveLength(1)
    const made = plan(built, { orphans: true })
    expect(kinds(made)).toEqual(['UnmountVolume', 'RemoveOrphanPodDir'])
    expect(made.operations[0]?.deletes).toEqual(want.length === 0 ? undefined : { files: 0, bytes: 0, counted: false })
  })
})
