/** CSI volumes set up with the real test driver: real devices, mounts and a driver that holds its client to the specification. */
import { existsSync, lstatSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Node, VolumeAttachment } from '../../../src/core/kube/api/objects.ts'
import { ApiError } from '../../../src/core/kube/api-error.ts'
import type { ClaimStatusPatch } from '../../../src/core/kube/writes.ts'
import { StepFailed } from '../../../src/core/messages/findings.ts'
import type { Cluster, TokenSource } from '../../../src/core/node/api/node-objects.ts'
import type { ApplyEvent } from '../../../src/core/plan/events.ts'
import { linuxHost } from '../../../src/core/rules/host.ts'
import { attachmentName } from '../../../src/core/volumes/volume-names.ts'
import { PASSWORD } from '../../helpers/csi-driver/checks.ts'
import { mountsAt } from '../../helpers/csi-driver/mounts.ts'
import type { CsiDriver } from '../../helpers/csi-driver/start.ts'
import { type LiveNode, OTHER, POD } from '../../helpers/live-node.ts'
import { it } from '../../helpers/machine.ts'
import { noBlockDevices } from '../../helpers/namespace.ts'
import { sh } from '../../helpers/scenario.ts'
import {
  addVolume,
  blockLink,
  claim,
  DRIVER,
  directories,
  handleOf,
  present,
  presentBlock,
  withDriver,
} from '../csi-scene.ts'
import { describeUnless } from '../describe-unless.ts'

const ORPHANS = { orphans: true }
const DONE = ['done']
const OUT_OF_SERVICE = 'node.kubernetes.io/out-of-service'
const ALL = ['staged', 'stage file', 'published', 'publish file']

type Given = Parameters<typeof withDriver>[1]
type Work = (node: LiveNode, driver: CsiDriver) => Promise<void>

/** With a driver that has nothing to complain of in the end. */
function withContentDriver(directory: string, given: Given, work: Work): Promise<void> {
  return withDriver(directory, given, async (node, driver) => {
    await work(node, driver)
    expect(driver.violations()).toEqual([])
  })
}

const isDone = async (node: LiveNode, options = {}) => expect(await node.applied(options)).toEqual(DONE)

function published(driver: CsiDriver): Readonly<Record<string, unknown>> {
  const log = driver.log().filter(({ rpc, phase }) => rpc === 'NodePublishVolume' && phase === 'begin')
  return log.at(-1)?.request ?? {}
}

describeUnless(noBlockDevices, 'CSI for real', () => {
  it('stages once, publishes for each pod, undoes it, and finds the data again', ({ directory }) =>
    withContentDriver(directory, {}, async (node, driver) => {
      addVolume(node, 'pv-1', { accessModes: ['ReadWriteMany'] })
      node.pod(POD, 'a', [claim('pv-1')])
      const { global, pod } = directories(node, 'pv-1')
      const other = directories(node, 'pv-1', OTHER).pod
      await isDone(node)
      writeFileSync(`${pod}/mount/file`, 'kept')
      expect(await node.operations()).toEqual([])

      node.pod(OTHER, 'b', [claim('pv-1', true)])
      expect((await node.operations()).flatMap(({ steps }) => steps.map(({ op }) => op))).toEqual([
        ...['mkdir', 'writeVolumeData', 'NodePublishVolume'],
      ])
      await isDone(node)
      expect(readFileSync(`${other}/mount/file`, 'utf8')).toBe('kept')
      expect(() => writeFileSync(`${other}/mount/file`, 'no')).toThrow('EROFS')
      expect(await node.operations()).toEqual([])

      node.forget(OTHER)
      expect(await node.applied(ORPHANS)).toEqual(['done', 'done'])
      expect([mountsAt(`${global}/globalmount`), mountsAt(`${pod}/mount`)]).toEqual([1, 1])
      node.forget(POD)
      expect(await node.applied(ORPHANS)).toEqual(Array(4).fill('done'))
      expect([existsSync(global), existsSync(pod), node.attachments.length]).toEqual([false, false, 0])

      node.attach('pv-1', handleOf('pv-1'))
      node.pod(OTHER, 'b', [claim('pv-1')])
      await isDone(node)
      expect(readFileSync(`${other}/mount/file`, 'utf8')).toBe('kept')
      expect(driver.succeeded().filter((rpc) => /Stage|Publish/i.test(rpc))).toEqual([
        'NodeStageVolume',
        ...['NodePublishVolume', 'NodePublishVolume', 'NodeUnpublishVolume', 'NodeUnpublishVolume'],
        ...['NodeUnstageVolume', 'NodeStageVolume', 'NodePublishVolume'],
      ])
    }))

  it.for<{ readonly name: string; readonly given: Given; readonly there?: readonly string[]; readonly left?: boolean }>(
    [
      // C50: the empty directory stays behind for good.
      {
        name: 'withoutStaging',
        given: { stage: false },
        there: ['stage directory', ...ALL.slice(2)],
        left: true,
      },
      { name: 'withoutStageMount', given: { mountAtStage: false }, there: ALL.slice(1) },
      { name: 'notAttached', given: { spec: { attachRequired: false } } },
    ],
  )('$name: set up, written to, an empty plan, and taken down', ({ given, there = ALL, left = false }, { directory }) =>
    withContentDriver(directory, given, async (node) => {
      addVolume(node, 'pv-1')
      if (given.spec?.attachRequired === false) node.attachments = []
      node.pod(POD, 'a', [claim('pv-1')])
      const { pod, global } = directories(node, 'pv-1')
      await isDone(node)
      writeFileSync(`${pod}/mount/file`, 'kept')
      expect(present(node, 'pv-1')).toEqual(there)
      expect(await node.operations()).toEqual([])
      node.forget(POD)
      await node.apply(ORPHANS)
      expect(await node.operations(ORPHANS)).toEqual([])
      expect([existsSync(pod), existsSync(global)]).toEqual([false, left])
    }),
  )

  it('maps a raw block volume for two pods, and finds the data again', ({ directory }) =>
    withContentDriver(directory, {}, async (node) => {
      const kept = (uid?: string): string =>
        readFileSync(blockLink(node, 'pv-1', uid))
          .subarray(0, 4)
          .toString()
      addVolume(node, 'pv-1', { volumeMode: 'Block', accessModes: ['ReadWriteMany'] })
      node.pod(POD, 'a', [claim('pv-1')], { devices: true })
      expect((await node.operations()).flatMap(({ kind, steps }) => [kind, ...steps.map(({ op }) => op)])).toEqual([
        ...['MapVolume', 'writeVolumeData', 'mkdir', 'NodeStageVolume', 'mkdir', 'NodePublishVolume'],
        ...['mkdir', 'mapDevice', 'symlink', 'losetup -f'],
      ])
      await isDone(node)
      expect(presentBlock(node, 'pv-1')).toEqual(['data file', 'staging', 'published', 'mapped', 'link', 'loop'])
      writeFileSync(blockLink(node, 'pv-1'), 'kept')
      sh('sync')
      expect(await node.operations()).toEqual([])
      node.pod(OTHER, 'b', [claim('pv-1', true)], { devices: true })
      await isDone(node)
      expect(kept(OTHER)).toBe('kept')
      const file = `${node.root}/plugins/kubernetes.io/csi/volumeDevices/pv-1/data/vol_data.json`
      const text = readFileSync(file, 'utf8')
      writeFileSync(file, '')
      // O22: nothing but a person's word tells which volume it is.
      const unconfirmed = (await node.operations()).map(({ blocked }) => blocked?.code)
      expect(unconfirmed).toEqual(['IdentityUnconfirmed', 'IdentityUnconfirmed'])
      expect(await node.applied({ handles: { 'pv-1': handleOf('pv-1') } })).toEqual(['done', 'done'])
      expect(readFileSync(file, 'utf8')).toBe(text)
      node.forget(POD)
      expect(await node.applied(ORPHANS)).toEqual(['done', 'done'])
      node.forget(OTHER)
      expect(await node.applied(ORPHANS)).toEqual(Array(4).fill('done'))
      expect([...presentBlock(node, 'pv-1'), ...(await node.operations(ORPHANS))]).toEqual([])
      node.attach('pv-1', handleOf('pv-1'))
      node.pod(POD, 'a', [claim('pv-1')], { devices: true })
      await isDone(node)
      expect(kept()).toBe('kept')
      node.forget(POD)
      await node.apply(ORPHANS)
    }))

  it.for([
    { who: 'volctl', mountGroup: false, asked: '', gid: 3000, mode: '2775' },
    { who: 'the driver', mountGroup: true, asked: '3000', gid: 0, mode: '755' },
  ])("$who gives the volume to the pod's group (C62, C64)", ({ mountGroup, asked, gid, mode }, { directory }) =>
    withContentDriver(directory, { mountGroup }, async (node, driver) => {
      addVolume(node, 'pv-1')
      node.pod(POD, 'a', [claim('pv-1')], { spec: { securityContext: { fsGroup: 3000 } } })
      await isDone(node)
      const found = lstatSync(`${directories(node, 'pv-1').pod}/mount`)
      expect([found.gid, (found.mode & 0o7777).toString(8)]).toEqual([gid, mode])
      const { volumeCapability } = published(driver) as { volumeCapability?: { mount?: object } }
      expect(volumeCapability?.mount).toEqual({ fsType: 'ext4', ...(asked !== '' && { volumeMountGroup: asked }) })
    }),
  )

  it('takes the publication back where the group could not be set', ({ directory }) =>
    withContentDriver(directory, {}, async (node) => {
      addVolume(node, 'pv-1')
      node.pod(POD, 'a', [claim('pv-1')], { spec: { securityContext: { fsGroup: 3000 } } })
      const changeOwnership = async (): Promise<never> => {
        throw new StepFailed({ code: 'WriteFailed', message: 'the disk is full' })
      }
      node.context = { host: { ...linuxHost, changeOwnership } }
      expect(await node.applied()).toEqual(['failed WriteFailed'])
      // Who finds it mounted would take it for done.
      expect(present(node, 'pv-1')).toEqual(['staged', 'stage file'])
      node.context = {}
      await isDone(node)
      expect(present(node, 'pv-1')).toEqual(ALL)
    }))

  it('publishes an inline volume with pod information and secret, and undoes it', ({ directory }) => {
    const spec = { volumeLifecycleModes: ['Ephemeral'], podInfoOnMount: true, attachRequired: false }
    return withContentDriver(directory, { spec, strict: true }, async (node, driver) => {
      const source = { driver: DRIVER, fsType: 'ext4', readOnly: true, nodePublishSecretRef: { name: 'login' } }
      node.pod(POD, 'a', [{ name: 'scratch', csi: { ...source, volumeAttributes: { size: '1Mi' } } }])
      expect(await node.applied()).toEqual(['failed ContentMissing'])
      node.addSecret('login', { password: PASSWORD })
      await isDone(node)
      const handle = 'csi-8d2e040ae86e7f845928ffdc917e80c320d44cf5c2e00848f5201aceb7a42250'
      expect(published(driver)).toEqual({
        volumeId: handle,
        targetPath: expect.stringMatching(/kubernetes\.io~csi\/scratch\/mount$/),
        volumeCapability: { mount: { fsType: 'ext4' }, accessMode: { mode: 'SINGLE_NODE_MULTI_WRITER' } },
        readonly: true,
        secrets: { password: PASSWORD },
        volumeContext: {
          size: '1Mi',
          'csi.storage.k8s.io/pod.name': 'a',
          'csi.storage.k8s.io/pod.namespace': 'default',
          'csi.storage.k8s.io/pod.uid': POD,
          'csi.storage.k8s.io/serviceAccount.name': '',
          'csi.storage.k8s.io/ephemeral': 'true',
        },
      })
      const dir = directories(node, 'scratch').pod
      expect(JSON.parse(readFileSync(`${dir}/vol_data.json`, 'utf8'))).toMatchObject({
        ...{ specVolID: 'scratch', volumeHandle: handle, volumeLifecycleMode: 'Ephemeral' },
      })
      expect(await node.operations()).toEqual([])
      node.forget(POD)
      expect(await node.applied(ORPHANS)).toEqual(['done', 'done'])
      expect([existsSync(dir), ...(await node.operations(ORPHANS))]).toEqual([false])
    })
  })

  it('hands secrets and tokens to the driver, and to nobody else', ({ directory }) => {
    const tokenRequests = [{ audience: 'vault', expirationSeconds: 600 }, { audience: '' }]
    return withContentDriver(
      directory,
      { spec: { podInfoOnMount: true, tokenRequests }, strict: true },
      async (node, driver) => {
        const reference = { name: 'login', namespace: 'default' }
        addVolume(node, 'pv-1', { csi: { nodeStageSecretRef: reference, nodePublishSecretRef: reference } })
        node.pod(POD, 'a', [claim('pv-1')], { spec: { serviceAccountName: 'app' } })
        const asked: [string, TokenSource][] = []
        const expirationTimestamp = '2026-11-21T11:00:00Z'
        node.cluster = {
          requestToken: async ({ metadata }, source) => {
            asked.push([metadata.name, source])
            return { token: `jwt-${source.audience}`, expirationTimestamp: '2026-11-21T11:00:00.123Z' }
          },
        }
        node.addSecret('login', { password: 'hunter3' })
        const events: ApplyEvent[] = []
        const wrong = await node.apply({}, (event) => events.push(event))
        expect(wrong.outcomes).toMatchObject([{ state: 'failed', code: 'DriverRefused' }])
        expect(wrong.outcomes[0]?.message).toContain('the secrets lack the right password; given: ***')
        node.addSecret('login', { password: PASSWORD })
        expect(await node.applied({}, (event) => events.push(event))).toEqual(DONE)
        expect(asked).toEqual(tokenRequests.map((request) => ['a', request]))
        const { volumeContext } = published(driver) as { volumeContext?: Record<string, string> }
        expect(JSON.parse(volumeContext?.['csi.storage.k8s.io/serviceAccount.tokens'] ?? '')).toEqual({
          '': { token: 'jwt-', expirationTimestamp },
          vault: { token: 'jwt-vault', expirationTimestamp },
        })
        const written = sh('sh', '-c', `cat ${node.root}.journal/* $(find ${node.root} -name vol_data.json)`)
        const shown = `${JSON.stringify([events, wrong, (await node.look()).snapshot])}${written}`
        expect([PASSWORD, 'hunter3', 'jwt-'].filter((secret) => shown.includes(secret))).toEqual([])
      },
    )
  })

  it('asks for nothing where attachment, node or other nodes have changed since the plan (S22, S30)', ({ directory }) =>
    withContentDriver(directory, {}, async (node, driver) => {
      addVolume(node, 'pv-1')
      node.pod(POD, 'a', [claim('pv-1')])
      const [attachment] = node.attachments as [VolumeAttachment]
      const spec = { ...attachment.spec, nodeName: 'node-2' }
      const other = {
        ...attachment,
        metadata: { ...attachment.metadata, name: attachmentName(handleOf('pv-1'), DRIVER, 'node-2') },
        spec,
      }
      const own = node.api().node as Node
      const cases: readonly (readonly [string, Partial<Cluster>])[] = [
        ['NotAttached', { getNode: async () => ({ ...own, status: { ...own.status, volumesAttached: [] } }) }],
        ['NodeNotReady', { getNode: async () => ({ ...own, spec: { taints: [{ key: OUT_OF_SERVICE }] } }) }],
        ['AccessMode', { listVolumeAttachments: async () => [attachment, other] }],
        ['AccessMode', { listVolumeAttachments: () => Promise.reject(new Error('forbidden')) }],
      ]
      for (const [code, cluster] of cases) {
        node.cluster = cluster
        expect([...(await node.applied()), ...present(node, 'pv-1')], code).toEqual([`refused ${code}`])
      }
      expect(driver.log().filter(({ rpc }) => rpc === 'NodeStageVolume')).toEqual([])
    }))

  it('S17, S18, S38: does not believe a driver that binds the volume of another pod, and takes that back', ({
    directory,
  }) =>
    withContentDriver(directory, {}, async (node) => {
      for (const [volume, uid] of [
        ['pv-a', OTHER],
        ['pv-b', POD],
      ] as const) {
        addVolume(node, volume)
        node.pod(uid, volume, [claim(volume)])
        if (uid === OTHER) await isDone(node)
      }
      const staged = `${directories(node, 'pv-a').global}/globalmount`
      const bind = (target = ''): void => void sh('sh', '-c', `mkdir -p ${target} && mount --bind ${staged} ${target}`)
      node.context = {
        csi: async (name) => {
          const own = await node.csiNode(name)
          return own && { ...own, nodePublishVolume: async ({ targetPath }) => bind(targetPath) }
        },
      }
      const message = expect.stringMatching(
        /has mounted another volume: ext4 mount .*; it was unmounted again; left as it is: the volume staged at [^,]*$/,
      )
      expect(await node.outcomes()).toMatchObject([{ state: 'failed', code: 'OtherVolume', message }])
      expect(present(node, 'pv-b')).toEqual(['staged', 'stage file'])
      node.context = {}
      await isDone(node)
      expect(present(node, 'pv-a', OTHER)).toEqual(ALL)

      // Nor where it is found so.
      const target = `${directories(node, 'pv-b').pod}/mount`
      sh('umount', target)
      bind(target)
      const { operations, problems } = await node.plan()
      expect([operations, problems]).toMatchObject([[], [{ severity: 'error', code: 'OtherVolume' }]])
      sh('umount', target)
    }))

  it('leaves directories, modes, links and state files as a kubelet leaves them (C10)', ({ directory }) =>
    withContentDriver(directory, {}, async (node) => {
      addVolume(node, 'pv-1')
      addVolume(node, 'pv-2', { volumeMode: 'Block' })
      node.pod(POD, 'a', [claim('pv-1')])
      node.pod(OTHER, 'b', [claim('pv-2')], { devices: true })
      await node.apply()
      const hash = directories(node, 'pv-1').global.split('/').at(-1) ?? ''
      const lines = sh('find', node.root, '-xdev', '-path', '*kubernetes.io[/~]csi*', '-printf', '%P %y %m %l\\n')
      const seen = lines.split('\n').map((line) => {
        const [path = '', type, mode, target] = line.split(' ')
        const what = mountsAt(`${node.root}/${path}`) > 0 ? 'mount' : type === 'l' ? `l ${target}` : `${type} ${mode}`
        return `${path} ${what}`
          .replace(node.root, 'ROOT')
          .replace(hash, 'HASH')
          .replaceAll(/00000000-[-0-9]+/g, 'UID')
          .replaceAll('plugins/kubernetes.io/csi', 'CSI')
      })
      expect(seen.toSorted()).toEqual([
        'CSI d 750',
        'CSI/disk.test d 750',
        'CSI/disk.test/HASH d 750',
        'CSI/disk.test/HASH/globalmount mount',
        'CSI/disk.test/HASH/vol_data.json f 644',
        'CSI/volumeDevices d 750',
        'CSI/volumeDevices/publish d 750',
        'CSI/volumeDevices/publish/pv-2 d 750',
        'CSI/volumeDevices/publish/pv-2/UID mount',
        'CSI/volumeDevices/pv-2 d 750',
        'CSI/volumeDevices/pv-2/data d 750',
        'CSI/volumeDevices/pv-2/data/vol_data.json f 644',
        'CSI/volumeDevices/pv-2/dev d 750',
        'CSI/volumeDevices/pv-2/dev/UID mount',
        'CSI/volumeDevices/staging d 750',
        'CSI/volumeDevices/staging/pv-2 d 750',
        'pods/UID/volumeDevices/kubernetes.io~csi d 750',
        'pods/UID/volumeDevices/kubernetes.io~csi/pv-2 l ROOT/CSI/volumeDevices/publish/pv-2/UID',
        'pods/UID/volumes/kubernetes.io~csi d 750',
        'pods/UID/volumes/kubernetes.io~csi/pv-1 d 750',
        'pods/UID/volumes/kubernetes.io~csi/pv-1/mount mount',
        'pods/UID/volumes/kubernetes.io~csi/pv-1/vol_data.json f 644',
      ])
    }))

  it('publishes again where the record is lost, with a fresh token, and never undoes anything for it', ({
    directory,
  }) => {
    const spec = { tokenRequests: [{ audience: 'vault' }] }
    return withContentDriver(directory, { spec }, async (node, driver) => {
      addVolume(node, 'pv-1')
      node.pod(POD, 'a', [claim('pv-1')], { spec: { serviceAccountName: 'app' } })
      let tokens = 0
      node.cluster = {
        requestToken: async () => ({ token: `jwt-${++tokens}`, expirationTimestamp: '2026-11-21T11:00:00Z' }),
      }
      await node.apply()
      rmSync(join(node.root, 'pods', POD, 'volumes/kubernetes.io~csi/pv-1/vol_data.json'))
      driver.setFaults('fail NodePublishVolume=INTERNAL:once')
      expect(await node.applied()).toEqual(['failed DriverFailed'])
      expect([tokens, ...present(node, 'pv-1')]).toEqual([2, ...ALL])
    })
  })

  const other = { type: 'ModifyingVolume', status: 'True' }

  /** Grown by the controller, and to be expanded here. @returns its size in bytes */
  async function growing(node: LiveNode, volumeMode: 'Filesystem' | 'Block'): Promise<() => number> {
    const [from, to] = volumeMode === 'Block' ? ['16Mi', '32Mi'] : ['300Mi', '400Mi']
    addVolume(node, 'pv-1', { volumeMode, capacity: { storage: from }, csi: { fsType: 'xfs' } })
    node.setClaimStatus('claim-pv-1', { phase: 'Bound', capacity: { storage: from } })
    node.pod(POD, 'a', [claim('pv-1')], { devices: volumeMode === 'Block' })
    await node.apply()
    node.growVolume('pv-1', { storage: to })
    node.setClaimStatus('claim-pv-1', {
      phase: 'Bound',
      capacity: { storage: from },
      allocatedResources: { storage: to },
      allocatedResourceStatuses: { storage: 'NodeResizePending' },
      conditions: [{ type: 'FileSystemResizePending', status: 'True' }, other],
    })
    return () => {
      if (volumeMode === 'Block') return Number(sh('blockdev', '--getsize64', blockLink(node, 'pv-1')))
      const { bsize, blocks } = statfsSync(`${directories(node, 'pv-1').pod}/mount`)
      return bsize * blocks
    }
  }

  const claimStatus = ({ claims }: LiveNode) => claims[0]?.status

  it.for(['Filesystem', 'Block'] as const)(
    '%s: grows with --expand, and the claim says so (R458, R459)',
    (mode, { directory }) =>
      withContentDriver(directory, {}, async (node) => {
        const size = await growing(node, mode)
        const before = size()
        expect(await node.operations()).toMatchObject([{ kind: 'ExpandVolume', blocked: { code: 'NotAsked' } }])
        const patches: ClaimStatusPatch[] = []
        node.onClaimPatch = (patch) => void patches.push(patch)
        expect(await node.outcomes({ expand: true })).toMatchObject([
          { state: 'done', message: expect.stringContaining('has grown to ') },
        ])
        expect(size()).toBeGreaterThan(before)
        const statuses = patches.map(({ status: { allocatedResourceStatuses } }) => allocatedResourceStatuses ?? null)
        expect(statuses).toEqual([{ storage: 'NodeResizeInProgress' }, null])
        const storage = mode === 'Block' ? '32Mi' : '400Mi'
        expect(claimStatus(node)).toEqual({
          ...{ phase: 'Bound', capacity: { storage }, allocatedResources: { storage }, conditions: [other] },
        })
        expect(await node.operations({ expand: true })).toEqual([])
      }),
  )

  it('grows without the right to say so in the claim, and says that', ({ directory }) =>
    withContentDriver(directory, {}, async (node) => {
      const size = await growing(node, 'Block')
      const before = size()
      node.onClaimPatch = () => {
        throw new ApiError({ code: 'Forbidden', message: 'may not patch' }, { status: 403, reason: 'Forbidden' })
      }
      const message = expect.stringMatching(/claim default\/claim-pv-1 still shows its old size/)
      expect(await node.outcomes({ expand: true })).toMatchObject([{ state: 'done', message }])
      expect(size()).toBeGreaterThan(before)
    }))
})
