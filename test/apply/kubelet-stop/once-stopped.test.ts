import { expect, it } from 'vitest'
import { type Needed, needStop, onceStopped } from '../../../src/core/apply/kubelet-stop/plan-stop.ts'
import type { Pod } from '../../../src/core/kube/api/objects.ts'
import type { UnitFacts } from '../../../src/core/node/kubelet/stoppable.ts'
import { bareOperation, barePlan } from '../../helpers/apply-plan.ts'
import { node } from '../../helpers/node-builder.ts'

const [OLD, YOUNG] = ['2026-11-21T11:50:00Z', '2026-11-21T11:59:30Z']
const pod = (uid: string, times: Partial<Pod['metadata']>): Pod => ({
  metadata: { name: uid, namespace: 'n', uid, ...times },
  spec: {},
})
const operation = bareOperation('a', 'u', [], { subject: { row: 'r', pod: 'u' } })
const device = bareOperation('d', 'u', [], { kind: 'UnmountDevice' })
const { pod: _, ...ofNoPod } = device
const needed = (given: Partial<Needed>): readonly string[] =>
  needStop({
    stopped: barePlan('/r', [operation]),
    running: barePlan('/r', []),
    pods: [],
    settleMs: 120_000,
    ...given,
  }).map(({ id }) => id)

it.each([
  { name: 'what is ready only then', given: {}, ids: ['a'] },
  { name: 'what is ready now, too, is not', given: { running: barePlan('/r', [operation]) }, ids: [] },
  {
    name: 'what stays blocked is not',
    given: { stopped: barePlan('/r', [{ ...operation, blocked: { code: 'NotAsked' as const, message: 'm' } }]) },
    ids: [],
  },
  {
    name: 'a pod that began a moment ago is the kubelet at work',
    given: { pods: [pod('u', { creationTimestamp: YOUNG })] },
    ids: [],
  },
  { name: 'an unknown time is just now', given: { pods: [pod('u', {})] }, ids: [] },
  { name: 'a pod that waits for long', given: { pods: [pod('u', { creationTimestamp: OLD })] }, ids: ['a'] },
  { name: 'what is of no pod', given: { stopped: barePlan('/r', [ofNoPod]) }, ids: ['d'] },
])('S35: what the kubelet has to be stopped for: $name', ({ given, ids }) => expect(needed(given)).toEqual(ids))

const RUNNING = { running: true, mayReturn: true, unit: 'kubelet.service', pid: 7, nodeName: 'node-1' }

it('the node as it will be: the kubelet is stopped, all else stays', () => {
  const state = node().build()
  const now = { ...state, snapshot: { ...state.snapshot, kubelet: RUNNING } }
  const { kubelet, ...others } = onceStopped(now, undefined).snapshot
  expect(kubelet).toMatchObject({ running: false, mayReturn: false, unit: 'kubelet.service', nodeName: 'node-1' })
  expect(kubelet).not.toHaveProperty('stoppedAt')
  const { kubelet: __, ...before } = now.snapshot
  expect(others).toEqual(before)
})

it('a container runtime that the unit runs as well will not answer', () => {
  const state = node().build()
  const facts = { unit: 'k3s-agent.service', runsRuntime: true } as Partial<UnitFacts> as UnitFacts
  const { runtime } = onceStopped({ ...state, snapshot: { ...state.snapshot, kubelet: RUNNING } }, facts).snapshot
  expect(runtime).toMatchObject({ source: 'none', pods: [], error: 'it stops with k3s-agent.service' })
})
