/** Volumes that a real API server says are elsewhere, or nowhere, and what plan and explain say of them. */
import type { Explanation } from '../../../src/core/explain/explanation.ts'
import { attachmentName } from '../../../src/core/names/volume-names.ts'
import { bottomLine } from '../../helpers/bottom-line.ts'
import {
  DRIVER,
  handleOf,
  MACHINE,
  NAMESPACE,
  NODE,
  node,
  pvOf,
  type SceneVolume,
  volumeObjects,
} from '../../helpers/scene/api-objects.ts'
import type { Scene } from '../../helpers/scene/scene.ts'
import { runVolctl } from '../../helpers/scene/volctl.ts'
import { withScene, writeReport } from './scenario.ts'

export interface Said {
  readonly status: number | undefined
  readonly operations: number
  readonly waiting: readonly string[]
  readonly problems: readonly string[]
  /** Messages and hints of all that waits and all problems. */
  readonly words: string
  readonly verdict: string
  readonly verdictWords: string
  readonly bottomLine: string
  /** What waits and what is wrong, in a plan of a snapshot; empty: the same. */
  readonly offline: readonly object[]
  /** What was asked of other nodes. */
  readonly asked: readonly string[]
}

export interface VerdictsReport {
  readonly healthy: Said
  /** The same, with the kubelet's own credential. */
  readonly healthyKubelet: Said
  readonly absent: Said
  readonly twoWriters: Said
  readonly multiAttach: Said
  readonly forbidden: Said
  readonly lun: Said
  readonly lunForbidden: Said
}

const OTHER = 'worker-2'
const SINCE = '2026-01-02T03:04:05Z'
const LATE: SceneVolume = { name: 'late', kind: 'filesystem' }
const LUN: SceneVolume = { name: 'lun', kind: 'filesystem' }
const LUN_NAME = 'kubernetes.io/iscsi/192.0.2.1:iqn.2026-01.com.example:disk:3'

const vaOf = (volume: SceneVolume, nodeName: string): string => attachmentName(handleOf(volume), DRIVER, nodeName)

function attachmentElsewhere(volume: SceneVolume): object {
  return {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'VolumeAttachment',
    metadata: { name: vaOf(volume, OTHER), uid: `elsewhere-${volume.name}`, creationTimestamp: SINCE },
    spec: { attacher: DRIVER, nodeName: OTHER, source: { persistentVolumeName: pvOf(volume) } },
    status: { attached: true },
  }
}

function podOf(name: string, nodeName: string, claim: string, uid: string, phase = 'Running'): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: NAMESPACE, uid, creationTimestamp: SINCE },
    spec: {
      nodeName,
      volumes: [{ name: 'v', persistentVolumeClaim: { claimName: claim } }],
      containers: [{ name: 'main', image: 'x', volumeMounts: [{ name: 'v', mountPath: '/v' }] }],
    },
    status: { phase },
  }
}

const otherNode = (attached: readonly string[]): object => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: OTHER, uid: 'other-node' },
  spec: {},
  status: {
    nodeInfo: { ...MACHINE, machineID: 'of-another', systemUUID: 'of-another', bootID: 'of-another' },
    volumesAttached: attached.map((name) => ({ name, devicePath: '/dev/sdx' })),
  },
})

async function sayOf(scene: Scene, what: string, user = 'admin'): Promise<Said> {
  const flags = ['--kubeconfig', scene.api.kubeconfig(user)]
  await scene.api.clearRequests()
  const run = await runVolctl(scene, ['plan', '--detailed-exitcode', '-o', 'json', ...flags])
  if (run.stdout === '') throw new Error(run.stderr)
  const asked = (await scene.api.requests()).map(
    ({ method, path, status }) => `${method} ${decodeURIComponent(path)} ${status}`,
  )
  const { operations, waiting, problems } = JSON.parse(run.stdout)
  const table = await runVolctl(scene, ['plan', ...flags])
  const explained = await runVolctl(scene, ['explain', what, '-o', 'json', ...flags])
  if (explained.stdout === '') throw new Error(explained.stderr)
  const { verdict } = JSON.parse(explained.stdout) as Explanation
  const file = `${scene.directory}/snapshot.json`
  await runVolctl(scene, ['snapshot', '-o', file, ...flags])
  const offline = await runVolctl(scene, ['plan', '-o', 'json', '--snapshot', file])
  const parts = [waiting, problems]
  const told = JSON.parse(offline.stdout)
  return {
    status: run.status,
    operations: operations.length,
    waiting: waiting.map((each: { code: string; volume?: { name: string } }) => `${each.volume?.name}: ${each.code}`),
    problems: problems.map((each: { severity: string; code: string }) => `${each.severity} ${each.code}`),
    words: parts
      .flat()
      .map(({ message, hint = '' }) => `${message} | ${hint}`)
      .join('\n'),
    verdict: `${verdict.state} ${verdict.code ?? ''}`.trim(),
    verdictWords: verdict.message,
    bottomLine: bottomLine(table.stdout),
    offline:
      JSON.stringify([told.waiting, told.problems]) === JSON.stringify(parts) ? [] : [told.waiting, told.problems],
    asked: asked.filter((each) => each.includes(OTHER) || / \/api\/v1\/nodes\?/.test(each)),
  }
}

async function useVerdicts(scene: Scene): Promise<VerdictsReport> {
  const { api, pods } = scene
  const [common] = pods.web.volumes
  if (common === undefined) throw new Error('no volume')
  const held = Object.values(pods).flatMap(({ volumes }) => volumes)
  const what = `pv/${pvOf(common)}`
  const healthy = await sayOf(scene, what)
  const healthyKubelet = await sayOf(scene, what, 'kubelet')

  await api.put(
    otherNode([]),
    podOf('other-0', OTHER, common.name, 'u-other'),
    podOf('idle-0', OTHER, 'none', 'u-idle'),
  )
  await api.put(attachmentElsewhere(common))
  const twoWriters = await sayOf(scene, what)
  await api.remove('VolumeAttachment', vaOf(common, OTHER))

  // It goes at once where no attacher holds it.
  const own = volumeObjects(common, '').at(-1) as { metadata: object }
  await api.put({ ...own, metadata: { ...own.metadata, finalizers: [] } })
  await api.remove('VolumeAttachment', vaOf(common, NODE))
  const absent = await sayOf(scene, what)
  await api.put(own)

  // A pod that came here while its old node still has its volume.
  const [claim, volume] = volumeObjects(LATE, '') as object[]
  await api.put(
    claim as object,
    volume as object,
    attachmentElsewhere(LATE),
    podOf('late-0', OTHER, LATE.name, 'u-late-0'),
    podOf('late-1', NODE, LATE.name, '11111111-2222-4333-8444-000000000021', 'Pending'),
  )
  const late = `pod/${NAMESPACE}/late-1`
  const multiAttach = await sayOf(scene, late)
  const forbidden = await sayOf(scene, late, 'kubelet')
  await api.remove('Pod', 'late-1', NAMESPACE)

  // The same of a plugin that has no VolumeAttachment.
  const objects = volumeObjects(LUN, '').slice(0, 2) as { kind: string; spec: { csi?: object } }[]
  await api.put(
    ...objects.map((object) => {
      const { csi: _, ...spec } = object.spec
      const iscsi = { targetPortal: '192.0.2.1', iqn: 'iqn.2026-01.com.example:disk', lun: 3 }
      return object.kind === 'PersistentVolume' ? { ...object, spec: { ...spec, iscsi } } : object
    }),
    otherNode([LUN_NAME]),
    node(held),
    podOf('lun-0', OTHER, LUN.name, 'u-lun-0'),
    podOf('lun-1', NODE, LUN.name, '11111111-2222-4333-8444-000000000022', 'Pending'),
  )
  const lun = await sayOf(scene, `pod/${NAMESPACE}/lun-1`, 'plan')
  const lunForbidden = await sayOf(scene, `pod/${NAMESPACE}/lun-1`, 'kubelet')
  return { healthy, healthyKubelet, absent, twoWriters, multiAttach, forbidden, lun, lunForbidden }
}

writeReport(await withScene(useVerdicts, { small: true }))
