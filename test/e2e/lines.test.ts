/** From log lines to their causes on a node whose mounts, driver, runtime and API server are real. */
import { beforeAll, describe, expect, it } from 'vitest'
import { noMounts } from '../helpers/namespace.ts'
import { runScenario } from './run-scenario.ts'
import type { LinesReport } from './scenarios/lines.ts'

describe.skipIf(noMounts !== undefined)(`lines of a log${noMounts === undefined ? '' : `: ${noMounts}`}`, () => {
  let report: LinesReport
  beforeAll(async () => {
    report = await runScenario('lines')
  })

  it('each is known, and resolved to what is really there', () => {
    const { log, pods, driver } = report
    const found = Object.fromEntries(
      log.troubles.map(({ sentence, main }) => [
        `${sentence?.name} ${main?.ask ?? 'nothing'}`,
        `${main?.verdict?.state ?? ''} ${main?.verdict?.code ?? ''}`.trim(),
      ]),
    )
    expect(found).toEqual({
      [`OrphanedPodVolumes pod/${pods.db}`]: 'operation PodGone',
      [`OrphanedPodSubPaths pod/${pods.batch}`]: 'operation LeakedSubPath',
      [`TargetBusy volume/${pods.db}/pv-common`]: 'operation PodGone',
      'DetachStuck pv/pv-idle': 'operation NotWanted',
      'DriverInternalError pv/pv-old': 'operation StagedWithoutPod',
      'ContainersNotExited pod/shop/ends-0': 'waiting PodStillRunning',
      'VolumesNotReady pod/shop/waits-0': 'waiting ClaimUnbound',
      'DriverStillAtWork volume/vol-old': 'operation StagedWithoutPod',
      [`MultiAttachError volume/kubernetes.io/csi/${driver}^vol-common`]: 'operation PodGone',
      [`DriverNotInList driver/${driver}`]: 'operation PodGone',
      'OrphanedPodFile nothing': '',
    })
    expect(log.harmless.map(({ name, count }) => [name, count])).toEqual([
      ['RemountRequested', 1],
      ['NotInPodInformer', 1],
    ])
    expect(log.lines).toEqual({ total: 13, read: 13, explained: 11 })
  })

  it('a UID that exists nowhere says so', () => {
    const [gone] = report.log.troubles.filter(({ sentence }) => sentence?.name === 'OrphanedPodFile')
    expect(gone?.names).toMatchObject([{ found: false, says: expect.stringContaining('was removed meanwhile') }])
  })

  it('another node is named', () => {
    const [other] = report.log.troubles.filter(({ sentence }) => sentence?.name === 'MultiAttachError')
    expect(other?.otherNode).toMatchObject({ name: 'worker-2' })
  })

  it('who keeps a target busy', () => {
    const { busy, pid, screen } = report
    expect(busy.explanation).toMatchObject({
      holders: { processes: [{ pid, command: 'sh', holds: [{ what: 'cwd' }] }] },
    })
    expect(screen).toContain(`Held open by sh (pid ${pid}).`)
  })

  it('ten pastes of several rows', () => {
    expect(report.pastes.map(({ known }) => known)).toEqual([
      ['TargetBusy'],
      ['NfsTimedOut'],
      ['WrongFileSystem'],
      ['ContentNotFound'],
      ['TooManyVolumes', 'PodNews'],
      ['DriverInternalError'],
      ['FileSystemErrors', 'JournalAborted'],
      ['AccessDenied over', 'VolumeDone'],
      ['OrphanedPodVolumes', 'MultiAttachError'],
      ['DriverTooSlow'],
    ])
    expect(report.pastes.map(({ status }) => status)).toEqual(report.pastes.map(() => 0))
  })

  it('ten lines in which nothing is wrong', () => {
    expect(report.harmless.map(({ status, known }) => [status, ...known])).toEqual([
      [0, 'VolumeDone'],
      [0, 'WaitsForConsumer'],
      [0, 'VolumeBegun'],
      [0, 'FileSystemNews'],
      [0, 'FsckBegun'],
      [0, 'AttacherAtWork'],
      [0, 'Expanding'],
      [0, 'Informational'],
      [0, 'RegisteredWithKubelet'],
      [0, 'ObjectChanged'],
    ])
  })
})
