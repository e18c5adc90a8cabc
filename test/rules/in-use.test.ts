/** What a plan costs that looks for who uses what it takes away: one look at all. */
import { beforeEach, expect, it } from 'vitest'
import type { Operation } from '../../src/core/plan/plan.ts'
import { checkInUse } from '../../src/core/rules/in-use.ts'
import type { InUse } from '../../src/core/volumes/snapshot.ts'
import { Fixture, operation, planOf, ROOT, step } from '../apply/apply-fixture.ts'

let fixture: Fixture
let reads: string[]

beforeEach(() => {
  fixture = new Fixture()
  reads = []
  const { host } = fixture
  const { askProcesses, otherNamespaces, readMounts, lookForUsers } = host
  Object.assign(host, {
    askProcesses: (...given: []) => counted('processes', () => askProcesses(...given)),
    otherNamespaces: (...given: []) => counted('namespaces', () => otherNamespaces(...given)),
    readMounts: () => counted('mounts', () => readMounts.call(host)),
    lookForUsers: (...given: []) => counted('content', () => lookForUsers(...given)),
  })
})

function counted<T>(what: string, read: () => T): T {
  reads.push(what)
  return read()
}

function ahead(operations: readonly Operation[]): Promise<InUse[]> {
  const plan = planOf(operations)
  const context = fixture.context(plan)
  const { listVolumeAttachments } = context.cluster
  context.cluster.listVolumeAttachments = () => counted('attachments', listVolumeAttachments)
  const seen = { witness: fixture.witness, attachments: [], mounts: context.readMounts() }
  reads = []
  return checkInUse(operations, plan, { ...context, ...seen })
}

function unmount(id: string, given: Partial<Operation> = {}): Operation {
  const target = `${ROOT}/pods/${id}/volumes/kubernetes.io~csi/${id}/mount`
  const expects = [fixture.host.mount(target, { fsType: 'ext4' })]
  return operation(id, { steps: [step('umount', target), step('rmdir', target)], expects, ...given })
}

it.each([1, 30, 300])(
  'looks once at all processes and namespaces for %i volumes, by the mounts that the plan was made of',
  async (volumes) => {
    const operations = Array.from({ length: volumes }, (_, index) => unmount(`v${index}`))
    expect(await ahead(operations)).toEqual([])
    expect(reads.toSorted()).toEqual(['namespaces', 'processes'])
  },
)

it('looks for whoever was found once more, and names him with the operation', async () => {
  const operations = [unmount('a'), unmount('b')]
  fixture.host.backingFiles.set('/dev/loop7', `${ROOT}/pods/b/volumes/kubernetes.io~csi/b/mount/image`)
  expect(await ahead(operations)).toEqual([
    {
      kind: 'UnmountVolume',
      target: `${ROOT}/pods/b/volumes/kubernetes.io~csi/b/mount`,
      code: 'HeldBy',
      message: expect.stringMatching(/^\S+b\/mount is in use by \/dev\/loop7, backed by \S+image$/),
      hint: 'Stop that use; then plan again.',
    },
  ])
  expect(reads.toSorted()).toEqual(['mounts', 'namespaces', 'namespaces', 'processes', 'processes'])
})

it('asks the API once for all attachments, for however many volumes whose devices are unknown', async () => {
  const detach = (id: string): Operation =>
    operation(id, {
      kind: 'DetachVolume',
      attachment: { name: `csi-${id}`, uid: 'u' },
      steps: [step('deleteVolumeAttachment', `csi-${id}`)],
    })
  fixture.attachment = { metadata: { name: 'csi-a', uid: 'u' }, spec: { attacher: 'a', nodeName: 'n', source: {} } }
  await ahead(['a', 'b', 'c'].map(detach))
  expect(reads.filter((each) => each === 'attachments')).toHaveLength(1)
})

it('S3: what cannot be seen counts as in use', async () => {
  fixture.host.otherNamespaces = () => {
    throw new Error('EIO')
  }
  const [found] = await ahead([unmount('a')])
  expect(found).toMatchObject({ code: 'UsersUnknown', message: expect.stringContaining('EIO') })
  expect(Object.keys(found ?? {})).toEqual(['kind', 'target', 'code', 'message', 'hint'])
})
