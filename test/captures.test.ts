/** Every capture in test/fixtures/captures: a real node, and what its kubelet then did. A folder added later is picked up. */
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { planNode } from '../src/core/reconcile/plan-node.ts'
import type { NodeState } from '../src/core/volumes/snapshot.ts'
import { sha256Hex } from '../src/core/volumes/volume-names.ts'
import { CAPTURES, captureFiles, recorded } from './helpers/captures.ts'
import { planOptions } from './helpers/plan-options.ts'

interface KubeletOutcome {
  mountsRemoved: string[]
  mountsAdded: string[]
  orphans: Record<string, { directoryRemoved: boolean; left: string[] }>
  pluginPathsRemoved: string[]
  volumeAttachmentsRemoved: string[]
}

const outcomeOf = (file: string): KubeletOutcome =>
  JSON.parse(readFileSync(join(CAPTURES, dirname(file), 'kubelet.json'), 'utf8'))

/** By the API. */
const livingPods = ({ snapshot: { api } }: NodeState): Set<string> =>
  new Set(
    (api?.pods ?? []).flatMap(({ metadata, status: { phase = '' } = {} }) =>
      metadata.deletionTimestamp !== undefined || ['Failed', 'Succeeded'].includes(phase)
        ? []
        : (metadata.annotations?.['kubernetes.io/config.mirror'] ?? metadata.uid),
    ),
  )

/** Whatever lives by the runtime or the kernel. */
function alive({ snapshot }: NodeState): Set<string> {
  const running = (snapshot.runtime?.pods ?? []).filter((pod) => pod.state !== 'SANDBOX_NOTREADY')
  return new Set([...running.map(({ uid }) => uid), ...(snapshot.processes ?? [])])
}

async function planned(file: string) {
  const state = await recorded(file)
  return { state, plan: planNode(state, planOptions({ orphans: true })), living: livingPods(state) }
}

it.each(captureFiles(['node.json', 'after.json']))('%s: no operation for a pod that lives', async (file) => {
  const { plan, living } = await planned(file)
  expect(plan.operations.filter(({ pod }) => pod !== undefined && living.has(pod.uid))).toEqual([])
  expect(plan.refused).toBeUndefined()
  if (!file.endsWith('node.json')) return
  // A node that is well: nothing at all.
  expect(plan.operations).toEqual([])
  expect(plan.problems.filter((problem) => problem.severity !== 'info')).toEqual([])
  expect(plan.complete).toBe(true)
})

it.each(captureFiles(['before.json']))(
  '%s: nothing is taken from a pod that lives, and what the kubelet did is planned or waits',
  async (file) => {
    const { state, plan, living } = await planned(file)
    const { rootDir } = state.snapshot
    const outcome = outcomeOf(file)
    const running = [...alive(state)]
    const spared = [...living, ...running]
    const undoing = plan.operations.filter(({ kind }) => !/^(?:Mount|Map|Remount|Expand)Volume$/.test(kind))
    expect(undoing.filter(({ paths }) => spared.some((uid) => paths.some((path) => path.includes(uid))))).toEqual([])
    expect(plan.refused).toBeUndefined()

    const ready = new Set(plan.operations.flatMap(({ blocked, paths }) => (blocked === undefined ? paths : [])))
    const held = running.flatMap((uid) => state.mounts.under(`${rootDir}/pods/${uid}`).map(({ dev }) => dev))
    const unmounted = outcome.mountsRemoved.filter(
      (path) =>
        !running.some((uid) => path.includes(uid)) && !state.mounts.at(path).some(({ dev }) => held.includes(dev)),
    )
    expect(unmounted.filter((path) => !ready.has(path))).toEqual([])

    const paths = new Set(plan.operations.flatMap((each) => each.paths))
    const waiting = plan.waiting.flatMap(({ volume }) => (volume === undefined ? [] : [volume.name, volume.handle]))
    const isWaitedFor = (path: string): boolean =>
      waiting.some((name) => name !== undefined && (path.includes(`/${name}/`) || path.includes(sha256Hex(name))))
    const mounted = outcome.mountsAdded.filter((path) => !path.includes('/volume-subpaths/') && !paths.has(path))
    expect(mounted.filter((path) => !isWaitedFor(path))).toEqual([])

    const frozen = plan.problems.filter(({ code }) => code === 'PodGoneButRunning').map(({ about }) => about.pod)
    const cleaned = outcome.pluginPathsRemoved.map((path) => `${rootDir}/${path}`)
    if (frozen.length === 0) expect(cleaned.filter((path) => !paths.has(path))).toEqual([])

    const removed = plan.operations.filter(({ kind }) => kind === 'RemoveOrphanPodDir').map(({ pod }) => pod?.uid)
    const orphans = Object.entries(outcome.orphans).filter(
      ([uid, each]) => each.directoryRemoved && !frozen.includes(uid),
    )
    expect(orphans.map(([uid]) => uid).filter((uid) => !removed.includes(uid))).toEqual([])

    const isDetach = ({ kind }: { readonly kind: string }): boolean => kind === 'DetachVolume'
    const detached = plan.operations.filter(isDetach).map(({ attachment }) => attachment?.name)
    const missing = outcome.volumeAttachmentsRemoved.filter((name) => !detached.includes(name))
    expect(missing.length).toBeLessThanOrEqual(plan.waiting.filter(isDetach).length)
  },
)
