import { beforeEach, describe, expect, it } from 'vitest'
import type { Pod } from '../../src/core/kube/api/objects.ts'
import { unfinished, wantedAgain } from '../../src/core/rules/api-now.ts'
import { type MachineFacts, NOT_ASKED, type Witness } from '../../src/core/rules/machine-facts.ts'
import { verdictOf } from '../../src/core/rules/rules.ts'
import type { VolumeToMount } from '../../src/core/volumes/desired-state.ts'
import { Fixture, operation, POD, planOf, ROOT, step } from '../apply/apply-fixture.ts'
import { statesOf } from '../helpers/apply-plan.ts'
import { podObject } from '../helpers/objects.ts'

const DIR = `${ROOT}/pods/${POD}/volumes/kubernetes.io~nfs/share`

const gone: Witness = { listed: new Set(), alive: new Set(), apiPods: [] }

let fixture: Fixture
beforeEach(() => {
  fixture = new Fixture()
})

function pod({ deleted, ...status }: { deleted?: boolean; phase?: string } = {}): Pod {
  return podObject({ name: 'p', uid: POD, ...(deleted && { deletionTimestamp: '2026-11-21T00:00:00Z' }) }, [], {
    status,
  })
}

/** Runs one unmount; the fakes say what has become of the world since the plan. */
async function outcome(kind: 'UnmountVolume' | 'RemoveOrphanPodDir' = 'UnmountVolume'): Promise<string> {
  const steps = [step(kind === 'UnmountVolume' ? 'umount' : 'rmdir', DIR)]
  return (await fixture.applyOne({ kind, steps, expects: [fixture.host.mount(DIR)] })).end
}

describe('pods (S3, S5, S9)', () => {
  const alive = new Set([POD])
  const listed = new Set([POD])
  const blindFor = () => 'the container runtime did not answer'
  it.each([
    { name: 'gone', witness: gone, want: 'done' },
    { name: 'a container appeared (T142)', witness: { ...gone, alive }, want: 'refused PodStillRunning' },
    { name: 'nobody sees whether it runs', witness: { ...gone, blindFor }, want: 'refused AlivenessUnknown' },
    { name: 'listed again', witness: { ...gone, listed, apiPods: [pod()] }, want: 'refused WantedAgain' },
    { name: 'listed under another UID', witness: { ...gone, listed }, want: 'refused WantedAgain' },
    { name: 'being deleted', witness: { ...gone, listed, apiPods: [pod({ deleted: true })] }, want: 'done' },
    { name: 'terminal', witness: { ...gone, listed, apiPods: [pod({ phase: 'Failed' })] }, want: 'done' },
    {
      name: 'being deleted and alive',
      witness: { listed, alive, apiPods: [pod({ deleted: true })] },
      want: 'refused PodStillRunning',
    },
  ])('$name: $want', async ({ witness, want }) => {
    fixture.witness = witness
    expect(await outcome()).toBe(want)
    expect(fixture.host.log.length > 0).toBe(want === 'done')
  })

  it('one that is being deleted counts as finished only where it is seen not to run', () => {
    const witness = { ...gone, apiPods: [pod({ deleted: true })] }
    expect([unfinished(witness), unfinished({ ...witness, blindFor })]).toMatchObject([[], [{}]])
  })

  it('keeps the directory of a pod that the API still knows, finished or not', async () => {
    fixture.witness = { ...gone, listed, apiPods: [pod({ deleted: true })] }
    expect(await outcome('RemoveOrphanPodDir')).toBe('refused WantedAgain')
  })
})

describe('a pod that a volume is to be set up for (S22)', () => {
  const wanting = operation('a', {
    kind: 'MountVolume',
    volume: { name: 'v', uniqueName: 'u', plugin: 'p', mode: 'Filesystem' },
  })
  const wanted = (): VolumeToMount => ({}) as VolumeToMount

  it.each([
    { name: 'as it was', pods: [pod()], code: undefined },
    { name: 'gone', pods: [], code: 'NoLongerWanted' },
    { name: 'ended', pods: [pod({ phase: 'Succeeded' })], code: 'NoLongerWanted' },
    { name: 'being deleted, and not alive', pods: [pod({ deleted: true })], code: 'NoLongerWanted' },
    { name: 'without that volume', pods: [pod()], code: 'NoLongerWanted', no: true },
  ])('$name', async ({ pods, code, no }) => {
    const context = { wanted: no ? () => undefined : wanted }
    const facts = { operation: wanting, context } as unknown as MachineFacts
    expect((await verdictOf({ ...facts, witness: { ...gone, apiPods: pods } }, 'again'))?.code).toBe(code)
  })
})

it.each([
  { name: 'no pod wants', wanted: { names: new Map(), volumes: [], unresolved: [] }, code: undefined },
  { name: 'a pod may want, since the API was not read (S3)', wanted: undefined, code: 'WantedAgain' },
  {
    name: 'a pod may want, since not all could be resolved (S4)',
    wanted: { names: new Map(), volumes: [], unresolved: [{ mayBe: 'any' }] },
    code: 'WantedAgain',
  },
])('a device that $name', async ({ wanted, code }) => {
  const device = operation('a', {
    kind: 'UnmountDevice',
    volume: { name: 'disk', uniqueName: 'kubernetes.io/iscsi/disk', plugin: 'kubernetes.io/iscsi', mode: 'Filesystem' },
  })
  const context = { wantedOf: () => wanted }
  const facts = { operation: device, context, witness: gone } as unknown as MachineFacts
  const verdict = await wantedAgain(facts)
  expect(verdict?.code).toBe(code)
})

describe('the mounts that the plan was made on (S18, S26)', () => {
  it.each([
    { name: 'unmounted meanwhile', change: () => fixture.host.mounts.pop(), want: 'done' },
    { name: 'something stacked on it', change: () => fixture.host.mount(DIR), want: 'refused ForeignMount' },
    { name: 'something mounted below', change: () => fixture.host.mount(`${DIR}/x`), want: 'refused ForeignMount' },
    { name: 'the id given again to another file system', now: { dev: '9:9' }, want: 'refused ForeignMount' },
    { name: 'and to another directory of it', now: { root: '/other' }, want: 'refused ForeignMount' },
  ])('$name: $want', async ({ change = () => {}, now = {}, want }) => {
    const expects = [fixture.host.mount(DIR)]
    change()
    fixture.host.mounts = fixture.host.mounts.map((each) => (each.path === DIR ? { ...each, ...now } : each))
    const result = await fixture.apply([operation('a', { steps: [step('umount', DIR)], expects })])
    expect(statesOf(result)).toEqual({ a: want })
  })
})

it('the kubelet (S11): is nothing new where the plan was made beside one', async () => {
  fixture.kubelet = { running: true, mayReturn: false }
  const expects = [fixture.host.mount(DIR)]
  const plan = planOf([operation('a', { steps: [step('umount', DIR)], expects })])
  const inputs = { ...plan.inputs, kubelet: { state: 'running' as const } }
  expect(statesOf(await fixture.apply({ ...plan, inputs }))).toEqual({ a: 'done' })
})

it('pods that were not asked for are not taken for gone (S3)', async () => {
  const facts = { operation: operation('a', {}), context: {}, witness: NOT_ASKED } as unknown as MachineFacts
  await expect(verdictOf(facts, 'again')).rejects.toThrow('nobody was asked')
})
