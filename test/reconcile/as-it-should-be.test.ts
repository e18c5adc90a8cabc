/**
 * "Every volume on this node is as it should be" must be true: what the API or the mount table shows to be wrong is said, in the
 * plan and as the verdict of explain, each shown on a real healthy node of which one thing was changed (O7, S3, S30).
 */
import { expect, it } from 'vitest'
import type { ApiSnapshot, NodeSnapshot, NodeState } from '../../src/core/facts/actual/snapshot.ts'
import { parseMountinfo } from '../../src/core/linux/parse-mountinfo.ts'
import { readSnapshot } from '../../src/core/plan/documents/snapshot-file.ts'
import { planNode } from '../../src/core/reconcile/plan-node.ts'
import { countsText } from '../../src/core/views/answer/needs.ts'
import { CAPTURES } from '../helpers/captures.ts'
import { explain } from '../helpers/explaining.ts'
import { planOptions } from '../helpers/plan-options.ts'

const AS_IT_SHOULD_BE = 'Nothing to do: every volume on this node is as it should be.'
const NAME = 'kubernetes.io/csi/loop.pg.test^vol-fs1'
const healthy = await readSnapshot(`${CAPTURES}/healthy/node.json`)

type Writable<T> = T extends object ? { -readonly [Key in keyof T]: Writable<T[Key]> } : T
type Draft = Writable<NodeSnapshot> & { api: Writable<ApiSnapshot> }

/** The healthy node, with one thing changed. */
function altered(change: (draft: Draft) => void): NodeState {
  const snapshot = structuredClone(healthy.snapshot) as Draft
  change(snapshot)
  return { snapshot: snapshot as NodeSnapshot, mounts: parseMountinfo(snapshot.mountinfo ?? '') }
}

const attachmentOf = ({ api }: Draft, volume = 'pv-fs1') => {
  const found = api.volumeAttachments.find(({ spec }) => spec.source.persistentVolumeName === volume)
  if (found === undefined) throw new Error(`no attachment of ${volume}`)
  return found
}
const volumeOf = ({ api }: Draft, name = 'pv-fs1') => {
  const found = api.persistentVolumes.find(({ metadata }) => metadata.name === name)
  if (found === undefined) throw new Error(`no ${name}`)
  return found
}
const nodeOf = ({ api }: Draft) => {
  if (api.node === null || api.node.status === undefined) throw new Error('no node')
  return { ...api.node, metadata: api.node.metadata, status: api.node.status, object: api.node }
}
const refused = (what: object): Draft['api']['errors'] =>
  [{ ...what, status: 403, reason: 'Forbidden', message: 'no' }] as Draft['api']['errors']
const without = <T>(list: T[], wrong: (each: T) => boolean): T[] => list.filter((each) => !wrong(each))

/** The options of the file system that the kernel shows of a loop device, where it is mounted. */
function superOptions(draft: Draft, device: string, options: string): void {
  draft.mountinfo = (draft.mountinfo ?? '')
    .split('\n')
    .map((line) => (line.includes(` ${device} rw`) ? line.replace(/ \S+$/, ` ${options}`) : line))
    .join('\n')
}

const planOf = (state: NodeState) => planNode(state, planOptions())
const codes = (state: NodeState, severities: readonly string[] = ['error', 'warning']) =>
  planOf(state)
    .problems.filter(({ severity }) => severities.includes(severity))
    .map(({ severity, code }) => `${severity} ${code}`)

it('control: of the node as it is nothing is said', () => {
  const plan = planOf(altered(() => {}))
  expect([plan.operations, plan.waiting, plan.problems, countsText(plan)]).toEqual([[], [], [], AS_IT_SHOULD_BE])
})

interface Row {
  readonly name: string
  readonly change: (draft: Draft) => void
  readonly said: readonly string[]
  /** What explain is asked, and its verdict's code; else PersistentVolume pv-fs1, and the first code that is said. */
  readonly ask?: string
  readonly verdict?: string
  readonly words: string
}

const ROWS: readonly Row[] = [
  {
    name: 'its VolumeAttachment is being deleted',
    change: (draft) => Object.assign(attachmentOf(draft).metadata, { deletionTimestamp: '2026-11-21T02:30:00Z' }),
    said: ['error AttachmentDeleting'],
    words: 'is being deleted (2026-11-21T02:30:00Z) while',
  },
  {
    name: 'its VolumeAttachment says attached: false',
    change: (draft) =>
      Object.assign(attachmentOf(draft), { status: { attached: false, attachError: { message: 'gone' } } }),
    said: ['error MountedButNotAttached'],
    words: 'is not attached: gone',
  },
  {
    name: 'its VolumeAttachment is absent',
    change: ({ api }) => {
      api.volumeAttachments = without(
        api.volumeAttachments,
        ({ spec }) => spec.source.persistentVolumeName === 'pv-fs1',
      )
    },
    said: ['error MountedButNotAttached'],
    words: '(VolumeAttachment csi-',
  },
  {
    name: 'the Node does not list it as attached',
    change: (draft) => {
      const { status } = nodeOf(draft)
      status.volumesAttached = without(status.volumesAttached ?? [], ({ name }) => name === NAME)
    },
    said: ['error MountedButNotAttached'],
    words: 'node.status.volumesAttached does not list it',
  },
  {
    name: 'the Node does not report it in use (O7)',
    change: (draft) => {
      const { status } = nodeOf(draft)
      status.volumesInUse = without(status.volumesInUse ?? [], (name) => name === NAME)
    },
    said: ['error NotReportedInUse'],
    words: 'node.status.volumesInUse does not list it',
  },
  {
    name: 'the Node lists as in use a CSI volume that nothing here explains',
    change: (draft) => nodeOf(draft).status.volumesInUse?.push('kubernetes.io/csi/loop.pg.test^vol-lost'),
    said: ['warning ReportedUnused'],
    ask: 'kubernetes.io/csi/loop.pg.test^vol-lost',
    words: 'kubernetes.io/csi/loop.pg.test^vol-lost is still listed in node.status.volumesInUse of pg-node',
  },

  ...(['ro', 'rw,emergency_ro', 'rw,shutdown'] as const).map(
    (options): Row => ({
      name: `the kernel turned its file system read-only (${options})`,
      change: (draft) => superOptions(draft, '/dev/loop5', options),
      said: ['error ReadOnlyFileSystem'],
      words: '(/dev/loop5) is read-only',
    }),
  ),

  ...['v1.33.13', 'v1.38.0', 'nightly'].map(
    (version): Row => ({
      name: `a kubelet ${version}`,
      change: (draft) => Object.assign(nodeOf(draft).status.nodeInfo ?? {}, { kubeletVersion: version }),
      said: ['warning VersionUntested'],
      verdict: '',
      words: `runs kubelet ${version}, and volctl was tested with 1.34 to 1.37`,
    }),
  ),

  {
    name: 'the kubelet is told to attach by itself',
    change: (draft) => Object.assign(draft.kubelet ?? {}, { config: { enableControllerAttachDetach: false } }),
    said: ['warning NotManaged'],
    verdict: '',
    words: 'enableControllerAttachDetach: false',
  },
  {
    name: 'its claim is being deleted',
    change: ({ api }) => {
      const claim = api.persistentVolumeClaims.find(({ metadata }) => metadata.name === 'pvc-fs1')
      Object.assign(claim?.metadata ?? {}, {
        deletionTimestamp: '2026-11-21T02:30:00Z',
        finalizers: ['kubernetes.io/pvc-protection'],
      })
    },
    said: ['warning BeingDeleted'],
    words: 'claim pg/pvc-fs1 (volume pv-fs1) of pod pg/p-csi-fs is being deleted',
  },

  ...['Released', 'Failed'].map(
    (phase): Row => ({
      name: `its PersistentVolume is ${phase}`,
      change: (draft) => Object.assign(volumeOf(draft), { status: { phase } }),
      said: ['warning ClaimUnbound'],
      words: `PersistentVolume pv-fs1 is ${phase}`,
    }),
  ),

  {
    name: 'CSINode does not list its driver',
    change: ({ api }) => {
      const { csiNode } = api
      if (csiNode === null) throw new Error('no CSINode')
      csiNode.spec.drivers = without(csiNode.spec.drivers ?? [], ({ name }) => name === 'hostpath.csi.k8s.io')
    },
    said: ['warning DriverRegistration'],
    ask: 'pv/pv-hp1',
    words: 'CSI driver hostpath.csi.k8s.io answers on this node, but the CSINode object does not list it',
  },
]

it.each(ROWS)(
  'a mounted volume, a healthy node, and one thing wrong: $name: $said',
  ({ change, said, words, ask = 'pv/pv-fs1', verdict }) => {
    const state = altered(change)
    const plan = planOf(state)
    expect(plan.operations).toEqual([])
    expect(codes(state)).toEqual(said)
    const found = plan.problems.filter(({ message }) => message.includes(words))
    expect(plan.problems.map(({ message }) => message).join('\n')).toContain(words)
    expect(found[0]?.hint ?? '').not.toBe('')
    expect(countsText(plan)).not.toBe(AS_IT_SHOULD_BE)
    const explained = explain(state, planOptions(), ask).explanation.verdict
    const code = verdict ?? said[0]?.split(' ')[1]
    if (code !== '') expect(explained).toMatchObject({ state: 'problem', code })
  },
)

it.each<{ name: string; change: (draft: Draft) => void }>([
  {
    name: 'of an attachment that could not be read (S3)',
    change: ({ api }) => {
      api.volumeAttachments = without(
        api.volumeAttachments,
        ({ spec }) => spec.source.persistentVolumeName === 'pv-fs1',
      )
      api.errors = refused({ resource: 'volumeattachments' })
    },
  },
  {
    name: 'of a file system that is read-only, where the pod only reads it',
    change: (draft) => superOptions(draft, '/dev/loop7', 'ro'),
  },

  ...[{ mountOptions: ['noatime', 'ro'] }, { accessModes: ['ReadOnlyMany'] }].map((spec) => ({
    name: `where the PersistentVolume asks for no more: ${JSON.stringify(spec)}`,
    change: (draft: Draft) => {
      superOptions(draft, '/dev/loop5', 'ro')
      Object.assign(volumeOf(draft).spec, spec)
    },
  })),

  {
    name: 'of a name in the status that may be a volume of which nothing could be read (S4)',
    change: (draft) => {
      nodeOf(draft).status.volumesInUse?.push('kubernetes.io/csi/loop.pg.test^vol-lost')
      const { api } = draft
      // A pod that has not begun, and whose claim is not told.
      const [pod] = api.pods.filter(({ metadata }) => metadata.name === 'p-csi-fs')
      if (pod === undefined) throw new Error('no pod')
      api.pods.push({
        ...pod,
        metadata: { ...pod.metadata, name: 'new', uid: '00000000-0000-4000-8000-000000000077' },
        spec: { ...pod.spec, volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'secret' } }] },
        status: { phase: 'Pending' },
      })
      api.errors = refused({ resource: 'persistentvolumeclaims', namespace: 'pg', name: 'secret' })
    },
  },
])('nothing is said: $name', ({ change }) => {
  // That something could not be read is said.
  expect(codes(altered(change)).filter((each) => !/ (ReadFailed|MayBeInUse)$/.test(each))).toEqual([])
})
