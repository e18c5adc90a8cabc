/** CSI volumes brought up against a driver made of words: what a refusal leaves (C49, C53, C72, C73; upstream's tables and 11.7). */
import { beforeEach, describe, expect, it } from 'vitest'
import type { CsiNode } from '../../src/core/apply/operation/step.ts'
import type { Node, PersistentVolume, VolumeAttachment } from '../../src/core/kube/api/objects.ts'
import { type GrpcCode, GrpcError } from '../../src/core/rpc/grpc-status.ts'
import { desiredStateOfPods } from '../../src/core/volumes/populate.ts'
import { csiGlobalDir } from '../../src/core/volumes/volume-names.ts'
import { DRIVER, type NodeBuilder, node, ROOT, uid, volumeData } from '../helpers/node-builder.ts'
import { attachmentObject, csiDriverObject } from '../helpers/objects.ts'
import { UNASKED_CLUSTER, UNASKED_DRIVER } from '../helpers/unasked.ts'
import { plan, WANTS_PV_1 } from '../reconcile/planned.ts'
import { Fixture } from './apply-fixture.ts'
import { OUTCOMES } from './grpc-outcomes.ts'

/** The pod that wants the volume, by number. */
const WANTING = uid(2)

const GLOBAL = `${ROOT}/${csiGlobalDir(DRIVER, 'pv-1')}`
const DIR = `${ROOT}/pods/${WANTING}/volumes/kubernetes.io~csi/pv-1`
const BLOCK = `${ROOT}/plugins/kubernetes.io/csi/volumeDevices`

type Csi = NonNullable<PersistentVolume['spec']['csi']>

let fixture: Fixture
/** Calls that reach the driver, and the publish context of the last one. */
let calls: string[]
let told: unknown
let capabilities: () => readonly string[]
let attachment: VolumeAttachment | undefined
/** Does the Node list the volume in volumesInUse. */
let isReported: boolean
/** Calls that fail, before or after their mount, by method. */
let fails: Readonly<Record<string, { readonly code: GrpcCode; readonly after: boolean }>>
beforeEach(() => {
  fixture = new Fixture()
  fixture.host.dir(`${ROOT}/plugins`).dir(`${ROOT}/pods`)
  calls = []
  capabilities = () => ['STAGE_UNSTAGE_VOLUME']
  attachment = attachmentObject(DRIVER, 'pv-1', 'pv-1')
  isReported = true
  fails = {}
})

function driver(): CsiNode {
  const record = (method: string, path: string) => async (request: object) => {
    const fields = request as Record<string, unknown>
    calls.push(method)
    told = fields.publishContext
    const { code, after } = fails[method] ?? { after: true }
    const failed = code && new GrpcError(code, 'said the driver', method)
    if (failed && !after) throw failed
    fixture.host.mount(String(fields[path]), { dev: '8:1', fsType: 'ext4' })
    if (failed) throw failed
  }
  return {
    ...UNASKED_DRIVER,
    nodeGetCapabilities: async () => capabilities(),
    nodeStageVolume: record('NodeStageVolume', 'stagingTargetPath'),
    nodePublishVolume: record('NodePublishVolume', 'targetPath'),
  }
}

interface Given {
  readonly mode?: 'Filesystem' | 'Block'
  readonly csi?: Partial<Csi>
  /** Is the driver still there when its volume's turn has come. */
  readonly registered?: boolean
}

/** One volume of one pod, planned where all is well and applied to what the test has made of the world. */
async function run({ mode = 'Filesystem', csi = {}, registered = true }: Given = {}) {
  const source = { csi: { driver: DRIVER, volumeHandle: 'pv-1', ...csi } }
  const built = node().persistentVolume('pv-1', { mode, source, attached: true })
  built.pod(WANTING, 'app', WANTS_PV_1, { devices: mode === 'Block' })
  const pod = built.pods.at(-1)
  if (pod === undefined) throw new Error('no pod')
  const state = built.build()
  const { status } = state.snapshot.api?.node ?? {}
  const { operations, waiting } = plan({ build: () => state } as NodeBuilder)
  const [operation] = operations
  if (operation === undefined || operations.length !== 1) throw new Error(JSON.stringify(waiting))
  fixture.witness = { listed: new Set([WANTING]), alive: new Set(), apiPods: [pod] }
  fixture.volumes = [...desiredStateOfPods([pod], state.snapshot.api as never).volumes]
  fixture.given = {
    csi: () => (registered ? driver() : undefined),
    csiDriver: () => ({ state: 'Found', object: csiDriverObject(DRIVER) }),
    cluster: {
      ...UNASKED_CLUSTER,
      getNode: async (): Promise<Node> => ({
        metadata: { name: 'node-1', uid: 'n' },
        status: { ...status, ...(!isReported && { volumesInUse: [] }) },
      }),
      getVolumeAttachment: async () => attachment,
      listVolumeAttachments: async () => (attachment === undefined ? [] : [attachment]),
      getSecret: async () => undefined,
    },
  }
  const steps = operation.steps.filter(({ op }) => !/^(?:mapDevice|symlink|losetup)/.test(op))
  const { end } = await fixture.applyOne({ ...operation, steps })
  return { state: end, methods: calls }
}

/** Of what was made for the volume, the files, without their directories. */
const files = () =>
  [...fixture.host.files].filter(([, { type }]) => type === 'file').map(([path]) => path.replace(`${ROOT}/`, ''))
const FILES = [`${GLOBAL}/vol_data.json`, `${DIR}/vol_data.json`].map((path) => path.replace(`${ROOT}/`, ''))

it('the driver is told what the attachment says', async () => {
  const attachmentMetadata = { lun: '7' }
  Object.assign(attachment ?? {}, { status: { attached: true, attachmentMetadata } })
  expect((await run()).state).toBe('done')
  expect(told).toEqual(attachmentMetadata)
})

/** Nothing was asked of the driver, and nothing is left of what was made for the call. */
describe.each(['Filesystem', 'Block'] as const)(
  '%s: what is refused before the driver is called leaves nothing',
  (mode) => {
    const expectNothing = async (state: string, given: Given = {}): Promise<void> => {
      expect(await run({ mode, ...given })).toEqual({ state, methods: [] })
      expect(files()).toEqual([])
    }
    it('no attachment any more', async () => {
      attachment = undefined
      await expectNothing('refused NotAttached')
    })
    it('an attachment that is being deleted, though it is attached (C37)', async () => {
      if (attachment !== undefined) Object.assign(attachment.metadata, { deletionTimestamp: '2026-11-21T10:00:00Z' })
      await expectNothing('refused AttachmentDeleting')
    })
    it('an attachment with an error and without "attached"', async () => {
      Object.assign(attachment ?? {}, { status: { attached: false, attachError: { message: 'no' } } })
      await expectNothing('refused NotAttached')
    })
    it('an attached volume that the Node does not report in use', async () => {
      isReported = false
      await expectNothing('refused NotReportedInUse')
    })
    it('the driver is not registered', () => expectNothing('failed DriverUnavailable', { registered: false }))
    it('the driver goes away while it is asked what it can do: nothing of the volume is in progress', async () => {
      capabilities = () => {
        throw new GrpcError('UNAVAILABLE', 'gone', 'NodeGetCapabilities')
      }
      await expectNothing('failed DriverUnavailable')
    })
    it('the secret of staging does not exist', () =>
      expectNothing('failed ContentMissing', { csi: { nodeStageSecretRef: { namespace: 'x', name: 'none' } } }))
  },
)

describe('the secret of publishing does not exist', () => {
  const csi = { nodePublishSecretRef: { namespace: 'x', name: 'none' } }
  it('a file system stays staged, and nothing more is there', async () => {
    expect(await run({ csi })).toEqual({ state: 'failed ContentMissing', methods: ['NodeStageVolume'] })
    expect(files()).toEqual(FILES.slice(0, 1))
  })
  it('a raw block volume likewise, and its record stays with it', async () => {
    expect(await run({ csi, mode: 'Block' })).toEqual({ state: 'failed ContentMissing', methods: ['NodeStageVolume'] })
    expect(files()).toEqual(['plugins/kubernetes.io/csi/volumeDevices/pv-1/data/vol_data.json'])
  })
})

it('S22: data where the volume is to be published: it stays staged, and is not published over them', async () => {
  fixture.host.file(`${DIR}/mount/data`, 'x')
  expect(await run()).toEqual({ state: 'failed DataUnderMountPoint', methods: ['NodeStageVolume'] })
})

it('a state file that cannot be written: no call, and what is beside it stays', async () => {
  const other = `${csiGlobalDir(DRIVER, 'pv-1')}/notes.txt`
  fixture.host.dir(`${GLOBAL}/globalmount`).file(`${ROOT}/${other}`, 'mine')
  fixture.host.writeStateFile = () => {
    throw Object.assign(new Error('EACCES'), { code: 'EACCES' })
  }
  expect(await run()).toEqual({ state: 'failed WriteFailed', methods: [] })
  expect(files()).toEqual([other])
})

it.each([
  { content: volumeData('pv-1', 'other'), state: 'failed OtherVolume', kept: [] },
  { content: '{"driverName":"dis', state: 'done', kept: ['{"driverName":"dis'] },
])(
  'S14: a state file in its place is overwritten only where it names no volume, and kept in the journal: $state',
  async ({ content, state, kept }) => {
    const file = `${DIR}/vol_data.json`
    fixture.host.file(file, content)
    expect((await run()).state).toBe(state)
    expect(fixture.host.files.get(file)?.text === content).toBe(state !== 'done')
    const written = fixture.journal().filter(({ type }) => type === 'stateFile') as { content?: string }[]
    expect(written.map((each) => each.content)).toEqual(kept)
  },
)

/** After a final failure without a mount, nothing that the call was made for is left. */
describe.each(OUTCOMES)('$code: $state', ({ code, state, isFinal }) => {
  const [stageFile = '', publishFile = ''] = FILES
  const map = `${BLOCK}/pv-1/data/vol_data.json`.replace(`${ROOT}/`, '')
  it.each<{ mode: 'Filesystem' | 'Block'; method: string; after: boolean; left: readonly string[] }>([
    { mode: 'Filesystem', method: 'NodeStageVolume', after: false, left: isFinal ? [] : [stageFile] },
    { mode: 'Filesystem', method: 'NodeStageVolume', after: true, left: [stageFile] },
    { mode: 'Filesystem', method: 'NodePublishVolume', after: false, left: isFinal ? [stageFile] : FILES },
    { mode: 'Filesystem', method: 'NodePublishVolume', after: true, left: [stageFile, publishFile] },
    { mode: 'Block', method: 'NodeStageVolume', after: false, left: isFinal ? [] : [map] },
    { mode: 'Block', method: 'NodeStageVolume', after: true, left: [map] },
    { mode: 'Block', method: 'NodePublishVolume', after: false, left: [map] },
    { mode: 'Block', method: 'NodePublishVolume', after: true, left: [map] },
  ])('$mode, $method, after its mount: $after (C49, C54, C72, C73)', async ({ mode, method, after, left }) => {
    fails = { [method]: { code, after } }
    expect((await run({ mode })).state).toBe(state)
    expect(files()).toEqual(left)
  })
})
