/**
 * Calls that fail in each way that makes a difference, before their work is done or after it: the state that they leave
 * is the same however often they fail, and the first apply that meets no fault any more comes to the end. Every code is
 * tried in test/apply, where a driver costs nothing.
 */
import { describe, expect, it } from 'vitest'
import { inNamespace, noBlockDevices } from '../../helpers/namespace.ts'

const WORKER = new URL('./csi-codes.worker.ts', import.meta.url)

type Attempt = readonly [states: readonly unknown[], there: readonly unknown[]]

interface Ends {
  /** The three that fail: twice where the fault strikes always, once where it strikes once more. */
  readonly failing: readonly [Attempt, Attempt, Attempt]
  readonly next: Attempt
}

const STAGED = ['staged', 'stage file']
const ALL = [...STAGED, 'published', 'publish file']

const same = (attempt: Attempt): Ends['failing'] => [attempt, attempt, attempt]

/** After a final failure without a mount, nothing that it was made for is left (C49, C54). */
function settingUp(rpc: string, kind: string, code: string): Ends {
  const isFinal = code === 'INTERNAL'
  const failed = [isFinal ? 'failed DriverFailed' : 'failed DriverNotRegistered']
  if (rpc === 'NodeStageVolume') {
    const left = kind === 'fail-after' ? STAGED : isFinal ? [] : ['stage file']
    return { failing: same([failed, left]), next: [['done'], ALL] }
  }
  if (kind === 'fail') {
    return { failing: same([failed, isFinal ? STAGED : [...STAGED, 'publish file']]), next: [['done'], ALL] }
  }
  // What is published in full needs nothing more.
  const there: Attempt = [[], ALL]
  return { failing: [[failed, ALL], there, there], next: there }
}

const NAMES: Readonly<Record<string, string>> = { NOT_FOUND: 'VolumeNotFound' }

/** Nothing is removed after any error (C76, C80), and nothing that comes after it is done (S16, S21). */
function takingDown(rpc: string, kind: string, code: string): Ends {
  const name = NAMES[code] ?? 'DriverFailed'
  if (rpc === 'NodeUnpublishVolume') {
    const left = kind === 'fail-after' ? [...STAGED, 'publish file'] : ALL
    const skipped = `skipped ${name}`
    return {
      failing: same([[`failed ${name}`, skipped, skipped, skipped], left]),
      next: [['done', 'done', 'done', 'done'], []],
    }
  }
  const left = kind === 'fail-after' ? ['stage file'] : STAGED
  const device = [`failed ${name}`, `skipped ${name}`]
  const again: Attempt = [device, left]
  return { failing: [[['done', ...device, 'done'], left], again, again], next: [['done', 'done'], []] }
}

/** The claim has the error, and says whether another try makes sense (C101, C102). */
function expanding(_rpc: string, kind: string, code: string): Ends {
  const says = code === 'OUT_OF_RANGE' ? 'NodeResizeInfeasible' : 'NodeResizeInProgress'
  const left = [false, says, 'NodeResizeError', kind === 'fail-after']
  return { failing: same([['failed DriverFailed'], left]), next: [['done'], [true, 'none', true]] }
}

describe.skipIf(noBlockDevices !== undefined)(
  `gRPC codes of a CSI driver${noBlockDevices === undefined ? '' : ` (${noBlockDevices})`}`,
  () => {
    it.each([
      // Final, and uncertain (C3).
      { rpc: 'NodeStageVolume', codes: ['INTERNAL', 'UNAVAILABLE'], ends: settingUp },
      { rpc: 'NodePublishVolume', codes: ['INTERNAL', 'UNAVAILABLE'], ends: settingUp },
      // One that some would take for success; one after which the call may still be at work.
      { rpc: 'NodeUnpublishVolume', codes: ['NOT_FOUND', 'CANCELLED'], ends: takingDown },
      { rpc: 'NodeUnstageVolume', codes: ['NOT_FOUND', 'CANCELLED'], ends: takingDown },
      // Infeasible, and uncertain, which is no less an error here.
      { rpc: 'NodeExpandVolume', codes: ['OUT_OF_RANGE', 'RESOURCE_EXHAUSTED'], ends: expanding },
    ])(
      '$rpc, always and once: what is left is what the rules say, and the next apply ends it',
      async ({ rpc, codes, ends }) => {
        const faults = ['fail', 'fail-after'].flatMap((kind) => codes.map((code) => [kind, code] as const))
        const { seen, violations } = await inNamespace<{ seen: object; violations: unknown }>(WORKER, 'codes', false, [
          rpc,
          ...faults.map(([kind, code]) => `${kind} ${rpc}=${code}`),
        ])
        const want = faults.map(([kind, code]) => [`${kind} ${rpc}=${code}`, { ...ends(rpc, kind, code), planned: 0 }])
        expect(seen).toEqual(Object.fromEntries(want))
        expect(violations).toEqual([])
      },
    )

    it('ABORTED: the call is waited for, nothing is cleaned up after it, and it is made again (C119)', async () => {
      expect(await inNamespace(WORKER, 'pending')).toEqual({
        always: [
          [
            'ExpandVolume failed OperationPending',
            'UnmountDevice failed OperationPending',
            // Of the volume that is not unpublished yet.
            'UnmountDevice skipped OperationPending',
            'UnmountVolume failed OperationPending',
          ],
          ALL,
          STAGED,
          [false, 'NodeResizeInProgress', 'NodeResizeError', false],
        ],
        once: [
          ['ExpandVolume done', 'UnmountDevice done', 'UnmountDevice done', 'UnmountVolume done'],
          ...[[], [], [true, 'none', true]],
        ],
        planned: 0,
        mapped: 6,
        violations: [],
      })
    })
  },
)
