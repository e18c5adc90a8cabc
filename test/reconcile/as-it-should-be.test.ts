/**
 * "Every volume on this node is as it should be" must be true: what the API or the mount table shows to be wrong is said, in the
 * plan and as the verdict of explain, each shown on a healthy node of which one thing was changed (O7, S3, S30).
 */
import { expect, it } from 'vitest'
import type { Plan } from '../../src/core/plan/plan.ts'
import { countsText } from '../../src/core/views/answer/needs.ts'
import { told } from '../helpers/explaining.ts'
import { claimOf, DRIVER, type NodeBuilder, node, uid } from '../helpers/node-builder.ts'
import { csiNodeObject, MACHINE } from '../helpers/objects.ts'
import { plan } from './planned.ts'

const AS_IT_SHOULD_BE = 'Nothing to do: every volume on this node is as it should be.'
const LOST = `kubernetes.io/csi/${DRIVER}^vol-lost`
const LUN = 'kubernetes.io/iscsi/10.0.0.9:3260:iqn.2026-01.test:disk:0'
const SINCE = '2026-11-21T02:30:00Z'

const healthy = (): NodeBuilder => node().served(uid(2), 'app')

type Change = (built: NodeBuilder) => unknown
/** Whatever the object has, with these parts besides. */
const changed = (object: object | undefined, parts: object): object => Object.assign(object ?? {}, parts)
const refused = (built: NodeBuilder, what: object): NodeBuilder =>
  built.withApi({ errors: [{ ...what, status: 403, reason: 'Forbidden', message: 'no' }] as never })

const wrong = ({ problems }: Plan): string[] =>
  problems.flatMap(({ severity, code }) => (severity === 'info' ? [] : `${severity} ${code}`))

/** With these options of the file system, as the kernel shows them. */
function superOptions({ mounts }: NodeBuilder, options: string): void {
  for (const [at, line] of mounts.entries()) mounts[at] = line.replace(/(\/dev\/loop1) rw$/, `$1 ${options}`)
}

/** No disk, and mounted read-only. @param source with the type before it */
function mountedFrom({ mounts }: NodeBuilder, source: string): void {
  for (const [at, line] of mounts.entries())
    mounts[at] = line.replace(/ 7:1 (.*) - ext4 \/dev\/loop1 rw$/, ` 0:71 $1 - ${source} ro`)
}

it('control: of the node as it is nothing is said', () => {
  const made = plan(healthy())
  expect([made.operations, made.waiting, made.problems, countsText(made)]).toEqual([[], [], [], AS_IT_SHOULD_BE])
})

/** @param ask of which the verdict says so; empty: it is said of the node */
it.each<[name: string, change: Change, said: string, words: string, ask?: string]>([
  [
    'its VolumeAttachment is being deleted',
    ({ attachments: [own] }) => changed(own?.metadata, { deletionTimestamp: SINCE }),
    'error AttachmentDeleting',
    `is being deleted (${SINCE}) while`,
  ],
  [
    'its VolumeAttachment says attached: false',
    ({ attachments: [own] }) => changed(own, { status: { attached: false, attachError: { message: 'gone' } } }),
    'error MountedButNotAttached',
    'is not attached: gone',
  ],
  [
    'its VolumeAttachment is absent',
    ({ attachments }) => attachments.pop(),
    'error MountedButNotAttached',
    '(VolumeAttachment csi-',
  ],
  [
    'the Node does not list it as attached',
    ({ attached }) => attached.pop(),
    'error MountedButNotAttached',
    'node.status.volumesAttached does not list it',
  ],
  [
    'the Node does not report it in use (O7)',
    ({ inUse }) => inUse.pop(),
    'error NotReportedInUse',
    'node.status.volumesInUse does not list it',
  ],
  [
    'the Node lists as in use a CSI volume that nothing here explains',
    ({ inUse }) => inUse.push(LOST),
    'warning ReportedUnused',
    `${LOST} is still listed in node.status.volumesInUse of node-1`,
    LOST,
  ],
  [
    'the Node lists as attached a LUN that nothing here explains',
    ({ attached }) => attached.push(LUN),
    'warning ReportedUnused',
    `${LUN} is still listed in node.status.volumesAttached of node-1`,
    LUN,
  ],
  ...['ro', 'rw,emergency_ro', 'rw,shutdown'].map((options): [string, Change, string, string] => [
    `the kernel turned its file system read-only (${options})`,
    (built) => superOptions(built, options),
    'error ReadOnlyFileSystem',
    '(/dev/loop1) is read-only',
  ]),
  ...['nfs4 10.0.0.1:/export', 'fuse.s3 bucket'].map((source): [string, Change, string, string] => [
    `a file system of a server or of a daemon is read-only (${source})`,
    (built) => mountedFrom(built, source),
    'warning ReadOnlyFileSystem',
    `(0:71 ${source.split(' ')[1]}) is read-only (ro in its superblock options: ro), but pod default/app mounts it to write`,
  ]),
  ...['v1.33.13', 'v1.38.0', 'nightly'].map((kubeletVersion): [string, Change, string, string, string] => [
    `a kubelet ${kubeletVersion}`,
    (built) => built.withNode(({ status }) => ({ status: { ...status, nodeInfo: { ...MACHINE, kubeletVersion } } })),
    'warning VersionUntested',
    `runs kubelet ${kubeletVersion}, and volctl was tested with 1.34 to 1.37`,
    '',
  ]),
  [
    'the kubelet is told to attach by itself',
    (built) =>
      built.with({ kubelet: { running: false, mayReturn: false, config: { enableControllerAttachDetach: false } } }),
    'warning NotManaged',
    'enableControllerAttachDetach: false',
    '',
  ],
  [
    'its claim is being deleted',
    ({ claims: [own] }) =>
      changed(own?.metadata, { deletionTimestamp: SINCE, finalizers: ['kubernetes.io/pvc-protection'] }),
    'warning BeingDeleted',
    'claim default/claim-pv-1 (volume pv-1) of pod default/app is being deleted',
  ],
  ...['Released', 'Failed'].map((phase): [string, Change, string, string] => [
    `its PersistentVolume is ${phase}`,
    ({ volumes: [own] }) => changed(own, { status: { phase } }),
    'warning ClaimUnbound',
    `PersistentVolume pv-1 is ${phase}`,
  ]),
  [
    'CSINode does not list its driver',
    (built) => built.withApi({ csiNode: csiNodeObject('node-1', []) }),
    'warning DriverRegistration',
    `CSI driver ${DRIVER} answers on this node, but the CSINode object does not list it`,
  ],
])('a mounted volume, a healthy node, and one thing wrong: %s', (_, change, said, words, ask = 'pv/pv-1') => {
  const built = healthy()
  change(built)
  const made = plan(built)
  expect(made.operations).toEqual([])
  expect(wrong(made)).toEqual([said])
  const found = made.problems.find(({ message }) => message.includes(words))
  expect(found?.hint).toBeDefined()
  expect(countsText(made)).not.toBe(AS_IT_SHOULD_BE)
  if (ask !== '') expect(told(built, ask).verdict).toMatchObject({ state: 'problem', code: said.split(' ')[1] })
})

it.each<[name: string, change: Change]>([
  [
    'of an attachment that could not be read (S3)',
    (built) => built.attachments.pop() && refused(built, { resource: 'volumeattachments' }),
  ],
  [
    'of a file system that is read-only, where the pod only reads it',
    (built) => {
      superOptions(built, 'ro')
      changed(built.pods[1]?.spec.volumes?.[0]?.persistentVolumeClaim, { readOnly: true })
    },
  ],
  ...[{ mountOptions: ['noatime', 'ro'] }, { accessModes: ['ReadOnlyMany'] }].map((spec): [string, Change] => [
    `where the PersistentVolume asks for no more: ${JSON.stringify(spec)}`,
    (built) => {
      superOptions(built, 'ro')
      changed(built.volumes[0]?.spec, spec)
    },
  ]),
  [
    'where the PersistentVolume asks a daemon for no more',
    (built) => {
      mountedFrom(built, 'fuse /dev/fuse')
      changed(built.volumes[0]?.spec, { mountOptions: ['read-only'] })
    },
  ],
  [
    'of a name in the status that may be a volume of which nothing could be read (S4)',
    (built) => {
      built.inUse.push(LOST)
      built.pod(uid(3), 'new', [claimOf('secret')], { phase: 'Pending' })
      refused(built, { resource: 'persistentvolumeclaims', namespace: 'default', name: 'claim-secret' })
    },
  ],
])('nothing is said: %s', (_, change) => {
  const built = healthy()
  change(built)
  // That something could not be read is said.
  expect(wrong(plan(built)).filter((each) => !/ (ReadFailed|MayBeInUse)$/.test(each))).toEqual([])
})
