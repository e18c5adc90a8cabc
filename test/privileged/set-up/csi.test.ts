import { describe, expect, it } from 'vitest'
import { inSameNamespace } from '../../helpers/in-namespace.ts'
import { noBlockDevices, noExt4Growth } from '../../helpers/namespace.ts'

const WORKER = new URL('./csi.worker.ts', import.meta.url)

describe.skipIf(noBlockDevices !== undefined)(
  `CSI for real${noBlockDevices === undefined ? '' : ` (${noBlockDevices})`}`,
  () => {
    it('stages once, publishes for each pod, undoes it, and finds the data again', async () => {
      expect(await inSameNamespace(WORKER, 'fileSystem')).toEqual({
        set: ['done'],
        mounts: [1, 1],
        // C132, byte for byte.
        files: [
          '{"attachmentID":"csi-45c0298dc5adc861caf80d911fd980383e365536591792566aa4f003ae4f6040","driverName":"disk.test","nodeName":"node-1","specVolID":"pv-1","volumeHandle":"handle/pv-1","volumeLifecycleMode":"Persistent"}\n',
          '{"driverName":"disk.test","volumeHandle":"handle/pv-1"}\n',
        ],
        after: [],
        secondSteps: ['mkdir', 'writeVolumeData', 'NodePublishVolume'],
        second: ['done'],
        shared: 'kept',
        readOnly: 'EROFS',
        afterSecond: [],
        oneGone: ['done', 'done'],
        stillThere: [1, 1],
        gone: ['done', 'done', 'done', 'done'],
        left: [false, false],
        detached: 0,
        again: ['done'],
        data: 'kept',
        calls: [
          'NodeStageVolume',
          ...['NodePublishVolume', 'NodePublishVolume', 'NodeUnpublishVolume', 'NodeUnpublishVolume'],
          ...['NodeUnstageVolume', 'NodeStageVolume', 'NodePublishVolume'],
        ],
        violations: [],
      })
    })

    const all = ['staged', 'stage file', 'published', 'publish file']
    const whole = { set: ['done'], there: all, about: [], after: 0, gone: [], left: [false, false], violations: [] }
    it.each([
      ['xfs', { ...whole, about: ['xfs', expect.any(String)] }],
      // C50: the empty directory stays behind for good.
      ['withoutStaging', { ...whole, there: ['stage directory', ...all.slice(2)], left: [false, true] }],
      ['withoutStageMount', { ...whole, there: all.slice(1) }],
      ['notAttached', whole],
    ])('%s: set up, written to, an empty plan, and taken down', async (scenario, want) => {
      expect(await inSameNamespace(WORKER, scenario)).toEqual(want)
    })

    it('maps a raw block volume for two pods, and finds the data again', async () => {
      const mapped = ['data file', 'staging', 'published', 'mapped', 'link', 'loop']
      expect(await inSameNamespace(WORKER, 'block')).toEqual({
        steps: [
          ...['MapVolume', 'writeVolumeData', 'mkdir', 'NodeStageVolume', 'mkdir', 'NodePublishVolume'],
          ...['mkdir', 'mapDevice', 'symlink', 'losetup -f'],
        ],
        set: ['done'],
        there: mapped,
        after: [],
        second: ['done'],
        shared: 'kept',
        afterSecond: [],
        file: '{"attachmentID":"csi-45c0298dc5adc861caf80d911fd980383e365536591792566aa4f003ae4f6040","driverName":"disk.test","nodeName":"node-1","specVolID":"pv-1","volumeHandle":"handle/pv-1"}\n',
        // O22: nothing but a person's word tells which volume it is.
        unconfirmed: ['IdentityUnconfirmed', 'IdentityUnconfirmed'],
        written: ['done', 'done'],
        same: true,
        oneGone: ['done', 'done'],
        gone: ['done', 'done', 'done', 'done'],
        left: [[], [], []],
        again: ['done'],
        data: 'kept',
        violations: [],
      })
    })

    it("gives the volume to the pod's group, or lets the driver do it (C62, C64)", async () => {
      const calls = (group: string): string[] => [`NodeStageVolume ${group}`, `NodePublishVolume ${group}`]
      expect(await inSameNamespace(WORKER, 'group')).toEqual({
        set: ['done'],
        gid: 3000,
        mode: '2775',
        groups: calls(''),
      })
      expect(await inSameNamespace(WORKER, 'groupByDriver')).toEqual({ set: ['done'], gid: 0, groups: calls('3000') })
    })

    it('takes the publication back where the group could not be set', async () => {
      expect(await inSameNamespace(WORKER, 'groupFails')).toEqual({
        first: ['failed WriteFailed'],
        left: ['staged', 'stage file'],
        next: ['done'],
        end: all,
        violations: [],
      })
    })

    it('publishes an inline volume with pod information and secret, and undoes it', async () => {
      const { request, file, ...rest } = await inSameNamespace<{ request: object; file: object }>(WORKER, 'inline')
      expect(rest).toEqual({
        missing: ['failed ContentMissing'],
        set: ['done'],
        after: 0,
        gone: ['done', 'done'],
        left: [false, 0],
        violations: [],
      })
      const handle = 'csi-8d2e040ae86e7f845928ffdc917e80c320d44cf5c2e00848f5201aceb7a42250'
      expect(request).toEqual({
        volumeId: handle,
        targetPath: expect.stringMatching(/kubernetes\.io~csi\/scratch\/mount$/),
        volumeCapability: { mount: { fsType: 'ext4' }, accessMode: { mode: 'SINGLE_NODE_MULTI_WRITER' } },
        readonly: true,
        secrets: '***',
        volumeContext: {
          size: '1Mi',
          'csi.storage.k8s.io/pod.name': 'a',
          'csi.storage.k8s.io/pod.namespace': 'default',
          'csi.storage.k8s.io/pod.uid': '00000000-0000-4000-8000-000000000001',
          'csi.storage.k8s.io/serviceAccount.name': '',
          'csi.storage.k8s.io/ephemeral': 'true',
        },
      })
      expect(file).toMatchObject({ specVolID: 'scratch', volumeHandle: handle, volumeLifecycleMode: 'Ephemeral' })
    })

    it('hands secrets and tokens to the driver, and to nobody else', async () => {
      const seen = await inSameNamespace<{ words: string[] }>(WORKER, 'secrets')
      expect(seen).toMatchObject({
        wrong: ['failed DriverRefused'],
        set: ['done'],
        asked: [
          {
            namespace: 'default',
            serviceAccount: 'app',
            audiences: ['vault'],
            expirationSeconds: 600,
            pod: { name: 'a' },
          },
          { audiences: [] },
        ],
        tokens:
          '{"":{"token":"jwt-","expirationTimestamp":"2026-11-21T11:00:00Z"},"vault":{"token":"jwt-vault","expirationTimestamp":"2026-11-21T11:00:00Z"}}',
        leaked: [],
        violations: [],
      })
      expect(seen.words[0]).toContain('the secrets lack the right password; given: ***')
    })

    it('mounts anew after a reboot that left every file (O25)', async () => {
      expect(await inSameNamespace(WORKER, 'reboot')).toEqual({
        steps: ['mkdir', 'writeVolumeData', 'NodeStageVolume', 'mkdir', 'writeVolumeData', 'NodePublishVolume'],
        set: ['done'],
        data: 'kept',
        after: 0,
        violations: [],
      })
    })

    it('writes a lost, emptied or cut state file anew, byte for byte, by asking the driver once more (O5, O31)', async () => {
      const written = [[['StateFileMissing', null]], ['done'], true, 0]
      expect(await inSameNamespace(WORKER, 'lostFiles')).toEqual([written, written, written, written, written, all, []])
    })

    it('asks for nothing where attachment, node or other nodes have changed since the plan (S22, S30)', async () => {
      expect(await inSameNamespace(WORKER, 'changedMeanwhile')).toEqual({
        seen: {
          deleting: ['refused AttachmentDeleting'],
          gone: ['refused NotAttached'],
          detached: ['refused NotAttached'],
          notInUse: ['refused NotReportedInUse'],
          notReported: ['refused NotAttached'],
          outOfService: ['refused NodeNotReady'],
          elsewhere: ['refused AccessMode'],
          mayNotList: ['refused AccessMode'],
        },
        calls: 0,
      })
    })

    const shown = { phase: 'Bound', allocatedResources: { storage: expect.any(String) } }
    const other = { type: 'ModifyingVolume', status: 'True' }
    const failed = expect.objectContaining({ type: 'NodeResizeError', status: 'True' })
    const pending = { type: 'FileSystemResizePending', status: 'True' }
    const asked = [['ExpandVolume', 'NotAsked']]
    const grow = async (mode: string, fsType: string, size: string): Promise<void> => {
      expect(await inSameNamespace(WORKER, 'expand', [mode, fsType])).toEqual({
        asked,
        again: [],
        nextWords: [],
        end: { storage: size },
        set: ['done'],
        words: [expect.stringContaining(`has grown to ${size}`)],
        grew: true,
        statuses: [{ storage: 'NodeResizeInProgress' }, null],
        status: { ...shown, capacity: { storage: size }, conditions: [other] },
        left: [],
        violations: [],
      })
    }
    it.each([
      ['Filesystem', 'xfs', '400Mi'],
      ['Block', '', '32Mi'],
    ])('%s: grows with --expand, and the claim says so (R458, R459)', grow)
    it.skipIf(noExt4Growth !== undefined)(
      `an ext4 grows likewise${noExt4Growth === undefined ? '' : ` (${noExt4Growth})`}`,
      () => grow('Filesystem', 'ext4', '32Mi'),
    )

    it.each([
      ['OUT_OF_RANGE', 'NodeResizeInfeasible', []],
      ['INTERNAL', 'NodeResizeInProgress', ['ExpandVolume']],
      ['FAILED_PRECONDITION', 'NodeResizeInProgress', ['ExpandVolume']],
    ])('an expansion that fails with %s leaves the claim at %s (C101)', async (code, storage, left) => {
      const args = ['Filesystem', 'ext4', `fail NodeExpandVolume=${code}`]
      expect(await inSameNamespace(WORKER, 'expand', args)).toMatchObject({
        set: [expect.stringMatching(/^failed Driver(Failed|Refused)$/)],
        grew: false,
        status: {
          ...shown,
          capacity: { storage: '16Mi' },
          allocatedResourceStatuses: { storage },
          conditions: [pending, other, failed],
        },
        left,
        violations: [],
      })
    })

    it.each([
      ['hang', 'failed TimedOut'],
      ['hang-after', 'failed TimedOut'],
      ['die-before', 'failed DriverUnavailable'],
      ['die-after', 'failed DriverUnavailable'],
      ['fail-after', 'failed DriverFailed'],
    ])('an expansion that meets %s is done by the next apply (C120)', async (kind, outcome) => {
      const code = kind === 'fail-after' ? '=INTERNAL' : ''
      const args = ['Filesystem', 'xfs', `${kind} NodeExpandVolume${code}:once`]
      expect(await inSameNamespace(WORKER, 'expand', args)).toMatchObject({
        set: [outcome],
        // A driver that is not there is waited for.
        left: kind.startsWith('die') ? [] : ['ExpandVolume'],
        again: ['done'],
        nextWords: [expect.stringContaining('has grown to 400Mi')],
        end: { storage: '400Mi' },
        violations: [],
      })
    })

    it('grows without the right to say so in the claim, and says that', async () => {
      const seen = await inSameNamespace<{ words: string[] }>(WORKER, 'expand', ['Filesystem', 'xfs', '', 'no'])
      expect(seen).toMatchObject({ set: ['done'], grew: true, statuses: [], violations: [] })
      expect(seen.words[0]).toMatch(/claim default\/claim-pv-1 still shows its old size/)
    })

    it('leaves directories, modes, links and state files as a kubelet leaves them (C10)', async () => {
      const base = 'plugins/kubernetes.io/csi'
      const blocks = `${base}/volumeDevices`
      const global = `${base}/disk.test/HASH`
      const pod = 'pods/UID/volumes/kubernetes.io~csi'
      const devices = 'pods/UID/volumeDevices/kubernetes.io~csi'
      expect(await inSameNamespace(WORKER, 'layout')).toEqual(
        [
          [`${base}`, 'd 750'],
          [`${base}/disk.test`, 'd 750'],
          [global, 'd 750'],
          [`${global}/globalmount`, 'mount'],
          [`${global}/vol_data.json`, 'f 644'],
          [blocks, 'd 750'],
          [`${blocks}/publish`, 'd 750'],
          [`${blocks}/publish/pv-2`, 'd 750'],
          [`${blocks}/publish/pv-2/UID`, 'mount'],
          [`${blocks}/pv-2`, 'd 750'],
          [`${blocks}/pv-2/data`, 'd 750'],
          [`${blocks}/pv-2/data/vol_data.json`, 'f 644'],
          [`${blocks}/pv-2/dev`, 'd 750'],
          [`${blocks}/pv-2/dev/UID`, 'mount'],
          [`${blocks}/staging`, 'd 750'],
          [`${blocks}/staging/pv-2`, 'd 750'],
          [devices, 'd 750'],
          [`${devices}/pv-2`, `l ROOT/${blocks}/publish/pv-2/UID`],
          [pod, 'd 750'],
          [`${pod}/pv-1`, 'd 750'],
          [`${pod}/pv-1/mount`, 'mount'],
          [`${pod}/pv-1/vol_data.json`, 'f 644'],
        ]
          .map((each) => each.join(' '))
          .sort(),
      )
    })

    it('asks the driver for what a kubelet that starts afterwards asks it for, and leaves the same files (C92)', async () => {
      const want = { same: true, mounts: [1, 1], after: 0, violations: [] }
      expect(await inSameNamespace(WORKER, 'kubeletAfter')).toEqual(want)
    })

    it('publishes again with a fresh token where --remount names it, and never undoes anything for it (C70)', async () => {
      expect(await inSameNamespace(WORKER, 'republish')).toEqual({
        planned: [0, 0, 0, 0],
        steps: [['RemountVolume', 'RepublishAsked', 'mkdir', 'writeVolumeData', 'NodePublishVolume']],
        set: ['done'],
        failed: ['failed DriverFailed'],
        tokens: 3,
        there: all,
        violations: [],
      })
    })
  },
)
