/** A detach comes last: while anything of the volume is left here that the plan does not take away, it is not done (S21, O7). */
import { describe, expect, it } from 'vitest'
import { DRIVER, NOW, type NodeBuilder, node, ROOT, uid, volumeData } from '../helpers/node-builder.ts'
import { ready } from '../helpers/objects.ts'
import { BLOCK, blocked, GONE, GONE_CSI, kinds, mappedBlock, only, outcome, plan, waits } from './planned.ts'

const attached = (name = 'pv-1'): NodeBuilder => node().persistentVolume(name, { handle: 'vol-1' })
const withoutVolume = (built: NodeBuilder): NodeBuilder => {
  built.volumes.length = 0
  return built
}

it.each([
  { kind: 'UnmountDevice', built: attached().staged('vol-1', '7:1') },
  { kind: 'UnmapVolume', built: mappedBlock(attached(), GONE) },
  { kind: 'UnmapDevice', built: mappedBlock(attached(), GONE) },
  { kind: 'DetachVolume', built: attached() },
] as const)('the device that a person names (S21): stands in the $kind', ({ kind, built }) => {
  expect(only(plan(built, { devices: { 'pv-1': '/dev/sdb' } }), kind).volume?.givenDevice).toBe('/dev/sdb')
})

const deleting = node()
  .persistentVolume('pv-1', { handle: 'vol-1', attached: false })
  .attach('pv-1', 'vol-1', 'node-1', { metadata: { deletionTimestamp: NOW } })
it.each([
  ['is not deleted', attached(), ['DetachVolume OtherMachine']],
  ['is, where the volume is here', attached().staged('vol-1', '7:1'), []],
  ['is being deleted', deleting, ['DetachVolume AttachmentDeleting']],
])('an attachment that was made for another machine of this name %s', (_, built, waiting) => {
  const annotations = { 'csi.alpha.kubernetes.io/node-id': 'i-0aaa111' }
  for (const { metadata } of built.attachments) Object.assign(metadata, { annotations })
  const made = plan(built)
  expect([waits(made), kinds(made).filter((kind) => kind === 'DetachVolume').length]).toEqual([
    waiting,
    1 - waiting.length,
  ])
})

describe('what bears the name of its PersistentVolume comes first', () => {
  it.each<[string, NodeBuilder]>([
    ['a mounted volume of a pod that is gone', attached().published(GONE, 'pv-1', '7:1', { stateFile: false })],
    ['one with an empty state file that is not mounted', attached().file(`${GONE_CSI}/vol_data.json`, '')],
    ['a block volume', mappedBlock(attached(), GONE)],
    [
      'a staging of before 1.24, its state file lost (C11)',
      attached().mount('plugins/kubernetes.io/csi/pv/pv-1/globalmount', { dev: '7:1', fsType: 'ext4' }),
    ],
    ['the block volume of a pod whose PersistentVolume is gone', withoutVolume(mappedBlock(attached(), GONE))],
  ])('%s', (_name, built) => {
    const made = plan(built)
    const detach = only(made, 'DetachVolume')
    // The first operation of the plan is the one that is in the way.
    expect(detach.blocked).toMatchObject({
      code: 'Predecessor',
      message: expect.stringMatching(/blocked/),
      hint: 'Resolve operation 1 first.',
    })
    expect(detach.after).toContain(made.operations[0]?.id)
  })
  it('of a block volume it bears name and mode, by which an apply finds its loop devices', () => {
    expect(only(plan(mappedBlock(attached(), GONE)), 'DetachVolume').volume).toMatchObject({
      name: 'pv-1',
      mode: 'Block',
    })
    const idle = node().persistentVolume('pv-1', { mode: 'Block' })
    expect(only(plan(idle), 'DetachVolume').volume).toMatchObject({ name: 'pv-1', mode: 'Block' })
  })
  it('a leaked sub-path, the PersistentVolume gone (O17)', () => {
    const built = attached().leaf(GONE, 'pv-1', '7:1')
    const made = plan(withoutVolume(built))
    expect(kinds(made)).toEqual(['UnmountVolume', 'DetachVolume'])
    expect(only(made, 'DetachVolume').after).toEqual([only(made, 'UnmountVolume').id])
  })
  it.each([`${BLOCK}/pv-old`, `${BLOCK}/publish/pv-old`])(
    'empty directories of an unfinished unmap are none: %s',
    (dir) => {
      const made = plan(attached().dir(dir))
      expect(outcome(made)).toEqual(['UnmapDevice', 'DetachVolume'])
      expect(only(made, 'UnmapDevice')).toMatchObject({
        rule: 'R837',
        steps: [{ op: 'rmdir', target: `${ROOT}/${dir}` }],
      })
    },
  )
  it('a map that nobody can name is held to be of any volume', () => {
    const made = plan(attached().dir(`${BLOCK}/pv-old/dev`).mount(`${BLOCK}/pv-old/dev/x`, { fsType: 'ext4' }))
    expect(kinds(made)).toEqual([])
    expect(only(made, 'DetachVolume').blocked?.code).toBe('IdentityUnconfirmed')
  })

  it('a directory of that name whose state file names another volume is not it', () => {
    const made = plan(attached().published(GONE, 'pv-1', '7:1', { handle: 'old' }))
    expect(kinds(made)).toEqual(['UnmountVolume', 'DetachVolume'])
    expect(only(made, 'DetachVolume').after).toEqual([])
  })
})

it('the hash in its name proves the volume of an attachment, also if its PersistentVolume was made anew for another driver (R007)', () => {
  const built = node()
    .persistentVolume('pv-1', { source: { csi: { driver: 'renamed.test', volumeHandle: 'vol-1' } } })
    .attach('pv-1', 'vol-1')
  built.attached.length = 0
  const detach = only(plan(built), 'DetachVolume')
  expect([detach.volume?.driver, detach.volume?.handle, detach.blocked]).toEqual([DRIVER, 'vol-1', undefined])
})

describe('what the plan leaves is waited for', () => {
  it('a staged mount, its state file lost, that a living pod shows', () => {
    const built = attached().staged('vol-1', '7:1', { stateFile: false }).livingPod(uid(2), 'app')
    const made = plan(built.leaf(uid(2), 'x', '7:1'))
    expect(outcome(made)).toEqual(['DetachVolume waits: StillInUse'])
    expect(made.waiting[0]?.message).toContain('globalmount')
  })
  it('what a driver published without a mount, its state file lost (C17)', () => {
    const path = `${GONE_CSI}/mount`
    expect(waits(plan(attached().link(path, '/mnt/x')))).toEqual(['DetachVolume StillInUse'])
  })
  it('not a state file that an operation removes, with a stray file beside it', () => {
    const built = attached().file(`${GONE_CSI}/vol_data.json`, volumeData('pv-1', 'vol-1'))
    const made = plan(built.file(`${GONE_CSI}/notes.txt`, 'x'))
    expect(kinds(made)).toEqual(['UnmountVolume', 'DetachVolume'])
    expect(only(made, 'DetachVolume').after).toEqual([only(made, 'UnmountVolume').id])
  })
})

describe('a volume that could not be identified, whatever its name', () => {
  const unknown = (built: NodeBuilder): NodeBuilder => built.published(GONE, 'other', '7:2', { stateFile: false })
  it('blocks the detach of one whose device nothing here tells', () => {
    expect(blocked(plan(unknown(attached())))).toEqual([
      'CleanOrphanVolume IdentityUnconfirmed',
      'DetachVolume IdentityUnconfirmed',
    ])
  })

  it('not of one that is unmounted from a device of its own', () => {
    const made = plan(unknown(attached()).staged('vol-1', '7:1'))
    expect(kinds(made)).toEqual(['UnmountDevice', 'DetachVolume'])
  })
})

describe('where the controller would act otherwise (R718, R731)', () => {
  it('a volume in use is never detached, though the node is not ready for long, and out of service, which force its detach', () => {
    const built = attached().published(GONE, 'pv-1', '7:1', { handle: 'vol-1' }).staged('vol-1', '7:1').running(GONE)
    built.withNode((was) => ({
      spec: { taints: [{ key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' }] },
      status: { ...was.status, ...ready('2026-11-21T09:00:00Z', { status: 'Unknown' }) },
    }))
    expect(outcome(plan(built))).toEqual(['DetachVolume waits: PodStillRunning'])
  })

  it('what nobody wants and is not attached, or not any more, is left to it', () => {
    const built = node()
      .persistentVolume('pv-1', { handle: 'vol-1', attached: false })
      .attach('pv-1', 'vol-1', 'node-1', { status: { attached: false, attachError: { message: 'time-out' } } })
    expect(outcome(plan(built))).toEqual(['DetachVolume waits: ControllerActs'])
  })
})
