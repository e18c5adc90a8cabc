/** S11, S26: what was asked before an operation is asked again if judging the rest took long, however it came to that. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Operation } from '../../src/core/plan/plan.ts'
import { attachmentHere, csiVolume, detachOf, statesOf } from '../helpers/apply-plan.ts'
import { Fixture, operation, ROOT, step } from './apply-fixture.ts'

const PODS = `${ROOT}/pods`
const GLOBAL = `${ROOT}/plugins/kubernetes.io/csi/d/abc/globalmount`
const volume = csiVolume()
const { uniqueName: UNIQUE } = volume

let fixture: Fixture
let ahead = 0
const real = performance.now.bind(performance)
beforeEach(() => {
  fixture = new Fixture()
  ahead = 0
  vi.spyOn(performance, 'now').mockImplementation(() => real() + ahead)
})
afterEach(() => vi.restoreAllMocks())

const startKubelet = (): void => {
  fixture.kubelet = { running: true, mayReturn: true }
}

/** Once: the process stands still for a while, in which something happens. */
function standStill(meanwhile: () => void): () => void {
  let stood = false
  return () => {
    if (stood) return
    stood = true
    ahead += 60_000
    meanwhile()
  }
}

const unstage = (): Operation => fixture.unstage(volume, GLOBAL, { dev: '8:16' })

/** Two, for one alone would be no batch. */
function secrets(rounds = 1): Operation[] {
  return ['a', 'b'].map((id) => {
    const dirs = Array.from({ length: rounds }, (_, n) => `${PODS}/${id}/volumes/kubernetes.io~secret/${n}`)
    const expects = dirs.map((dir) => fixture.host.mount(dir))
    const steps = dirs.flatMap((dir) => [step('umount', dir), step('rmdir', dir)])
    return operation(id, { pod: { uid: id }, expects, steps })
  })
}

describe('a kubelet that starts', () => {
  it.each([
    { name: 'an operation by itself', operations: () => [unstage()], want: 'refused KubeletRunning' },
    { name: 'a batch', operations: () => secrets(), want: 'refused KubeletRunning' },
    {
      name: 'what a pod that comes wants',
      operations: () => [unstage()],
      come: () => void fixture.wanted.add(UNIQUE),
      want: 'refused WantedAgain',
    },
  ])('S11, S26: while conditions are judged, and that takes long: $name', async ({ operations, come, want }) => {
    const pause = standStill(come ?? startKubelet)
    const planned = operations()
    fixture.given = {
      readMounts: () => {
        pause()
        return fixture.host.readMounts()
      },
    }
    const result = await fixture.apply(planned)
    expect(new Set(Object.values(statesOf(result)))).toEqual(new Set([want]))
    expect([...fixture.calls, ...fixture.host.log]).toEqual([])
  })

  it('S11: between two rounds of umounts of a batch, the first of which took long: the second is not begun', async () => {
    const planned = secrets(2)
    fixture.host.beforeUmount = standStill(startKubelet)
    await fixture.apply(planned)
    const left = fixture.host.mounts.map(({ path }) => path).filter((path) => path.startsWith(PODS))
    expect(left).toEqual(['a', 'b'].map((id) => `${PODS}/${id}/volumes/kubernetes.io~secret/1`))
  })
})

it.each([
  { name: 'a pod that comes', come: () => void fixture.wanted.add(UNIQUE), want: 'refused WantedAgain' },
  { name: 'a kubelet that starts', come: startKubelet, want: 'refused KubeletRunning' },
  { name: 'nobody', come: () => {}, want: 'done' },
])(
  'a detach: S21: is judged again by $name while the devices are looked at, and that takes long',
  async ({ come, want }) => {
    fixture.attachment = attachmentHere()
    // The tables are read again once the API server has answered.
    let asked = false
    const pause = standStill(come)
    fixture.given = {
      wantedOf: () => {
        asked = true
        return fixture.wantedOf()
      },
      readMounts: () => {
        if (asked) pause()
        return fixture.host.readMounts()
      },
    }
    expect(statesOf(await fixture.apply([detachOf(volume)]))).toEqual({ detach: want })
    expect(fixture.calls.length).toBe(want === 'done' ? 1 : 0)
  },
)
