import { beforeEach, describe, expect, it } from 'vitest'
import type { Pod } from '../../../src/core/kube/api/objects.ts'
import type { Ownership } from '../../../src/core/linux/ownership.ts'
import { StepFailed, StepInterrupted, StepTimedOut } from '../../../src/core/messages/findings.ts'
import type { VolumeToMount } from '../../../src/core/volumes/desired-state.ts'
import { Fixture, POD, ROOT } from '../apply-fixture.ts'

const TARGET = `${ROOT}/pods/${POD}/volumes/kubernetes.io~csi/pv/mount`
const volume = { name: 'pv', plugin: 'kubernetes.io/csi', uniqueName: 'pv', mode: 'Filesystem' as const }
const pod: Pod = { metadata: { name: 'a', namespace: 'default', uid: POD }, spec: {} }

let fixture: Fixture
beforeEach(() => {
  fixture = new Fixture()
  fixture.witness = { listed: new Set([POD]), alive: new Set(), apiPods: [pod] }
  fixture.volumes = [{ podUid: POD, pod, uniqueName: 'pv' } as VolumeToMount]
})

async function run(given: Partial<Ownership> = {}) {
  const ownership: Ownership = { gid: 2000, policy: 'Always', readOnly: false, ignoreErrors: false, ...given }
  const steps = [{ op: 'setOwnership' as const, target: TARGET, ownership }]
  const { end: state } = await fixture.applyOne({ kind: 'MountVolume', volume, steps })
  const said = fixture.events.filter(({ type, step }) => type === 'step' && step === undefined)
  return { state, said: said.map(({ message }) => message) }
}

/** What the walk ends with. */
function fails(error: StepFailed): void {
  fixture.host.changeOwnership = async () => {
    throw error
  }
}

describe('errors of the walk (P34)', () => {
  beforeEach(() => {
    fixture.host.dir(TARGET)
  })

  it('fail the operation, or are said where the plugin ignores them', async () => {
    fails(new StepFailed({ code: 'WriteFailed', message: 'it ended with WriteFailed' }))
    expect(await run()).toEqual({ state: 'failed WriteFailed', said: [] })
    expect(await run({ ignoreErrors: true })).toEqual({
      state: 'done',
      said: [`${TARGET} was only partly given to group 2000: it ended with WriteFailed`],
    })
  })

  it.each([
    { error: new StepInterrupted({ code: 'Interrupted', message: 'it ended' }), state: 'interrupted Interrupted' },
    { error: new StepTimedOut({ code: 'TimedOut', message: 'it ended' }), state: 'failed TimedOut' },
  ])('$error.code is never ignored', async ({ error, state }) => {
    fails(error)
    expect((await run({ ignoreErrors: true })).state).toBe(state)
  })

  it('of single entries fail nothing, and are counted, and mounts in it are named (P31)', async () => {
    fixture.host.changeOwnership = async () => ({ entries: 9, failed: 2, mounts: [`${TARGET}/bound`] })
    expect(await run()).toEqual({
      state: 'done',
      said: [
        `${TARGET}: the file system did not give 2 files to group 2000`,
        `${TARGET}/bound: not given to group 2000, since another mount is there`,
      ],
    })
  })
})

it.each([
  { fsType: 'ext4', apart: undefined },
  // Nine tenths of the two minutes: the rest is for taking the mount back.
  { fsType: 'nfs4', apart: { command: ['walker'], deadlineMs: 108_000 } },
])('a $fsType is walked by a child where it may not answer', async ({ fsType, apart }) => {
  fixture.host.mount(TARGET, { fsType })
  const seen: unknown[] = []
  fixture.host.changeOwnership = async (_path, _options, given) => {
    seen.push(given)
    return { entries: 1, failed: 0, mounts: [] }
  }
  expect((await run()).state).toBe('done')
  expect(seen).toEqual([apart])
})
