/** S3: of what could not be read it is known neither that something is there nor that it is not. */
import { describe, expect, it } from 'vitest'
import { decisionsOf } from '../../../src/core/reconcile/decisions.ts'
import { decideNode } from '../../../src/core/reconcile/plan-node.ts'
import { explain } from '../../helpers/explaining.ts'
import { claimOf, DRIVER, HOUR_AGO, type NodeBuilder, node, ROOT, uid } from '../../helpers/node-builder.ts'
import { planOptions } from '../../helpers/plan-options.ts'
import { blocked, codes, GONE, GONE_CSI, kinds, plan } from '../planned.ts'

const LIVING = uid(2)
const POD = `pods/${LIVING}`
const STAGED = `plugins/kubernetes.io/csi/${DRIVER}/${'a'.repeat(64)}`

/** A directory or file that is there, and of which the disk says no more. */
const unread = (built: NodeBuilder, path: string, error = 'EIO'): NodeBuilder =>
  built.entry({ path, type: path.endsWith('.json') ? 'file' : 'dir', error, mtime: HOUR_AGO })

/** A pod that lives with an emptyDir and a CSI volume; the disk shows neither. */
const living = (): NodeBuilder =>
  node()
    .persistentVolume('pv-1')
    .livingPod(LIVING, 'app', [{ name: 'scratch', emptyDir: {} }, claimOf()])

describe('a pod that lives', () => {
  it.each([POD, `${POD}/volumes`])('is given nothing where %s could not be read', (path) => {
    expect(blocked(plan(unread(living(), path)))).toEqual(Array(2).fill('MountVolume NodeUnreadable'))
  })

  it.each([
    { path: `${POD}/plugins`, volume: 'scratch' },
    { path: `${POD}/volumes/kubernetes.io~empty-dir`, volume: 'scratch' },
    { path: `${POD}/volumes/kubernetes.io~csi/pv-1/vol_data.json`, volume: 'pv-1' },
    { path: 'plugins/kubernetes.io/csi', volume: 'pv-1' },
  ])('is not given $volume where $path could not be read', ({ path, volume }) => {
    const { operations } = plan(unread(living(), path))
    const held = operations.filter((each) => each.blocked?.code === 'NodeUnreadable')
    expect(held.map((each) => each.volume?.name)).toEqual([volume])
    expect(held[0]?.blocked?.message).toContain(`${path} could not be read (EIO)`)
  })

  it('may have any volume where its directory could not be read: none is unstaged or detached', () => {
    const built = unread(living(), `${POD}/volumes/kubernetes.io~csi`).persistentVolume('pv-2').staged('pv-2', '7:2')
    expect(blocked(plan(built))).toEqual([
      'MountVolume NodeUnreadable',
      'UnmountDevice MayBeInUse',
      'DetachVolume MayBeInUse',
    ])
  })
})

describe('an attachment that nobody wants', () => {
  it.each([
    'plugins',
    'plugins/kubernetes.io',
    `plugins/kubernetes.io/csi/${DRIVER}`,
    `${STAGED}/vol_data.json`,
    'plugins/kubernetes.io/csi/volumeDevices',
    `pods/${GONE}`,
    `pods/${GONE}/volumeDevices`,
    `pods/${GONE}/volumes/kubernetes.io~csi`,
  ])('stays where %s could not be read: it may be staged there (S21)', (path) => {
    const made = plan(unread(node().persistentVolume('pv-2'), path))
    expect(blocked(made)).toContain('DetachVolume NodeUnreadable')
    expect(kinds(made)).toEqual([])
  })
})

it('the directory of a pod that is gone is kept where it could not be read', () => {
  const made = plan(unread(node(), `pods/${GONE}`), { orphans: true })
  expect(made.operations).toEqual([])
  expect(codes(made)).toEqual(['OrphanDirKept'])
})

it.each([
  {
    name: 'of a pod that lives, a volume that would be mounted',
    built: () => unread(living(), `${POD}/volumes/kubernetes.io~csi/pv-1`),
    at: `${POD}/volumes/kubernetes.io~csi/pv-1`,
  },
  {
    name: 'of a pod that is gone, a volume of which nothing is seen',
    built: () => unread(node(), GONE_CSI),
    at: GONE_CSI,
  },
  { name: 'a staging directory', built: () => unread(node(), STAGED), at: STAGED },
  {
    name: 'a raw block volume’s map',
    built: () => unread(node(), 'plugins/kubernetes.io/csi/volumeDevices/pv-1/dev'),
    at: 'plugins/kubernetes.io/csi/volumeDevices/pv-1/dev',
  },
])('why it is left alone can be asked: $name', ({ built, at }) => {
  const decided = decideNode(built().build(), planOptions())
  const why = decisionsOf(decided).filter(({ obstacle }) => obstacle?.code === 'NodeUnreadable')
  expect(why.map((each) => [each.rule, each.why])).toContainEqual([
    'S3',
    `${ROOT}/${at} could not be read (EIO); what it contains is unknown`,
  ])
  const { explanation, decisions: told } = explain(built().build(), planOptions(), `${ROOT}/${at}`)
  const { verdict } = explanation
  expect(verdict).toMatchObject({ message: expect.stringContaining('could not be read (EIO)') })
  expect(verdict.state).not.toBe('nothing')
  expect(told.map(({ obstacle }) => obstacle?.code)).toContain('NodeUnreadable')
})
