import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { isBatchable } from '../../src/core/apply/apply-run.ts'
import type { Operation } from '../../src/core/plan/plan.ts'
import { statesOf } from '../helpers/apply-plan.ts'
import { Fixture, operation, ROOT, step } from './apply-fixture.ts'

let fixture: Fixture
beforeEach(() => {
  fixture = new Fixture()
})
afterEach(() => {
  vi.restoreAllMocks()
})

const podDir = (n: number) => `${ROOT}/pods/pod-${n}`
const volumeDir = (n: number) => `${podDir(n)}/volumes/kubernetes.io~secret/token`

function secret(n: number): Operation {
  const dir = volumeDir(n)
  const ready = `${podDir(n)}/plugins/kubernetes.io~empty-dir/wrapped_token/ready`
  fixture.host.file(ready)
  return operation(`s${n}`, {
    pod: { uid: `pod-${n}` },
    expects: [fixture.host.mount(dir)],
    steps: [step('unlink', ready), step('umount', dir), step('rmdir', dir)],
  })
}

const umounts = () => fixture.host.log.filter((line) => line.startsWith('umount'))

describe('a batch of unmounts', () => {
  it('S27: checks once, unmounts in few calls, and reads the table once after', async () => {
    let witnesses = 0
    fixture.given = {
      witness: async () => {
        witnesses += 1
        return fixture.witness
      },
    }
    const operations = Array.from({ length: 1000 }, (_, n) => secret(n))
    // A busy machine takes longer than what was looked at counts as new.
    vi.spyOn(performance, 'now').mockReturnValue(performance.now())
    const result = await fixture.apply(operations)
    expect(new Set(Object.values(statesOf(result)))).toEqual(new Set(['done']))
    expect(umounts()).toHaveLength(1)
    expect(witnesses).toBe(1)
    // The check, and the verification.
    expect(fixture.host.tableReads).toBe(2)
    expect(fixture.host.mounts).toHaveLength(1)
    expect(fixture.journal().map(({ type }) => type)).toEqual(['begin', 'intent', 'outcome', 'end'])
  })

  it('the operation of a pod that lives is refused, the others go on', async () => {
    fixture.witness = { listed: new Set(), alive: new Set(['pod-1']), apiPods: [] }
    const states = statesOf(await fixture.apply([0, 1, 2].map(secret)))
    expect(states).toEqual({ s0: 'done', s1: 'refused PodStillRunning', s2: 'done' })
    expect(fixture.host.mounts.map(({ path }) => path)).toEqual(['/', volumeDir(1)])
  })

  it('S26: who has come while the conditions were judged is asked for again, before anything of it is begun', async () => {
    let clock = 0
    vi.spyOn(performance, 'now').mockImplementation(() => clock)
    const witness = async () => {
      const alive = new Set(clock > 0 ? ['pod-1'] : [])
      clock += 10_000
      return { ...fixture.witness, alive }
    }
    fixture.given = { witness }
    const states = statesOf(await fixture.apply([0, 1].map(secret)))
    expect(states).toEqual({ s0: 'done', s1: 'refused PodStillRunning' })
  })

  it.each([
    { name: 'a signal', want: 'interrupted Interrupted' },
    { name: 'a kubelet', want: 'failed KubeletRunning' },
  ])(
    'cut short by $name, says that some of an operation is done: it is neither refused nor not started',
    async ({ name, want }) => {
      const ending = new AbortController()
      fixture.given = { signal: ending.signal }
      const operations = [0, 1].map((n): Operation => {
        const paths = [`${podDir(n)}/volume-subpaths/v/c/0`, volumeDir(n)]
        const steps = paths.flatMap((path) => [step('umount', path), step('rmdir', path)])
        return operation(`s${n}`, {
          pod: { uid: `pod-${n}` },
          expects: paths.map((path) => fixture.host.mount(path)),
          steps,
        })
      })
      const { host } = fixture
      const now = performance.now.bind(performance)
      host.beforeUmount = () => {
        if (name === 'a signal') return ending.abort()
        fixture.kubelet = { running: true, mayReturn: true }
        // What was read of the kubelet before this call is old.
        vi.spyOn(performance, 'now').mockImplementation(() => now() + 2100)
      }
      const result = await fixture.apply(operations)
      expect(statesOf(result)).toEqual({ s0: want, s1: want })
      for (const { message } of result.outcomes) expect(message).toMatch(/^some of it is done; the rest: /)
      expect(host.mounts.map(({ path }) => path)).toEqual(['/', volumeDir(0), volumeDir(1)])
    },
  )

  it.each([
    { name: 'a CSI call', steps: [step('NodeUnpublishVolume', '/x')], fsType: 'tmpfs', want: false },
    { name: 'a network file system', steps: [step('umount', '/x')], fsType: 'nfs', want: false },
    { name: 'a local file system', steps: [step('umount', '/x'), step('rmdir', '/x')], fsType: 'ext4', want: true },
  ])('$name: $want', ({ steps, fsType, want }) => {
    const expects = [{ path: '/x', layers: [{ id: 1, dev: '0:1', root: '/', fsType }] }]
    expect(isBatchable(operation('a', { steps, expects }))).toBe(want)
  })
})
