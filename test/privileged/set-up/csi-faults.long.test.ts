import { describe, expect, it } from 'vitest'
import { inSameNamespace } from '../../helpers/in-namespace.ts'
import { noBlockDevices } from '../../helpers/namespace.ts'

const WORKER = new URL('./csi-faults.worker.ts', import.meta.url)

const STAGED = ['staged', 'stage file']
const ALL = [...STAGED, 'published', 'publish file']

const MAPPED = ['data file', 'staging', 'published', 'mapped', 'link', 'loop']

const TIMED_OUT = 'failed TimedOut'
const REFUSED = 'failed DriverFailed'

interface Report {
  readonly seen: Readonly<Record<string, { first: string[]; left: string[]; next: string[]; end: string[] }>>
  readonly violations: readonly unknown[]
}

describe.skipIf(noBlockDevices !== undefined)(
  `CSI that goes wrong${noBlockDevices === undefined ? '' : ` (${noBlockDevices})`}`,
  () => {
    it('waits for a call that is pending, and leaves all as it is where it stays so (C119)', async () => {
      const { seen, violations } = await inSameNamespace<Report>(WORKER, 'faults', [
        'Filesystem',
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

    it('keeps the state file of what is staged where the driver mounts nothing for it (C51, C54)', async () => {
      const { seen, violations } = await inSameNamespace<Report>(WORKER, 'faults', [
        'Filesystem --no-stage-mount',
        ...['fail NodePublishVolume=INTERNAL', 'fail NodePublishVolume=UNAVAILABLE', 'fail NodeStageVolume=INTERNAL'],
      ])
      const end = ['stage file', 'published', 'publish file']
      const ending = { next: ['done'], end, operations: [0, 0] }
      expect(seen).toEqual({
        'fail NodePublishVolume=INTERNAL': { first: ['failed DriverFailed'], left: ['stage file'], ...ending },
        'fail NodePublishVolume=UNAVAILABLE': {
          first: ['failed DriverUnavailable'],
          left: ['stage file', 'publish file'],
          ...ending,
        },
        'fail NodeStageVolume=INTERNAL': { first: ['failed DriverFailed'], left: [], ...ending },
      })
      expect(violations).toEqual([])
    })

    it('gives up what hangs, dies or lies, and goes on where it was', async () => {
      const { seen, violations } = await inSameNamespace<Report>(WORKER, 'faults', [
        'Filesystem',
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
        'die-before NodeStageVolume:once': { first: ['failed DriverUnavailable'], left: ['stage file'], ...again },
        'die-after NodeStageVolume:once': { first: ['failed DriverUnavailable'], left: STAGED, ...again },
        'die-before NodePublishVolume:once': {
          first: ['failed DriverUnavailable'],
          left: [...STAGED, 'publish file'],
          ...again,
        },
        'die-after NodePublishVolume:once': { first: ['failed DriverUnavailable'], left: ALL, next: [], ...end },
        'lie NodePublishVolume': { first: ['failed DriverFailed'], left: [...STAGED, 'publish file'], ...again },
        // The driver's own next answer tells: it was never staged.
        'lie NodeStageVolume': { first: ['failed DriverRefused'], left: ['stage file'], ...again },
      })
      expect(violations).toEqual([
        expect.objectContaining({ rpc: 'NodePublishVolume', text: expect.stringContaining('is not staged') }),
      ])
    })

    it('S17, S18: does not believe a driver that binds the volume of another pod, and takes that back', async () => {
      const seen = await inSameNamespace<Record<string, unknown>>(WORKER, 'crossed', ['now'])
      expect(seen).toEqual({
        before: ['done'],
        wrong: {
          went: ['failed OtherVolume'],
          said: expect.stringMatching(
            /has mounted another volume: ext4 mount .*; it was unmounted again; left as it is: the volume staged at [^,]*$/,
          ),
          left: STAGED,
        },
        next: ['done'],
        other: ALL,
        violations: [],
      })
    })

    it('S17: a published mount that is another volume’s is an error, and not as it should be', async () => {
      expect(await inSameNamespace(WORKER, 'crossed', ['published'])).toEqual({
        before: ['done'],
        right: ['done'],
        operations: [],
        problems: ['error OtherVolume'],
      })
    })

    it.each([
      ['Filesystem', ALL, 10],
      ['Block', MAPPED, 16],
    ])(
      '%s: killed before or after any change or call, the next apply comes to the same end',
      async (mode, all, atLeast) => {
        const report = await inSameNamespace<{ kills: number }>(WORKER, 'kills', [mode])
        expect(report).toEqual({ kills: expect.any(Number), ends: [[all, 0, 0]], violations: [] })
        expect(report.kills).toBeGreaterThan(atLeast)
      },
    )

    const unpublish = 'NodeUnpublishVolume'
    const unstage = 'NodeUnstageVolume'
    it.each(['Filesystem', 'Block'])(
      '%s: of a pod that goes after it, exactly what may be there is undone',
      async (mode) => {
        // Before anything of a raw volume is published, nothing on disk says for which pod that was tried (C13).
        const tried = mode === 'Block' ? [unstage] : [unpublish, unstage]
        const both = [unpublish, unstage]
        const again = {
          'ok, again hang NodePublishVolume': [['done', TIMED_OUT], both],
          'ok, again fail NodePublishVolume=INTERNAL': [['done', REFUSED], both],
        } as const
        const stories: Record<string, readonly [went: readonly string[], undone: readonly string[]]> = {
          ok: [['done'], both],
          'hang NodeStageVolume': [[TIMED_OUT], [unstage]],
          'fail NodeStageVolume=INTERNAL': [[REFUSED], []],
          // The first call may still be at work for all that the second one says (C120).
          'hang NodeStageVolume, fail NodeStageVolume=INTERNAL': [[TIMED_OUT, REFUSED], [unstage]],
          'hang NodePublishVolume': [[TIMED_OUT], tried],
          'hang-after NodePublishVolume': [[TIMED_OUT], both],
          'fail NodePublishVolume=INTERNAL': [[REFUSED], [unstage]],
          'hang NodePublishVolume, fail NodePublishVolume=INTERNAL': [[TIMED_OUT, REFUSED], tried],
          'ok, reboot': [['done'], both],
          'ok, reboot, fail NodeStageVolume=INTERNAL': [['done', REFUSED], both],
          'ok, reboot, fail NodePublishVolume=INTERNAL': [['done', REFUSED], both],
          // What is published once more is a file system.
          ...(mode === 'Block' ? {} : again),
        }
        const { seen, violations } = await inSameNamespace<Pick<Report, 'violations'> & { seen: object }>(
          WORKER,
          'gone',
          [mode, ...Object.keys(stories)],
        )
        const want = Object.entries(stories).map(([story, [went, undone]]) => [
          story,
          { went, undone, left: [], operations: 0 },
        ])
        expect(seen).toEqual(Object.fromEntries(want))
        expect(violations).toEqual([])
      },
    )

    it('a raw block volume: what is left is what the rules say, and the next apply ends it (C72, C73)', async () => {
      const { seen, violations } = await inSameNamespace<Report>(WORKER, 'faults', [
        'Block',
        'fail NodeStageVolume=INVALID_ARGUMENT',
        ...['fail NodeStageVolume=INTERNAL', 'fail NodeStageVolume=UNAVAILABLE', 'fail NodePublishVolume=INTERNAL'],
        ...['fail NodePublishVolume=UNAVAILABLE', 'fail-after NodePublishVolume=INTERNAL'],
        ...['die-after NodeStageVolume:once', 'die-after NodePublishVolume:once'],
      ])
      const ending = { next: ['done'], end: MAPPED, operations: [0, 0] }
      const gone = { first: ['failed DriverUnavailable'], ...ending }
      expect(seen).toEqual({
        'fail NodeStageVolume=INVALID_ARGUMENT': { first: ['failed DriverRefused'], left: [], ...ending },
        'fail NodeStageVolume=INTERNAL': { first: ['failed DriverFailed'], left: [], ...ending },
        'fail NodeStageVolume=UNAVAILABLE': { left: ['data file', 'staging'], ...gone },
        'fail NodePublishVolume=INTERNAL': {
          first: ['failed DriverFailed'],
          left: ['data file', 'staging'],
          ...ending,
        },
        'fail NodePublishVolume=UNAVAILABLE': { left: ['data file', 'staging'], ...gone },
        'fail-after NodePublishVolume=INTERNAL': {
          first: ['failed DriverFailed'],
          left: ['data file', 'staging', 'published'],
          ...ending,
        },
        'die-after NodeStageVolume:once': { left: ['data file', 'staging'], ...gone },
        'die-after NodePublishVolume:once': { left: ['data file', 'staging', 'published'], ...gone },
      })
      expect(violations).toEqual([])
    })
  },
)
