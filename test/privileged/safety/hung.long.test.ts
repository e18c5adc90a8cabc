/**
 * Hung, dead and stacked mounts. Each scenario has a PID namespace of its own, which ends with it whatever
 * hangs in it, and inNamespace has a deadline outside of it.
 */
import { describe, expect, it } from 'vitest'
import { inNamespace } from '../../helpers/in-namespace.ts'
import { noBlockDevices, noMounts } from '../../helpers/namespace.ts'

const WORKER = new URL('./hung.worker.ts', import.meta.url)
const run = <T>(scenario: string): Promise<T> => inNamespace<T>(WORKER, scenario)

const noFuse =
  noMounts ??
  (await run('possible').then(
    () => undefined,
    () => 'this machine has no FUSE',
  ))

interface Commands {
  readonly planned: number
  readonly explained: number
  readonly answer: unknown
  readonly applied: number
}

/** Far above what they take, and far below what would show that something is waited for without a deadline. */
const PLAN_SECONDS = 30
const APPLY_SECONDS = 100

function expectInTime({ planned, explained, applied }: Commands): void {
  expect(planned).toBeLessThan(PLAN_SECONDS)
  expect(explained).toBeLessThan(PLAN_SECONDS)
  expect(applied).toBeLessThan(APPLY_SECONDS)
}

/** What `explain` says of the mount: that it is dead, and who holds it, without waiting for its server. */
const DEAD = { kind: 'Mount', state: 'problem', dead: true, known: true }

/** Everything else of the plan, detaching left out. */
const REST = 12

describe.skipIf(noFuse !== undefined)(`FUSE file systems${noFuse === undefined ? '' : ` (${noFuse})`}`, () => {
  it('S20: a daemon that is stopped hangs no command; a volume of a gone pod goes, that of a living one stays', async () => {
    const found = await run<Commands>('stopped')
    expect(found).toMatchObject({ named: true, status: 0, undone: [], done: REST, left: 0, living: 1, answer: DEAD })
    expectInTime(found)
  })

  it('S19: children that survive SIGKILL keep no command from ending; the mount is named, and goes by force', async () => {
    const found = await run<Commands & { survivors: string[] }>('silent')
    expectInTime(found)
    expect(found.survivors).toContain('stat')
    expect(found).toMatchObject({
      answer: DEAD,
      named: true,
      status: 3,
      undone: ['RemoveOrphanPodDir -: skipped HeldBy', 'UnmountVolume silent: failed HeldBy'],
      done: REST - 2,
      left: 1,
      forced: ['UnmountVolume silent: done'],
      after: 0,
      still: [],
    })
  })

  it('one that answers everything with EIO is named and unmounted, and the rest is done', async () => {
    const found = await run<Commands>('eio')
    expect(found).toMatchObject({ named: true, status: 0, undone: [], done: REST, left: 0, answer: DEAD })
    expectInTime(found)
  })

  it('S19: no force where the connection has another mount, here or in another namespace', async () => {
    expect(await run('sharedForce')).toEqual({
      here: ['failed SharedConnection'],
      afterHere: [1, true],
      there: ['failed SharedConnection'],
      afterThere: [1, true],
      alone: ['done'],
      left: 0,
    })
  })
})

describe.skipIf(noBlockDevices !== undefined)(
  `a loop device whose file is deleted${noBlockDevices === undefined ? '' : ` (${noBlockDevices})`}`,
  () => {
    it('is unmounted as any other', async () => {
      const found = await run<Commands & { undone: string[]; done: number; again: number }>('deleted')
      expect(found).toMatchObject({ named: true, left: 0 })
      // Before, it may be on any disk of its size: what takes one away waits for another apply.
      expect(found.undone.filter((end) => !end.startsWith('UnmountDevice '))).toEqual([])
      expect(found.done + found.undone.length).toBe(REST)
      expect(found.again).toBe(0)
      expectInTime(found)
    })
  },
)

describe.skipIf(noMounts !== undefined)(`many mounts${noMounts === undefined ? '' : ` (${noMounts})`}`, () => {
  it('S18: ten mounts of one volume on one path go one by one, and none of ten of which one is foreign', async () => {
    expect(await run('stack')).toEqual({
      umounts: [10, 10],
      blocked: [null, 'ForeignMount'],
      states: ['done', 'blocked ForeignMount'],
      left: [0, 10],
      content: 'precious',
    })
  })
})
