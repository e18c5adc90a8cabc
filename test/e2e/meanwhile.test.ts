/** What others do while an apply is at work, or waits to begin: nothing is done that is no longer right. */
import { expect } from 'vitest'
import type { Fault } from '../helpers/api-server/faults.ts'
import { handleOf, NAMESPACE, NODE, pod, pvOf, volumeObjects } from '../helpers/scene/api-objects.ts'
import { IDLE } from '../helpers/scene/pods.ts'
import { type Scene, sandbox } from '../helpers/scene/scene.ts'
import { type Run, runVolctl } from '../helpers/scene/volctl.ts'
import { fingerprint } from './scenarios/fingerprint.ts'
import { endsOf, eventsOf, unclearOf } from './scenarios/outcomes.ts'
import { APPLY, applyMeanwhile, hostSays, it, leftOf, onTerminal, planOf, stateOf } from './story.ts'

const isDone = (end: string): boolean => end.endsWith(': done')

/** Something happens while the API server holds back one answer to an apply. */
async function whileHeld(scene: Scene, fault: Omit<Fault, 'action'>, happens: () => unknown): Promise<Run> {
  scene.api.setFaults({ ...fault, action: { type: 'hold' } })
  const applying = runVolctl(scene, APPLY)
  await expect.poll(() => scene.api.held()).toBeGreaterThan(0)
  await happens()
  scene.api.setFaults()
  return await applying
}

/** Asked twice for the plan: there are directories of pods that are not listed. */
const AFTER_THE_PLAN = { path: '/pods?', skip: 2 }

it('S11: nothing is done on the answer, which is older than the kubelet', async ({ broken }) => {
  const before = stateOf(broken)
  let putBack = () => {}
  const run = await whileHeld(broken, AFTER_THE_PLAN, () => {
    putBack = hostSays(broken, { kubelet: { running: true, mayReturn: true, note: 'kubelet.service active' } })
  })
  putBack()
  expect(run.status).toBe(4)
  expect(endsOf(run).filter((end) => !/: (?:refused|skipped) KubeletRunning$/.test(end))).toEqual([])
  expect(stateOf(broken)).toBe(before)
})

it('S3: the API server fails right after the plan: nothing is done on what it said before', async ({ broken }) => {
  const before = stateOf(broken)
  broken.api.setFaults({ ...AFTER_THE_PLAN, action: { type: 'drop' } })
  const run = await runVolctl(broken, APPLY)
  broken.api.setFaults()
  expect(run.status).toBe(3)
  expect(endsOf(run).filter((end) => !/: (?:refused|skipped) AlivenessUnknown$/.test(end))).toEqual([
    // A detach asks for itself.
    'DetachVolume pv-idle: failed ApiUnreachable',
  ])
  expect(unclearOf(run)).toEqual([])
  expect(stateOf(broken)).toBe(before)
})

it('S26: nothing of that pod is touched, the rest is done', async ({ broken }) => {
  const { web, batch } = broken.pods
  const ofPod = (paths: readonly string[]): string[] => paths.filter((path) => path.includes(batch.uid))
  const before = fingerprint(broken)
  const run = await onTerminal(broken, () => {
    broken.cri.set({ pods: [web, batch].map(sandbox) })
    return 'yes\n'
  })
  const end = fingerprint(broken)
  const { plan } = await planOf(broken, '--orphans')
  broken.cri.set({ pods: [sandbox(web)] })
  expect(run.status).toBe(3)
  expect(run.stdout).toContain('Changed')
  expect([ofPod(end.files), ofPod(end.mounts)]).toEqual([ofPod(before.files), ofPod(before.mounts)])
  expect(end.contents).toEqual(before.contents)
  // The forgotten and the idle volume, not that of the pod.
  expect(end.detached).toHaveLength(2)
  expect(plan.operations).toEqual([])
  expect(plan.problems.map(({ code }) => code).filter((code) => code !== 'ReportedUnused')).toEqual([
    'PodGoneButRunning',
  ])
})

it('S26: while apply is at work, what has not begun yet is refused', async ({ broken }) => {
  const { web, batch } = broken.pods
  const run = await applyMeanwhile(broken, () => broken.cri.set({ pods: [web, batch].map(sandbox) }))
  broken.cri.set({ pods: [sandbox(web)] })
  const events = eventsOf(run)
  const called = events.findIndex(({ step }) => step?.op === 'NodeUnpublishVolume')
  const later = events.slice(called).filter(({ type, pod }) => pod?.uid === batch.uid && type !== 'start')
  expect(later.map(({ type, kind, volume }) => [type, kind, volume])).toEqual([
    ['refused', 'UnmountVolume', 'settings'],
    ['skipped', 'RemoveOrphanPodDir', undefined],
  ])
  expect(run.status).toBe(3)
})

it('S21: a pod that came with a claim and a volume of its own keeps its disk attached', async ({ broken }) => {
  const late = { name: 'late', kind: 'filesystem' } as const
  // Nothing had a name for them before; the disk is the idle one's.
  const made = JSON.stringify(volumeObjects(late, '')).replaceAll(handleOf(late), handleOf(IDLE))
  const objects = (JSON.parse(made) as { kind: string }[]).filter(({ kind }) => kind !== 'VolumeAttachment')
  const uid = '11111111-2222-4333-8444-00000000000f'
  const coming = pod({ name: 'late', uid, volumes: [late], others: [] }, '/')
  const run = await applyMeanwhile(broken, () => broken.api.put(...objects, coming))
  for (const kind of ['Pod', 'PersistentVolumeClaim']) broken.api.remove(kind, late.name, NAMESPACE)
  broken.api.remove('PersistentVolume', pvOf(late))
  const ends = endsOf(run).filter((end) => end.startsWith('DetachVolume'))
  expect(ends).toContain('DetachVolume pv-idle: refused WantedAgain')
  expect(ends).toContain('DetachVolume vol-old: done')
})

it('S26: one that had looked before another did everything finds it done, and changes nothing', async ({ broken }) => {
  let before = ''
  const late = await whileHeld(broken, { path: '/secrets/password', times: 1 }, async () => {
    // What is asked together with the secret has been answered.
    await expect.poll(() => broken.api.requests().some(({ path }) => path.includes('/csidrivers'))).toBe(true)
    expect(await runVolctl(broken, APPLY)).toMatchObject({ status: 0 })
    before = stateOf(broken)
  })
  expect(late.status).toBe(0)
  expect(endsOf(late).length).toBeGreaterThan(5)
  expect(endsOf(late).filter((end) => !isDone(end))).toEqual([])
  expect(stateOf(broken)).toBe(before)
})

it.for([
  {
    name: 'a kubelet that comes',
    comes: (scene: Scene) => hostSays(scene, { kubelet: { running: true, mayReturn: true } }),
  },
  {
    name: 'a renewed lease, though no kubelet is seen here',
    comes: (scene: Scene) => scene.api.put(renewedLease()),
  },
])('S11: $name stops an apply in its middle', async ({ comes }, { broken }) => {
  const putBack = hostSays(broken, {})
  const run = await applyMeanwhile(broken, () => comes(broken))
  putBack()
  broken.api.remove('Lease', NODE, 'kube-node-lease')
  expect(run.status).toBe(3)
  expect(endsOf(run)).toContainEqual(expect.stringMatching(/: refused KubeletRunning$/))
  expect(await leftOf(broken)).toBeGreaterThan(0)
})

function renewedLease(): object {
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { namespace: 'kube-node-lease', name: NODE },
    spec: { holderIdentity: NODE, leaseDurationSeconds: 40, renewTime: new Date().toISOString() },
  }
}
