/** CSI volumes set up with the real test driver: real devices, mounts and a driver that holds its client to the specification. */

import { existsSync, lstatSync, readFileSync, statfsSync, unlinkSync, writeFileSync } from 'node:fs'
import { ApiError } from '../../../src/core/api/api-error.ts'
import type { TokenRequest } from '../../../src/core/api/volume-content.ts'
import type { Cluster } from '../../../src/core/apply/operation/ports.ts'
import type { ClaimStatusPatch } from '../../../src/core/desired/claim-status-patch.ts'
import { StepFailed } from '../../../src/core/errors/operation-error.ts'
import { linuxHost } from '../../../src/core/host/linux-host.ts'
import type { VolumeAttachment } from '../../../src/core/model/objects.ts'
import { attachmentName } from '../../../src/core/names/volume-names.ts'
import type { ApplyEvent } from '../../../src/core/plan/events.ts'
import { mountVolume } from '../../helpers/csi-driver/kubelet-steps.ts'
import { mountsAt, unmountBelow } from '../../helpers/csi-driver/mounts.ts'
import type { CsiDriver } from '../../helpers/csi-driver/start.ts'
import {
  addVolume,
  blockLink,
  claim,
  DRIVER,
  directories,
  giveUpOn,
  handleOf,
  OTHER,
  POD,
  present,
  presentBlock,
  states,
  withDriver,
} from '../../helpers/csi-scene.ts'
import { runScenario, sh } from '../../helpers/scenario.ts'

const MIB = 1024 * 1024

await runScenario({
  fileSystem: (directory) =>
    withDriver(directory, {}, async (node, driver) => {
      const seen: Record<string, unknown> = {}
      addVolume(node, 'pv-1', { accessModes: ['ReadWriteMany'] })
      node.pod(POD, 'a', [claim('pv-1')])
      const pod = (uid: string): string => directories(node, 'pv-1', uid).pod
      const { global } = directories(node, 'pv-1')

      seen.set = states(await node.apply())
      seen.mounts = [mountsAt(`${global}/globalmount`), mountsAt(`${pod(POD)}/mount`)]
      seen.files = [`${pod(POD)}/vol_data.json`, `${global}/vol_data.json`].map((path) => readFileSync(path, 'utf8'))
      writeFileSync(`${pod(POD)}/mount/file`, 'kept')
      seen.after = (await node.plan()).operations

      node.pod(OTHER, 'b', [claim('pv-1', true)])
      const second = await node.plan()
      seen.secondSteps = second.operations.flatMap(({ steps }) => steps.map(({ op }) => op))
      seen.second = states(await node.apply())
      seen.shared = readFileSync(`${pod(OTHER)}/mount/file`, 'utf8')
      try {
        writeFileSync(`${pod(OTHER)}/mount/file`, 'no')
      } catch (error) {
        seen.readOnly = (error as NodeJS.ErrnoException).code
      }
      seen.afterSecond = (await node.plan()).operations

      node.forget(OTHER)
      seen.oneGone = states(await node.apply({ orphans: true }))
      seen.stillThere = [mountsAt(`${global}/globalmount`), mountsAt(`${pod(POD)}/mount`)]
      node.forget(POD)
      seen.gone = states(await node.apply({ orphans: true }))
      seen.left = [existsSync(global), existsSync(pod(POD))]

      seen.detached = node.attachments.length
      node.attach(DRIVER, handleOf('pv-1'), 'pv-1')
      node.pod(OTHER, 'b', [claim('pv-1')])
      seen.again = states(await node.apply())
      seen.data = readFileSync(`${pod(OTHER)}/mount/file`, 'utf8')
      seen.calls = driver.succeeded().filter((rpc) => /Stage|Publish/i.test(rpc))
      seen.violations = driver.violations()
      return seen
    }),

  /** Every kind of volume and driver: set up, looked at, taken down. */
  xfs: (directory) => onceThrough(directory, {}, { csi: { fsType: 'xfs' } }, ['FSTYPE', 'SIZE']),
  withoutStaging: (directory) => onceThrough(directory, { flags: ['--no-stage'] }, {}),
  withoutStageMount: (directory) => onceThrough(directory, { flags: ['--no-stage-mount'] }, {}),
  notAttached: (directory) => onceThrough(directory, { spec: { attachRequired: false } }, {}),

  block: (directory) =>
    withDriver(directory, {}, async (node, driver) => {
      const seen: Record<string, unknown> = {}
      addVolume(node, 'pv-1', { volumeMode: 'Block', accessModes: ['ReadWriteMany'] })
      node.pod(POD, 'a', [claim('pv-1')], { devices: true })
      seen.steps = (await node.plan()).operations.flatMap(({ kind, steps }) => [kind, ...steps.map(({ op }) => op)])
      seen.set = states(await node.apply())
      seen.there = presentBlock(node, 'pv-1')
      writeFileSync(blockLink(node, 'pv-1'), 'kept')
      sh('sync')
      seen.after = (await node.plan()).operations
      node.pod(OTHER, 'b', [claim('pv-1', true)], { devices: true })
      seen.second = states(await node.apply())
      seen.shared = readFileSync(blockLink(node, 'pv-1', OTHER))
        .subarray(0, 4)
        .toString()
      seen.afterSecond = (await node.plan()).operations
      const file = `${node.root}/plugins/kubernetes.io/csi/volumeDevices/pv-1/data/vol_data.json`
      seen.file = readFileSync(file, 'utf8')
      writeFileSync(file, '')
      seen.unconfirmed = (await node.plan()).operations.map(({ blocked }) => blocked?.code)
      seen.written = states(await node.apply({ handles: { 'pv-1': handleOf('pv-1') } }))
      seen.same = readFileSync(file, 'utf8') === seen.file
      node.forget(POD)
      seen.oneGone = states(await node.apply({ orphans: true }))
      node.forget(OTHER)
      seen.gone = states(await node.apply({ orphans: true }))
      seen.left = [
        presentBlock(node, 'pv-1'),
        presentBlock(node, 'pv-1', OTHER),
        (await node.plan({ orphans: true })).operations,
      ]
      node.attach(DRIVER, handleOf('pv-1'), 'pv-1')
      node.pod(POD, 'a', [claim('pv-1')], { devices: true })
      seen.again = states(await node.apply())
      seen.data = readFileSync(blockLink(node, 'pv-1')).subarray(0, 4).toString()
      seen.violations = driver.violations()
      node.forget(POD)
      await node.apply({ orphans: true })
      return seen
    }),

  /** A file system and a raw block volume, of a pod each: every path of them, and what it is. */
  layout: (directory) =>
    withDriver(directory, {}, async (node) => {
      addVolume(node, 'pv-1')
      addVolume(node, 'pv-2', { volumeMode: 'Block' })
      node.pod(POD, 'a', [claim('pv-1')])
      node.pod(OTHER, 'b', [claim('pv-2')], { devices: true })
      await node.apply()
      const hash = directories(node, 'pv-1').global.split('/').at(-1) ?? ''
      const lines = sh('find', node.root, '-xdev', '-path', '*csi*', '-printf', '%P %y %m %l\\n').split('\n')
      const seen = lines.flatMap((line) => {
        const [path = '', type, mode, target] = line.split(' ')
        if (!/kubernetes\.io[~/]csi/.test(path)) return []
        const what = mountsAt(`${node.root}/${path}`) > 0 ? 'mount' : type === 'l' ? `l ${target}` : `${type} ${mode}`
        return `${path} ${what}`
          .replace(node.root, 'ROOT')
          .replace(hash, 'HASH')
          .replaceAll(/00000000-[-0-9]+/g, 'UID')
      })
      return seen.sort()
    }),

  /** A kubelet that starts afterwards stages and publishes once more what it reconstructs. */
  kubeletAfter: (directory) =>
    withDriver(directory, {}, async (node, driver) => {
      addVolume(node, 'pv-1')
      node.pod(POD, 'a', [claim('pv-1')])
      await node.apply()
      const { pod, global } = directories(node, 'pv-1')
      const read = (): string[] => [pod, global].map((path) => readFileSync(`${path}/vol_data.json`, 'utf8'))
      const before = read()
      const publishContext = node.attachments[0]?.status?.attachmentMetadata ?? {}
      const about = { podUid: POD, specName: 'pv-1', handle: handleOf('pv-1'), nodeName: 'node-1' }
      await mountVolume(driver, { ...about, publishContext })
      const same = JSON.stringify(read()) === JSON.stringify(before)
      const mounts = [mountsAt(`${global}/globalmount`), mountsAt(`${pod}/mount`)]
      return { same, mounts, after: (await node.plan()).operations.length, violations: driver.violations() }
    }),

  group: (directory) =>
    withDriver(directory, {}, async (node, driver) => {
      addVolume(node, 'pv-1')
      node.pod(POD, 'a', [claim('pv-1')], { securityContext: { fsGroup: 3000 } })
      const set = states(await node.apply())
      const { gid, mode } = lstatSync(`${directories(node, 'pv-1').pod}/mount`)
      return { set, gid, mode: (mode & 0o7777).toString(8), groups: mountGroups(driver) }
    }),

  groupByDriver: (directory) =>
    withDriver(directory, { flags: ['--mount-group'] }, async (node, driver) => {
      addVolume(node, 'pv-1')
      node.pod(POD, 'a', [claim('pv-1')], { securityContext: { fsGroup: 3000 } })
      const set = states(await node.apply())
      return { set, gid: lstatSync(`${directories(node, 'pv-1').pod}/mount`).gid, groups: mountGroups(driver) }
    }),

  /** A failed walk takes the publication back: who finds it mounted would take it for done. */
  groupFails: (directory) =>
    withDriver(directory, {}, async (node, driver) => {
      addVolume(node, 'pv-1')
      node.pod(POD, 'a', [claim('pv-1')], { securityContext: { fsGroup: 3000 } })
      const refuse = async (): Promise<never> => {
        throw new StepFailed('WriteFailed', 'the disk is full')
      }
      node.context = { host: { ...linuxHost, changeOwnership: refuse } }
      const first = states(await node.apply())
      const left = present(node, 'pv-1')
      node.context = {}
      return {
        first,
        left,
        next: states(await node.apply()),
        end: present(node, 'pv-1'),
        violations: driver.violations(),
      }
    }),

  inline: (directory) => {
    const spec = { volumeLifecycleModes: ['Ephemeral'], podInfoOnMount: true, attachRequired: false }
    const flags = ['--require-pod-info', '--require-secret', 'password=hunter2']
    return withDriver(directory, { spec, flags }, async (node, driver) => {
      const source = { driver: DRIVER, fsType: 'ext4', readOnly: true, nodePublishSecretRef: { name: 'login' } }
      node.pod(POD, 'a', [{ name: 'scratch', csi: { ...source, volumeAttributes: { size: '1Mi' } } }])
      const missing = states(await node.apply())
      node.addSecret('login', { password: 'hunter2' })
      const set = states(await node.apply())
      const dir = directories(node, 'scratch').pod
      const request = driver
        .log()
        .findLast(({ rpc, phase }) => rpc === 'NodePublishVolume' && phase === 'begin')?.request
      const file = JSON.parse(readFileSync(`${dir}/vol_data.json`, 'utf8'))
      const after = (await node.plan()).operations.length
      node.forget(POD)
      const gone = states(await node.apply({ orphans: true }))
      const left = [existsSync(dir), (await node.plan({ orphans: true })).operations.length]
      return { missing, set, request, file, after, gone, left, violations: driver.violations() }
    })
  },

  /** The claim's status as an expansion begins; @returns sizes in MiB before and after, what the claim says then, and the rest. */
  expand: (directory, [mode, fsType, fault = '', right = 'yes']) =>
    withDriver(directory, {}, async (node, driver) => {
      const block = mode === 'Block'
      const capacity = { storage: fsType === 'xfs' ? '300Mi' : '16Mi' }
      const grown = { storage: fsType === 'xfs' ? '400Mi' : '32Mi' }
      addVolume(node, 'pv-1', { volumeMode: block ? 'Block' : 'Filesystem', capacity, csi: { fsType: fsType ?? '' } })
      node.setClaimStatus('claim-pv-1', { phase: 'Bound', capacity })
      node.pod(POD, 'a', [claim('pv-1')], { devices: block })
      await node.apply()
      const size = (): number => {
        if (block) return Number(sh('blockdev', '--getsize64', blockLink(node, 'pv-1'))) / MIB
        const { bsize, blocks } = statfsSync(`${directories(node, 'pv-1').pod}/mount`)
        return Math.round((bsize * blocks) / MIB)
      }
      const before = size()
      node.growVolume('pv-1', grown)
      node.setClaimStatus('claim-pv-1', {
        phase: 'Bound',
        capacity,
        allocatedResources: grown,
        allocatedResourceStatuses: { storage: 'NodeResizePending' },
        conditions: [
          { type: 'FileSystemResizePending', status: 'True' },
          { type: 'ModifyingVolume', status: 'True' },
        ],
      })
      const asked = (await node.plan()).operations.map(({ kind, blocked }) => [kind, blocked?.code])
      if (fault !== '') driver.setFaults(fault)
      const patches: ClaimStatusPatch[] = []
      node.onClaimPatch = (patch) => {
        if (right === 'no') throw new ApiError('Forbidden', 'may not patch', { status: 403, reason: 'Forbidden' })
        patches.push(patch)
      }
      node.context = giveUpOn(fault, node)
      const result = await node.apply({ expand: true })
      const { status } = node.claims[0] as { status?: object }
      const left = (await node.plan({ expand: true })).operations.map(({ kind }) => kind)
      driver.setFaults()
      if (fault.startsWith('die')) await driver.restart()
      node.context = {}
      const next = right === 'no' ? undefined : await node.apply({ expand: true })
      return {
        asked,
        again: next === undefined ? [] : states(next),
        nextWords: next?.outcomes.map(({ message }) => message) ?? [],
        end: (node.claims[0] as { status?: { capacity?: object } }).status?.capacity,
        set: states(result),
        words: result.outcomes.map(({ message }) => message),
        grew: size() > before,
        statuses: patches.map(({ status: { allocatedResourceStatuses } }) => allocatedResourceStatuses ?? null),
        status,
        left,
        violations: driver.violations(),
      }
    }),

  /** A driver that wants to be asked again is asked where it is named, and nowhere else. */
  republish: (directory) => {
    const spec = { requiresRepublish: true, tokenRequests: [{ audience: 'vault' }] }
    return withDriver(directory, { spec }, async (node, driver) => {
      addVolume(node, 'pv-1')
      node.pod(POD, 'a', [claim('pv-1')], { serviceAccountName: 'app' })
      let tokens = 0
      node.cluster = {
        requestToken: async () => ({ token: `jwt-${++tokens}`, expirationTimestamp: '2026-11-21T11:00:00Z' }),
      }
      await node.apply()
      const unasked = [{}, { remount: true }, { pods: ['default/a'] }, { remount: true, volumes: ['pv-2'] }]
      const planned: number[] = []
      for (const options of unasked) planned.push((await node.plan(options)).operations.length)
      const options = { remount: true, pods: ['default/a'] }
      const steps = (await node.plan(options)).operations.map(({ kind, reason, steps: all }) => [
        kind,
        reason,
        ...all.map(({ op }) => op),
      ])
      const set = states(await node.apply(options))
      driver.setFaults('fail NodePublishVolume=INTERNAL:once')
      const failed = states(await node.apply({ remount: true, volumes: ['pv-1'] }))
      return { planned, steps, set, failed, tokens, there: present(node, 'pv-1'), violations: driver.violations() }
    })
  },

  /** Secrets and tokens reach the driver, and nothing that is written down. */
  secrets: (directory) => {
    const spec = {
      podInfoOnMount: true,
      tokenRequests: [{ audience: 'vault', expirationSeconds: 600 }, { audience: '' }],
    }
    const flags = ['--require-secret', 'password=hunter2', '--require-pod-info']
    return withDriver(directory, { spec, flags }, async (node, driver) => {
      const reference = { name: 'login', namespace: 'default' }
      addVolume(node, 'pv-1', { csi: { nodeStageSecretRef: reference, nodePublishSecretRef: reference } })
      node.pod(POD, 'a', [claim('pv-1')], { serviceAccountName: 'app' })
      const asked: TokenRequest[] = []
      node.cluster = {
        requestToken: async (request) => {
          asked.push(request)
          return { token: `jwt-${request.audiences}`, expirationTimestamp: '2026-11-21T11:00:00.123Z' }
        },
      }
      node.addSecret('login', { password: 'hunter3' })
      const events: ApplyEvent[] = []
      const wrong = await node.apply({}, (event) => events.push(event))
      node.addSecret('login', { password: 'hunter2' })
      const set = states(await node.apply({}, (event) => events.push(event)))
      const request = driver
        .log()
        .findLast(({ rpc, phase }) => rpc === 'NodePublishVolume' && phase === 'begin')?.request
      const context = request?.volumeContext as Record<string, string>
      const written = sh('sh', '-c', `cat ${node.root}.journal/* $(find ${node.root} -name vol_data.json)`)
      const shown = `${JSON.stringify([events, wrong, await node.look()])}${written}`
      return {
        wrong: states(wrong),
        words: wrong.outcomes.map(({ message }) => message),
        set,
        asked,
        tokens: context['csi.storage.k8s.io/serviceAccount.tokens'],
        leaked: ['hunter2', 'hunter3', 'jwt-'].filter((secret) => shown.includes(secret)),
        violations: driver.violations(),
      }
    })
  },

  /** No mount is there any more, and every file still is. */
  reboot: (directory) =>
    withDriver(directory, {}, async (node, driver) => {
      addVolume(node, 'pv-1')
      node.pod(POD, 'a', [claim('pv-1')])
      await node.apply()
      writeFileSync(`${directories(node, 'pv-1').pod}/mount/file`, 'kept')
      await driver.stop()
      unmountBelow(node.root)
      await driver.restart()
      const steps = (await node.plan()).operations.flatMap((operation) => operation.steps.map(({ op }) => op))
      const set = states(await node.apply())
      const data = readFileSync(`${directories(node, 'pv-1').pod}/mount/file`, 'utf8')
      const after = (await node.plan()).operations.length
      return { steps, set, data, after, violations: driver.violations() }
    }),

  lostFiles: (directory) =>
    withDriver(directory, {}, async (node, driver) => {
      addVolume(node, 'pv-1')
      node.pod(POD, 'a', [claim('pv-1')])
      await node.apply()
      const { pod, global } = directories(node, 'pv-1')
      const seen: unknown[] = []
      for (const [file, damage] of [
        [`${pod}/vol_data.json`, undefined],
        [`${pod}/vol_data.json`, ''],
        [`${pod}/vol_data.json`, '{"attachmentID":"csi-45c'],
        [`${global}/vol_data.json`, undefined],
        [`${global}/vol_data.json`, ''],
      ] as const) {
        const before = readFileSync(file, 'utf8')
        if (damage === undefined) unlinkSync(file)
        else writeFileSync(file, damage)
        const reasons = (await node.plan()).operations.map(({ reason, blocked }) => [reason, blocked?.code])
        const set = states(await node.apply())
        seen.push([reasons, set, readFileSync(file, 'utf8') === before, (await node.plan()).operations.length])
      }
      seen.push(present(node, 'pv-1'), driver.violations())
      return seen
    }),

  /** What holds in the plan and not any more when it is carried out. */
  changedMeanwhile: (directory) =>
    withDriver(directory, {}, async (node, driver) => {
      addVolume(node, 'pv-1')
      node.pod(POD, 'a', [claim('pv-1')])
      const [attachment] = node.attachments as [VolumeAttachment]
      const other = {
        ...attachment,
        metadata: { ...attachment.metadata, name: attachmentName(handleOf('pv-1'), DRIVER, 'node-2') },
      }
      const cases: Record<string, Partial<Cluster>> = {
        deleting: {
          getVolumeAttachment: async () => ({
            ...attachment,
            metadata: { ...attachment.metadata, deletionTimestamp: '2026-11-21T10:00:00Z' },
          }),
        },
        gone: { getVolumeAttachment: async () => undefined },
        detached: { getVolumeAttachment: async () => ({ ...attachment, status: { attached: false } }) },
        notInUse: { getNode: async () => ({ ...node.node, status: { ...node.node.status, volumesInUse: [] } }) },
        notReported: { getNode: async () => ({ ...node.node, status: { ...node.node.status, volumesAttached: [] } }) },
        outOfService: {
          getNode: async () => ({ ...node.node, spec: { taints: [{ key: 'node.kubernetes.io/out-of-service' }] } }),
        },
        elsewhere: {
          listVolumeAttachments: async () => [attachment, { ...other, spec: { ...other.spec, nodeName: 'node-2' } }],
        },
        mayNotList: { listVolumeAttachments: () => Promise.reject(new Error('forbidden')) },
      }
      const seen: Record<string, unknown> = {}
      for (const [name, cluster] of Object.entries(cases)) {
        node.cluster = cluster
        seen[name] = [...states(await node.apply()), ...present(node, 'pv-1')]
      }
      return { seen, calls: driver.log().filter(({ rpc }) => rpc === 'NodeStageVolume').length }
    }),
})

/** @param columns of findmnt that are told of the pod's mount */
function onceThrough(
  directory: string,
  given: Parameters<typeof withDriver>[1],
  spec: Parameters<typeof addVolume>[2],
  columns: readonly string[] = [],
) {
  return withDriver(directory, given, async (node, driver) => {
    addVolume(node, 'pv-1', spec)
    if (given.spec?.attachRequired === false) node.attachments = []
    node.pod(POD, 'a', [claim('pv-1')])
    const { pod, global } = directories(node, 'pv-1')
    const set = states(await node.apply())
    writeFileSync(`${pod}/mount/file`, 'kept')
    const there = present(node, 'pv-1')
    const about = columns.map((column) => sh('findmnt', '-n', '-o', column, `${pod}/mount`).split('\n')[0])
    const after = (await node.plan()).operations.length
    node.forget(POD)
    await node.apply({ orphans: true })
    const gone = (await node.plan({ orphans: true })).operations.map(({ kind, blocked }) => [kind, blocked?.code])
    return {
      set,
      there,
      about,
      after,
      gone,
      left: [existsSync(pod), existsSync(global)],
      violations: driver.violations(),
    }
  })
}

function mountGroups(driver: CsiDriver): string[] {
  return driver.log().flatMap(({ rpc, phase, request }) => {
    if (phase !== 'begin' || !/Stage|Publish/.test(rpc)) return []
    const capability = request.volumeCapability as { mount?: { volumeMountGroup?: string } }
    return `${rpc} ${capability.mount?.volumeMountGroup ?? ''}`
  })
}
