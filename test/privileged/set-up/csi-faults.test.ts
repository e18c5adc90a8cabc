import { describe, expect, it } from 'vitest'
import { inNamespace, noBlockDevices } from '../../helpers/namespace.ts'

const WORKER = new URL('./csi-faults.worker.ts', import.meta.url)

/** After these the call is over (C3). */
const FINAL = [
  ...['UNKNOWN', 'INVALID_ARGUMENT', 'NOT_FOUND', 'ALREADY_EXISTS', 'PERMISSION_DENIED', 'FAILED_PRECONDITION'],
  ...['OUT_OF_RANGE', 'UNIMPLEMENTED', 'INTERNAL', 'DATA_LOSS', 'UNAUTHENTICATED'],
]
/** After these it may still be going on. */
const UNCERTAIN = ['CANCELLED', 'DEADLINE_EXCEEDED', 'RESOURCE_EXHAUSTED', 'UNAVAILABLE']

const STAGED = ['staged', 'stage file']
const ALL = [...STAGED, 'published', 'publish file']

/** What is left of a call that failed: after a final failure without a mount, nothing that it was made for (C49, C54). */
function leftBy(kind: string, rpc: string, isFinal: boolean): string[] {
  if (rpc === 'NodeStageVolume') return kind === 'fail-after' ? STAGED : isFinal ? [] : ['stage file']
  return kind === 'fail-after' ? ALL : isFinal ? STAGED : [...STAGED, 'publish file']
}

interface Report {
  readonly seen: Readonly<Record<string, { first: string[]; left: string[]; next: string[]; end: string[] }>>
  readonly violations: readonly unknown[]
}

describe.skipIf(noBlockDevices !== undefined)(
  `CSI that goes wrong${noBlockDevices === undefined ? '' : ` (${noBlockDevices})`}`,
  { timeout: 180_000 },
  () => {
    it.each([
      ['fail', 'NodeStageVolume'],
      ['fail', 'NodePublishVolume'],
      ['fail-after', 'NodeStageVolume'],
      ['fail-after', 'NodePublishVolume'],
    ])('%s %s with every code: what is left is what the rules say, and the next apply ends it', async (kind, rpc) => {
      const codes = [...FINAL, ...UNCERTAIN]
      const faults = codes.map((code) => `${kind} ${rpc}=${code}`)
      const { seen, violations } = await inNamespace<Report>(WORKER, 'codes', false, faults)
      const want = codes.map((code) => [
        `${kind} ${rpc}=${code}`,
        {
          first: [expect.stringMatching(/^failed [A-Z]\w+$/)],
          left: leftBy(kind, rpc, FINAL.includes(code)),
          // What is published in full needs nothing more.
          next: kind === 'fail-after' && rpc === 'NodePublishVolume' ? [] : ['done'],
          end: ALL,
          operations: [0, 0],
        },
      ])
      expect(seen).toEqual(Object.fromEntries(want))
      expect(violations).toEqual([])
    })

    it('waits for a call that is pending, and leaves all as it is where it stays so (C119)', async () => {
      const { seen, violations } = await inNamespace<Report>(WORKER, 'codes', false, [
        'fail NodeStageVolume=ABORTED:once',
        'fail NodePublishVolume=ABORTED:2',
        'fail NodePublishVolume=ABORTED',
      ])
      expect(seen).toMatchObject({
        'fail NodeStageVolume=ABORTED:once': { first: ['done'], left: ALL, next: [] },
        'fail NodePublishVolume=ABORTED:2': { first: ['done'], left: ALL, next: [] },
        'fail NodePublishVolume=ABORTED': {
          first: ['failed OperationPending'],
          left: [...STAGED, 'publish file'],
          next: ['done'],
        },
      })
      expect(violations).toEqual([])
    })

    it('gives up what hangs, dies or lies, and goes on where it was', async () => {
      const { seen, violations } = await inNamespace<Report>(WORKER, 'hangs', false, [
        ...[
          'hang NodeStageVolume',
          'hang-after NodeStageVolume',
          'hang NodePublishVolume',
          'hang-after NodePublishVolume',
        ],
        ...['die-before NodeStageVolume:once', 'die-after NodeStageVolume:once', 'die-before NodePublishVolume:once'],
        ...['die-after NodePublishVolume:once', 'lie NodePublishVolume', 'lie NodeStageVolume'],
      ])
      const end = { end: ALL, operations: [0, 0] }
      const again = { next: ['done'], ...end }
      expect(seen).toEqual({
        'hang NodeStageVolume': { first: ['failed TimedOut'], left: ['stage file'], ...again },
        'hang-after NodeStageVolume': { first: ['failed TimedOut'], left: STAGED, ...again },
        'hang NodePublishVolume': { first: ['failed TimedOut'], left: [...STAGED, 'publish file'], ...again },
        'hang-after NodePublishVolume': { first: ['failed TimedOut'], left: ALL, next: [], ...end },
        'die-before NodeStageVolume:once': { first: ['failed DriverNotRegistered'], left: ['stage file'], ...again },
        'die-after NodeStageVolume:once': { first: ['failed DriverNotRegistered'], left: STAGED, ...again },
        'die-before NodePublishVolume:once': {
          first: ['failed DriverNotRegistered'],
          left: [...STAGED, 'publish file'],
          ...again,
        },
        'die-after NodePublishVolume:once': { first: ['failed DriverNotRegistered'], left: ALL, next: [], ...end },
        'lie NodePublishVolume': { first: ['failed NothingMounted'], left: [...STAGED, 'publish file'], ...again },
        // The driver's own next answer tells: it was never staged.
        'lie NodeStageVolume': { first: ['failed DriverRefused'], left: ['stage file'], ...again },
      })
      expect(violations).toEqual([
        expect.objectContaining({ rpc: 'NodePublishVolume', text: expect.stringContaining('is not staged') }),
      ])
    })

    it('killed before or after any change or call, the next apply comes to the same end', async () => {
      const report = await inNamespace<{ kills: number; ends: unknown[]; violations: unknown[] }>(WORKER, 'kills')
      expect(report).toEqual({ kills: expect.any(Number), ends: [[ALL, 0, 0]], violations: [] })
      expect(report.kills).toBeGreaterThan(10)
    })
  },
)
