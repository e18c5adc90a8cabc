/** What a wanted volume waits for, in the words of the attachment and the Node (S22, S30; C46). */
import { describe, expect, it } from 'vitest'
import { DRIVER, type NodeBuilder, node, uid } from '../helpers/node-builder.ts'
import { csiDriverObject } from '../helpers/objects.ts'
import { outcome, plan, WANTS_PV_1 } from './planned.ts'

const wanting = (accessModes = ['ReadWriteOnce']): NodeBuilder =>
  node().persistentVolume('pv-1', { accessModes }).livingPod(uid(2), 'app', WANTS_PV_1)

const attachment = (parts: Parameters<NodeBuilder['attach']>[3]): NodeBuilder => {
  const built = wanting()
  built.attachments.pop()
  return built.attach('pv-1', 'pv-1', 'node-1', parts)
}

describe('a wanted volume', () => {
  it.each<{ name: string; built: NodeBuilder; wait: string; says: string }>([
    {
      name: 'an attachment that failed: its own words',
      built: attachment({ status: { attached: false, attachError: { message: 'Max volumes (27) reached' } } }),
      wait: 'NotAttached',
      says: ': Max volumes (27) reached',
    },
    {
      name: 'an attachment that is being deleted, though attached',
      built: attachment({ metadata: { deletionTimestamp: '2026-11-21T11:59:00Z' } }),
      wait: 'AttachmentDeleting',
      says: 'is being deleted',
    },
    {
      name: 'a node that is out of service',
      built: wanting().withNode(() => ({
        spec: { taints: [{ key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' }] },
      })),
      wait: 'NodeNotReady',
      says: 'out-of-service',
    },
    {
      name: 'two other nodes have it, and one may',
      built: wanting().attach('pv-1', 'pv-1', 'node-3').attach('pv-1', 'pv-1', 'node-2'),
      wait: 'AccessMode',
      says: 'is attached to node-2, node-3, which its access mode',
    },
  ])('waits: $name', ({ built, wait, says }) => {
    const made = plan(built)
    expect(outcome(made)).toEqual([`MountVolume waits: ${wait}`])
    expect(made.waiting[0]?.message).toContain(says)
  })

  it.each<{ name: string; built: NodeBuilder }>([
    { name: 'all is well', built: wanting() },
    {
      name: 'an attachment with an error of before, and attached by now (C37)',
      built: attachment({ status: { attached: true, attachError: { message: 'time-out' } } }),
    },
    { name: 'another node has it, and many may', built: wanting(['ReadWriteMany']).attach('pv-1', 'pv-1', 'node-2') },
    {
      name: 'an attachment of before its driver stopped attaching (C35, C36, T7)',
      built: node()
        .persistentVolume('pv-1', { attached: false })
        .livingPod(uid(2), 'app', WANTS_PV_1)
        .withApi({ csiDrivers: [csiDriverObject(DRIVER, { attachRequired: false })] }),
    },
  ])('does not wait: $name', ({ built }) => {
    expect(outcome(plan(built))).toEqual(['MountVolume'])
  })
})

it('a pod that is being deleted gets nothing that it does not have, and loses nothing while it lives (R102, O4)', () => {
  const deletionTimestamp = '2026-11-21T11:59:00Z'
  const built = node()
    .persistentVolume('pv-1')
    .livingPod(uid(2), 'app', WANTS_PV_1, { metadata: { deletionTimestamp } })
  expect(outcome(plan(built.staged('pv-1', '7:1')))).toEqual(['DetachVolume waits: PodStillRunning'])
})
