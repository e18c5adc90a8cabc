/**
 * Calls that fail with every code, before their work is done or after it: the state that they leave is the same however
 * often they fail, and the first apply that meets no fault any more comes to the end.
 */
import { describe, expect, it } from 'vitest'
import { OUTCOMES } from '../../apply/grpc-outcomes.ts'
import { inSameNamespace } from '../../helpers/in-namespace.ts'
import { noBlockDevices } from '../../helpers/namespace.ts'

const WORKER = new URL('./csi-codes.worker.ts', import.meta.url)

type Attempt = readonly [states: readonly unknown[], there: readonly unknown[]]

interface Ends {
  /** The three that fail: twice where the fault strikes always, once where it strikes once more. */
  readonly failing: readonly [Attempt, Attempt, Attempt]
  readonly next: Attempt
}

const STAGED = ['staged', 'stage file']
const ALL = [...STAGED, 'published', 'publish file']

const outcomes = new Map(OUTCOMES.map(({ code, ...outcome }) => [code as string, outcome]))
const stateOf = (code: string): string => outcomes.get(code)?.state ?? ''
/** What is left undone because of it. */
const skippedBy = (code: string): string => stateOf(code).replace('failed', 'skipped')

const same = (attempt: Attempt): Ends['failing'] => [attempt, attempt, attempt]

/** After a final failure without a mount, nothing that it was made for is left (C49, C54). */
function settingUp(rpc: string, kind: string, code: string): Ends {
  const isFinal = outcomes.get(code)?.isFinal
  const failed = [stateOf(code)]
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

/** Nothing is removed after any error (C76, C80), and nothing that comes after it is done (S16, S21). */
function takingDown(rpc: string, kind: string, code: string): Ends {
  const [failed, skipped] = [stateOf(code), skippedBy(code)]
  if (rpc === 'NodeUnpublishVolume') {
    const left = kind === 'fail-after' ? [...STAGED, 'publish file'] : ALL
    return {
      failing: same([[failed, skipped, skipped, skipped], left]),
      next: [['done', 'done', 'done', 'done'], []],
    }
  }
  const left = kind === 'fail-after' ? ['stage file'] : STAGED
  const device = [failed, skipped]
  const again: Attempt = [device, left]
  return { failing: [[['done', ...device, 'done'], left], again, again], next: [['done', 'done'], []] }
}

const INFEASIBLE = ['INVALID_ARGUMENT', 'NOT_FOUND', 'OUT_OF_RANGE']

/** The claim has the error, and says whether another try makes sense (C101, C102). */
function expanding(_rpc: string, kind: string, code: string): Ends {
  const says = INFEASIBLE.includes(code) ? 'NodeResizeInfeasible' : 'NodeResizeInProgress'
  const left = [false, says, 'NodeResizeError', kind === 'fail-after']
  return { failing: same([[stateOf(code)], left]), next: [['done'], [true, 'none', true]] }
}

describe.skipIf(noBlockDevices !== undefined)(
  `gRPC codes of a CSI driver${noBlockDevices === undefined ? '' : ` (${noBlockDevices})`}`,
  () => {
    it.each([
      { rpc: 'NodeStageVolume', ends: settingUp },
      { rpc: 'NodePublishVolume', ends: settingUp },
      { rpc: 'NodeUnpublishVolume', ends: takingDown },
      { rpc: 'NodeUnstageVolume', ends: takingDown },
      { rpc: 'NodeExpandVolume', ends: expanding },
    ])(
      '$rpc, every code, always and once: what is left is what the rules say, and the next apply ends it',
      async ({ rpc, ends }) => {
        const faults = ['fail', 'fail-after'].flatMap((kind) =>
          [...outcomes.keys()].map((code) => [kind, code] as const),
        )
        const { seen, violations } = await inSameNamespace<{ seen: object; violations: unknown }>(WORKER, 'codes', [
          rpc,
          ...faults.map(([kind, code]) => `${kind} ${rpc}=${code}`),
        ])
        const want = faults.map(([kind, code]) => [`${kind} ${rpc}=${code}`, { ...ends(rpc, kind, code), planned: 0 }])
        expect(seen).toEqual(Object.fromEntries(want))
        expect(violations).toEqual([])
      },
    )

    it('ABORTED: the call is waited for, nothing is cleaned up after it, and it is made again (C119)', async () => {
      expect(await inSameNamespace(WORKER, 'pending')).toEqual({
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
