/** S13: an emptyDir in memory ends with its last mount, and that may be a sub-path's. */
import { expect, it } from 'vitest'
import { type NodeBuilder, node } from '../../helpers/node-builder.ts'
import { DATA, GONE, plan, UNCOUNTED, withOrphans } from '../planned.ts'

const LEAF = `pods/${GONE}/volume-subpaths/mem/c/0`
const MARKERS = `pods/${GONE}/plugins/kubernetes.io~empty-dir`

const leaf = (fsType = 'tmpfs'): NodeBuilder => node().mount(LEAF, { dev: '0:70', fsType, root: '/sub' })

const NONE = [...DATA.slice(1), undefined]

it.each<[name: string, built: NodeBuilder, want: readonly unknown[]]>([
  ['whose directory is gone', leaf(), UNCOUNTED],
  [
    'whose directory is unmounted',
    leaf().dir(`pods/${GONE}/volumes/kubernetes.io~empty-dir/mem`).file(`${MARKERS}/mem/ready`),
    UNCOUNTED,
  ],
  [
    'seen through another prefix as well',
    leaf().mountLine(`/data/kubelet/${LEAF}`, '/sub', '0:70', 'tmpfs', 'tmpfs'),
    UNCOUNTED,
  ],
  ['of a hostPath in memory, which the host keeps', leaf().mountLine('/run', '/', '0:70', 'tmpfs', 'tmpfs'), NONE],
  ['of a secret', leaf().file(`${MARKERS}/wrapped_mem/ready`), NONE],
  [
    'of a secret of which nothing else is left (O17)',
    node().mount(LEAF, { dev: '0:70', fsType: 'tmpfs', root: '/..2026_11_21_02_04_30.123456789/password' }),
    NONE,
  ],
  ['of a disk', leaf('ext4'), NONE],
])('S13 sub-paths of an emptyDir in memory: %s', (_name, built, want) => {
  expect(plan(built).operations).toHaveLength(1)
  expect(withOrphans(built)).toEqual(want)
})
