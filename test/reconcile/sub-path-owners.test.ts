/** S18: sub-paths bear a name that a PersistentVolume and a volume of the pod may share; each belongs to one of the two. */
import { describe, expect, it } from 'vitest'
import type { Plan } from '../../src/core/plan/plan.ts'
import { type NodeBuilder, node, ROOT } from '../helpers/node-builder.ts'
import { blocked, GONE, plan } from './planned.ts'

const LEAF = `pods/${GONE}/volume-subpaths/data/c/0`
const SECRET = `pods/${GONE}/volumes/kubernetes.io~secret/data`
const EMPTY_DIR = `pods/${GONE}/volumes/kubernetes.io~empty-dir/data`

/** Plugin of each operation, and how many sub-paths it unmounts. */
const owners = (plan: Plan): [string | undefined, number][] =>
  plan.operations
    .filter((each) => each.kind === 'UnmountVolume')
    .map((each) => [
      each.volume?.plugin,
      each.steps.filter(({ op, target }) => op === 'umount' && target.includes('/volume-subpaths/')).length,
    ])
const both = (): NodeBuilder => node().published(GONE, 'data', '7:1').mount(SECRET, { dev: '0:80' })

describe('PersistentVolume data and volume data of one pod', () => {
  it.each<[name: string, built: NodeBuilder, owner: string, other: string]>([
    ['on the device of the one', both().mount(LEAF, { dev: '7:1', root: '/s', fsType: 'ext4' }), 'csi', 'secret'],
    ['on the device of the other', both().mount(LEAF, { dev: '0:80', root: '/key' }), 'secret', 'csi'],
    [
      'in the directory of the one, on the disk of the node',
      node()
        .published(GONE, 'data', '7:1')
        .dir(EMPTY_DIR)
        .mount(LEAF, { dev: '254:0', root: `${ROOT}/${EMPTY_DIR}/sub`, fsType: 'ext4' }),
      'empty-dir',
      'csi',
    ],
    ['that shows neither', both().mount(LEAF, { dev: '8:1', root: '/s', fsType: 'ext4' }), 'csi', 'secret'],
  ])('a leaf %s', (_name, built, owner, other) => {
    expect(owners(plan(built)).toSorted()).toEqual(
      [
        [`kubernetes.io/${other}`, 0],
        [`kubernetes.io/${owner}`, 1],
      ].toSorted(),
    )
    const made = plan(built, { orphans: true })
    const removed = made.operations.flatMap((each) => each.steps.map((step) => `${step.op} ${step.target}`))
    expect(removed.length).toBe(new Set(removed).size)
    expect(made.operations.some((each) => each.kind === 'RemoveOrphanPodDir')).toBe(true)
  })

  it('the one blocked: the other leaves its sub-path alone', () => {
    const made = plan(both().mount(LEAF, { dev: '7:1', root: '/s', fsType: 'ext4' }).with({ csiSockets: [] }))
    expect(blocked(made)).toEqual(['UnmountVolume DriverUnavailable'])
    expect(made.operations.find((each) => each.blocked === undefined)?.paths.join()).not.toContain('subpaths')
  })

  it('a leaf in memory that shows neither may be the emptyDir’s data (S13)', () => {
    const built = node().published(GONE, 'data', '7:1').dir(EMPTY_DIR)
    built.file(`pods/${GONE}/plugins/kubernetes.io~empty-dir/data/ready`).mount(LEAF, { dev: '0:81', root: '/s' })
    expect(blocked(plan(built))).toEqual(['UnmountVolume DeletesData'])
  })

  it('a foreign mount among the sub-paths blocks both', () => {
    const built = both()
      .mount(LEAF, { dev: '7:1', root: '/s', fsType: 'ext4' })
      .mount(`${LEAF}/deep`, { fsType: 'ext4' })
    expect(blocked(plan(built))).toEqual(['UnmountVolume ForeignMount', 'UnmountVolume ForeignMount'])
  })
})
