/** S18, S13: each layer of a stack is judged; what is stacked below a mount that is dead is judged as if it were alone. */
import { describe, expect, it } from 'vitest'
import { type NodeBuilder, node, ROOT } from '../../helpers/node-builder.ts'
import { blocked, GONE, plan, UNCOUNTED, withOrphans } from '../planned.ts'

const EMPTY_DIR = `pods/${GONE}/volumes/kubernetes.io~empty-dir/e`
const SECRET = `pods/${GONE}/volumes/kubernetes.io~secret/s`
const NFS = `pods/${GONE}/volumes/kubernetes.io~nfs/n`

type Layer = Parameters<NodeBuilder['mount']>[1]
const DEAD: Layer = { dev: '0:66', fsType: 'fuse.x' }

/** Layers of one path, oldest first, the newest of which does not answer. */
const deadOver = (path: string, ...layers: Layer[]): NodeBuilder => {
  const built = node()
  for (const layer of layers) built.mount(path, layer)
  built.dead(path)
  return built
}

describe('S18 a dead mount on top excuses itself alone', () => {
  it.each<[name: string, path: string, layers: Layer[], want: string[]]>([
    ['nothing below', NFS, [DEAD], []],
    ['a live disk below', NFS, [{ dev: '8:17', fsType: 'ext4' }, DEAD], ['UnmountVolume ForeignMount']],
    [
      'another root of its own file system below',
      NFS,
      [{ ...DEAD, root: '/other' }, DEAD],
      ['UnmountVolume ForeignMount'],
    ],
    ['the tmpfs of a secret below', SECRET, [{}, DEAD], []],
    ['a disk below, on a secret', SECRET, [{ fsType: 'ext4' }, DEAD], ['UnmountVolume ForeignMount']],
    ['a disk below, on an emptyDir', EMPTY_DIR, [{ fsType: 'ext4' }, DEAD], ['UnmountVolume ForeignMount']],
  ])('%s', (_name, path, layers, want) => {
    const made = plan(deadOver(path, ...layers))
    expect(blocked(made)).toEqual(want)
    expect(made.operations).toHaveLength(1)
  })

  it('is taken off as a dead one, and what is below it as one that lives', () => {
    const [operation] = plan(deadOver(SECRET, {}, DEAD), { lazy: [`${ROOT}/${SECRET}`] }).operations
    expect(operation?.steps.map((step) => [step.op, step.detail])).toEqual([
      ['umount', 'lazy'],
      ['umount', undefined],
      ['rmdir', undefined],
    ])
  })
})

it.each<[name: string, layers: Layer[], want: string[]]>([
  ['its own mounts alone', [{}, {}, {}], []],
  ['another between its own', [{}, { dev: '8:17', fsType: 'ext4' }, {}], ['UnmountVolume ForeignMount']],
  ['another over its own', [{}, {}, { dev: '8:17', fsType: 'ext4' }], ['UnmountVolume ForeignMount']],
])('S18 each layer of a stack must be the volume: %s', (_name, layers, want) => {
  const made = plan(
    layers.reduce((built, layer) => built.mount(NFS, { dev: '0:70', fsType: 'nfs4', ...layer }), node()),
  )
  expect(blocked(made)).toEqual(want)
  expect(made.operations[0]?.steps.filter(({ op }) => op === 'umount')).toHaveLength(3)
})

describe('S13 an emptyDir in memory below a dead mount', () => {
  const lazy = [`${ROOT}/${EMPTY_DIR}`]
  it('is data: it goes with --orphans alone, uncounted', () => {
    expect(withOrphans(deadOver(EMPTY_DIR, {}, DEAD), { lazy })).toEqual(UNCOUNTED)
  })
})
