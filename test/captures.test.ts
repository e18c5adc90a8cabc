/** Every capture in test/fixtures/captures: a real node, and what its kubelet then did. A folder added later is picked up. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { sha256Hex } from '../src/core/names/volume-names.ts'
import { planNode } from '../src/core/reconcile/plan-node.ts'
import { readSnapshot } from '../src/core/snapshot/read-snapshot.ts'
import { planOptions } from './helpers/plan-options.ts'

const ROOT = new URL('./fixtures/captures/', import.meta.url).pathname
const folders = readdirSync(ROOT, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => entry.name)

interface KubeletOutcome {
  mountsRemoved: string[]
  mountsAdded: string[]
  orphans: Record<string, { directoryRemoved: boolean; left: string[] }>
  pluginPathsRemoved: string[]
  volumeAttachmentsRemoved: string[]
}

const load = (folder: string, file: string) => readSnapshot(join(ROOT, folder, file))
const outcomeOf = (folder: string): KubeletOutcome =>
  JSON.parse(readFileSync(join(ROOT, folder, 'kubelet.json'), 'utf8'))
const livingPods = (
  pods: readonly {
    metadata: { uid: string; deletionTimestamp?: string; annotations?: Readonly<Record<string, string>> }
    status?: { phase?: string }
  }[],
) =>
  new Set(
    pods
      .filter(
        (pod) =>
          pod.metadata.deletionTimestamp === undefined && !['Failed', 'Succeeded'].includes(pod.status?.phase ?? ''),
      )
      .map((pod) => pod.metadata.annotations?.['kubernetes.io/config.mirror'] ?? pod.metadata.uid),
  )

it('there are captures', () => expect(folders.length).toBeGreaterThan(0))

describe.each(folders)('%s', (folder) => {
  for (const file of ['node.json', 'after.json']) {
    if (existsSync(join(ROOT, folder, file)))
      it(`${file}: no operation for a pod that lives`, async () => {
        const state = await load(folder, file)
        const plan = planNode(state, planOptions({ orphans: true }))
        const living = livingPods(state.snapshot.api?.pods ?? [])
        expect(
          plan.operations.filter((operation) => operation.pod !== undefined && living.has(operation.pod.uid)),
        ).toEqual([])
        expect(plan.refused).toBeUndefined()
      })
  }

  if (existsSync(join(ROOT, folder, 'node.json')))
    it('node.json: the plan is empty', async () => {
      const plan = planNode(await load(folder, 'node.json'), planOptions({ orphans: true }))
      expect(plan.operations).toEqual([])
      expect(plan.problems.filter((problem) => problem.severity !== 'info')).toEqual([])
      expect(plan.complete).toBe(true)
    })

  const broken = existsSync(join(ROOT, folder, 'before.json')) && existsSync(join(ROOT, folder, 'kubelet.json'))

  if (broken)
    it('before.json: nothing is taken from a pod that lives', async () => {
      const state = await load(folder, 'before.json')
      const plan = planNode(state, planOptions({ orphans: true }))
      const living = new Set([
        ...livingPods(state.snapshot.api?.pods ?? []),
        ...(state.snapshot.runtime?.pods ?? []).filter((pod) => pod.state !== 'SANDBOX_NOTREADY').map((pod) => pod.uid),
        ...(state.snapshot.processes ?? []),
      ])
      const undoing = plan.operations.filter(
        (operation) => !['MountVolume', 'MapVolume', 'RemountVolume', 'ExpandVolume'].includes(operation.kind),
      )
      expect(
        undoing.filter((operation) => [...living].some((uid) => operation.paths.some((path) => path.includes(uid)))),
      ).toEqual([])
      expect(plan.refused).toBeUndefined()
    })

  if (broken)
    it('before.json: what the kubelet unmounted of pods that do not live is unmounted', async () => {
      const state = await load(folder, 'before.json')
      const plan = planNode(state, planOptions({ orphans: true }))
      const paths = new Set(plan.operations.filter((each) => each.blocked === undefined).flatMap((each) => each.paths))
      const alive = new Set([
        ...(state.snapshot.runtime?.pods ?? []).filter((pod) => pod.state !== 'SANDBOX_NOTREADY').map((pod) => pod.uid),
        ...(state.snapshot.processes ?? []),
      ])
      const held = [...alive].flatMap((uid) =>
        state.mounts.under(`${state.snapshot.rootDir}/pods/${uid}`).map((mount) => mount.dev),
      )
      const expected = outcomeOf(folder).mountsRemoved.filter(
        (path) =>
          ![...alive].some((uid) => path.includes(uid)) &&
          !state.mounts.at(path).some((mount) => held.includes(mount.dev)),
      )
      expect(expected.filter((path) => !paths.has(path))).toEqual([])
    })

  if (broken)
    it('before.json: what the kubelet mounted is to be mounted, or waits', async () => {
      const state = await load(folder, 'before.json')
      const plan = planNode(state, planOptions({ orphans: true }))
      const paths = new Set(plan.operations.flatMap((each) => each.paths))
      const waiting = new Set(
        plan.waiting.flatMap((each) => (each.volume === undefined ? [] : [each.volume.name, each.volume.handle])),
      )
      const missing = outcomeOf(folder).mountsAdded.filter(
        (path) => !path.includes('/volume-subpaths/') && !paths.has(path),
      )
      const unexplained = missing.filter(
        (path) =>
          ![...waiting].some(
            (name) => name !== undefined && (path.includes(`/${name}/`) || path.includes(sha256Hex(name))),
          ),
      )
      expect(unexplained).toEqual([])
    })

  if (broken)
    it('before.json: what the kubelet cleaned under plugins/ is cleaned', async () => {
      const state = await load(folder, 'before.json')
      const plan = planNode(state, planOptions({ orphans: true }))
      const paths = new Set(plan.operations.flatMap((each) => each.paths))
      const frozen = plan.problems.filter((problem) => problem.code === 'PodGoneButRunning').length > 0
      const expected = outcomeOf(folder).pluginPathsRemoved.map((path) => `${state.snapshot.rootDir}/${path}`)
      if (!frozen) expect(expected.filter((path) => !paths.has(path))).toEqual([])
    })

  if (broken)
    it('before.json: directories that the kubelet removed are removed', async () => {
      const state = await load(folder, 'before.json')
      const plan = planNode(state, planOptions({ orphans: true }))
      const removed = new Set(
        plan.operations.filter((each) => each.kind === 'RemoveOrphanPodDir').map((each) => each.pod?.uid),
      )
      const running = new Set(
        plan.problems.filter((each) => each.code === 'PodGoneButRunning').map((each) => each.about.pod),
      )
      const expected = Object.entries(outcomeOf(folder).orphans).filter(
        ([uid, each]) => each.directoryRemoved && !running.has(uid),
      )
      expect(expected.map(([uid]) => uid).filter((uid) => !removed.has(uid))).toEqual([])
    })

  if (broken)
    it('before.json: attachments that the controller removed are detached, or wait for a pod', async () => {
      const state = await load(folder, 'before.json')
      const plan = planNode(state, planOptions({ orphans: true }))
      const detached = new Set(
        plan.operations.filter((each) => each.kind === 'DetachVolume').map((each) => each.attachment?.name),
      )
      const waiting = plan.waiting.filter((each) => each.kind === 'DetachVolume').length
      const missing = outcomeOf(folder).volumeAttachmentsRemoved.filter((name) => !detached.has(name))
      expect(missing.length).toBeLessThanOrEqual(waiting)
    })

  it('the same input gives the same bytes', async () => {
    const file = existsSync(join(ROOT, folder, 'before.json')) ? 'before.json' : 'node.json'
    const [one, two] = [await load(folder, file), await load(folder, file)].map((state) =>
      JSON.stringify(planNode(state, planOptions({}))),
    )
    expect(one).toBe(two)
  })
})
