/** What a kubelet does by its version and feature gates, and what volctl does beside it (N69 to N73, O44). */
import { describe, expect, it } from 'vitest'
import type { PodVolumeSource } from '../../src/core/kube/api/objects.ts'
import type { Plan } from '../../src/core/plan/plan.ts'
import { planNode } from '../../src/core/reconcile/plan-node.ts'
import { isGateOn } from '../../src/core/volumes/kubelet-version.ts'
import type { NodeState } from '../../src/core/volumes/snapshot.ts'
import { captureFiles, recorded } from '../helpers/captures.ts'
import { claimOf, type NodeBuilder, node, uid } from '../helpers/node-builder.ts'
import { planOptions } from '../helpers/plan-options.ts'
import { blocked, codes, oneManifest, RUNNING, waits } from './planned.ts'

type Gates = Readonly<Record<string, boolean>>

function withKubelet(
  { snapshot, mounts }: NodeState,
  kubeletVersion: string | undefined,
  gates: Gates = {},
): NodeState {
  const { api, kubelet } = snapshot
  const status = { ...api?.node?.status, nodeInfo: { ...api?.node?.status?.nodeInfo, kubeletVersion } }
  const config = { ...kubelet?.config, featureGates: gates }
  const changed = { ...snapshot, api: { ...api, node: { ...api?.node, status } }, kubelet: { ...kubelet, config } }
  return { snapshot: changed as typeof snapshot, mounts }
}

const planned = (built: NodeBuilder, version: string, gates?: Gates): Plan =>
  planNode(withKubelet(built.build(), version, gates), planOptions())

type Columns = readonly [entries: Gates, ...on: string[]]
const VERSIONS = ['v1.34.2', 'v1.35.6', 'v1.36.2', 'v1.37.0-rc.0', 'v1.38.0', 'v2.0.0', undefined]
it.each<[Parameters<typeof isGateOn>[1], ...Columns]>([
  ['ImageVolume', {}, '-', 'on', 'on', 'on', 'on', 'on', 'on'],
  ['ImageVolume', { ImageVolume: false }, '-', '-', 'on', 'on', 'on', 'on', 'on'],
  ['ImageVolume', { AllBeta: true }, 'on', 'on', 'on', 'on', 'on', 'on', 'on'],
  ['SELinuxMount', {}, '-', '-', '-', 'on', 'on', 'on', '-'],
  ['SELinuxMount', { SELinuxMount: false, AllBeta: true }, '-', '-', '-', '-', '-', '-', '-'],
  ['SELinuxMount', { AllBeta: true }, 'on', 'on', 'on', 'on', 'on', 'on', 'on'],
  ['SELinuxMount', { AllBeta: false }, '-', '-', '-', 'on', 'on', 'on', '-'],
  ['PreventStaticPodAPIReferences', {}, 'on', 'on', 'on', 'on', 'on', 'on', 'on'],
  ['PreventStaticPodAPIReferences', { AllBeta: false }, '-', '-', '-', 'on', 'on', 'on', '-'],
  ['EmptyDirVolumeMode', { EmptyDirVolumeMode: true }, '-', '-', '-', 'on', 'on', 'on', '-'],
  ['AtomicWriteVolumeUserFields', { AllAlpha: true }, '-', '-', '-', 'on', 'on', 'on', '-'],
  ['AtomicWriteVolumeUserFields', { AllBeta: true }, '-', '-', '-', '-', '-', '-', '-'],
  ['CSIGlobalMountReconstruction', { CSIGlobalMountReconstruction: true }, '-', '-', '-', '-', 'on', 'on', '-'],
])('a gate is on or off: %s with %o', (gate, entries, ...want) => {
  const { snapshot, mounts } = node().build()
  const on = VERSIONS.map((version) => isGateOn(withKubelet({ snapshot, mounts }, version, entries).snapshot, gate))
  expect(on.map((each) => (each ? 'on' : '-'))).toEqual(want)
})

it.each(captureFiles())('captures of kubelet 1.36 as those of another version: %s', async (file) => {
  const state = await recorded(file)
  const options = planOptions({ orphans: true })
  const today = planNode(withKubelet(state, 'v1.36.2'), options)
  for (const [version, gates] of [
    ['v1.34.2', { AllBeta: false }],
    ['v1.37.0', { AllAlpha: true }],
  ] as const) {
    const plan = planNode(withKubelet(state, version, gates), options)
    // A kubelet without image volumes starts none of their pods, and there is none of 1.36 (O44).
    const waiting = plan.waiting.filter(({ code }) => code !== 'PluginMissing')
    expect({ ...plan, waiting, summary: today.summary }).toEqual(today)
  }
})

describe('O44: an image volume and a kubelet that has no plugin for it', () => {
  const built = (alive: boolean): NodeBuilder => {
    const volumes = [{ name: 'v', image: { reference: 'x' } }]
    return alive
      ? node().livingPod(uid(9), 'late', volumes)
      : node().pod(uid(9), 'late', volumes, { phase: 'Pending' }).with(RUNNING)
  }
  it('waits with the cause', () =>
    expect(planned(built(false), 'v1.34.2').waiting.map(({ code, message }) => `${code}: ${message}`)).toEqual([
      'PluginMissing: the kubelet (v1.34.2) has no plugin for image volumes: its feature gate ImageVolume is off',
    ]))
  it.each([
    ['v1.34.2', false, { ImageVolume: true }],
    ['v1.35.6', false, {}],
    ['v1.34.2', true, {}],
  ])('%s, where its pod runs %s, with %o: nothing', (version, alive, gates) =>
    expect(planned(built(alive), version, gates).waiting).toEqual([]),
  )
})

describe('N70: a static pod that names objects of the API', () => {
  const OWN = '0123456789abcdef0123456789abcdef'
  const mirrored = (source: Omit<PodVolumeSource, 'name'>): NodeBuilder => {
    const annotations = { 'kubernetes.io/config.mirror': OWN, 'kubernetes.io/config.hash': OWN }
    return node()
      .persistentVolume('pv-1', { attached: false })
      .pod(uid(5), 'etcd-node-1', [{ name: 'v', ...source }], { metadata: { annotations } })
      .with(oneManifest('etcd'))
      .running(OWN)
      .dir(`pods/${OWN}`)
  }
  it.each<[string, Omit<PodVolumeSource, 'name'>]>([
    ['a secret', { secret: { secretName: 's', optional: true } }],
    ['a config map', { configMap: { name: 'c', optional: true } }],
    ['a claim', { persistentVolumeClaim: { claimName: 'claim-pv-1' } }],
    ['a token', { projected: { sources: [{ serviceAccountToken: { path: 't' } }] } }],
  ])('%s is left alone', (_, source) => {
    const { operations, waiting, problems } = planned(mirrored(source), 'v1.37.0')
    expect([operations, waiting, problems]).toEqual([[], [], []])
  })
  it('control: what needs no object is set up, and an object where the gate is off', () => {
    const kinds = (source: Omit<PodVolumeSource, 'name'>, gates?: Gates) =>
      planned(mirrored(source), 'v1.36.2', gates).operations.map(({ kind }) => kind)
    expect(kinds({ emptyDir: {} })).toEqual(['MountVolume'])
    expect(kinds({ projected: { sources: [{ downwardAPI: { items: [] } }] } })).toEqual(['MountVolume'])
    const off = { PreventStaticPodAPIReferences: false }
    expect(kinds({ configMap: { name: 'c', optional: true } }, off)).toEqual(['MountVolume'])
  })
})

describe('N72: what an alpha field asks for', () => {
  const items = [{ key: 'k', path: 'p', user: 7 }]
  const download = { fieldRef: { fieldPath: 'metadata.name' } }
  const MODE = { EmptyDirVolumeMode: true }
  const OWNERS = { AtomicWriteVolumeUserFields: true }
  it.each<[string, Omit<PodVolumeSource, 'name'>, Gates]>([
    ['the mode of an emptyDir', { emptyDir: { mode: 0o700 } }, MODE],
    ['the owner of all files', { configMap: { name: 'c', optional: true, defaultUser: 0 } }, OWNERS],
    ['the owner of a secret’s file', { secret: { secretName: 's', optional: true, items } }, OWNERS],
    ['the owner of a field', { downwardAPI: { items: [{ path: 'n', user: 7, ...download }] } }, OWNERS],
    ['of a file in a source', { projected: { sources: [{ secret: { name: 's', optional: true, items } }] } }, OWNERS],
    ['of a token', { projected: { sources: [{ serviceAccountToken: { path: 't', user: 7 } }] } }, OWNERS],
    ['of all projected files', { projected: { defaultUser: 7, sources: [] } }, OWNERS],
  ])('%s is left to the kubelet where its gate is on', (_, source, gates) => {
    const built = node().pod(uid(2), 'app', [{ name: 'v', ...source }])
    expect(blocked(planned(built, 'v1.37.0', gates))).toEqual(['MountVolume LeftToKubelet'])
    for (const off of [planned(built, 'v1.37.0'), planned(built, 'v1.36.2', gates)]) {
      expect([blocked(off), off.operations.map(({ kind }) => kind)]).toEqual([[], ['MountVolume']])
    }
  })
})

it('a tmpfs of another size than sizeLimit is no fault: it may have been resized', () => {
  const built = node()
    .livingPod(uid(2), 'app', [{ name: 'v', emptyDir: { medium: 'Memory', sizeLimit: '8Mi' } }])
    .mount(`pods/${uid(2)}/volumes/kubernetes.io~empty-dir/v`)
  built.mounts.push(`${built.mounts.pop()},size=65536k`)
  built.file(`pods/${uid(2)}/plugins/kubernetes.io~empty-dir/v/ready`)
  const { operations, problems, waiting } = planned(built, 'v1.37.0')
  expect([operations, problems, waiting]).toEqual([[], [], []])
})

it.each([
  ['its directory', false],
  ['its state file', true],
])('C70: a running pod whose failed republish has cost it %s has the volume, which stays staged', (_, published) => {
  const built = node().persistentVolume('pv-1').livingPod(uid(2), 'app', [claimOf()]).staged('pv-1', '7:1')
  if (published) built.published(uid(2), 'pv-1', '7:1', { stateFile: false })
  const plan = planned(built, 'v1.34.0')
  expect(plan.operations.map(({ kind, reason }) => [kind, reason])).toEqual([
    ['MountVolume', published ? 'StateFileMissing' : 'NotMounted'],
  ])
})

it('N73: a volume that is staged without a pod is the kubelet’s where its gate is on', () => {
  const built = node().persistentVolume('pv-1').staged('pv-1', '7:1').with(RUNNING)
  const made = planned(built, 'v1.38.0', { CSIGlobalMountReconstruction: true })
  expect(waits(made)).not.toContain('UnmountDevice KubeletRunning')
  expect(waits(planned(built, 'v1.38.0'))).toContain('UnmountDevice KubeletRunning')
  expect(codes(made)).toEqual(['VersionUntested'])
})
