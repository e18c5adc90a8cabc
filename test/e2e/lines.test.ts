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
    const { answers, pods } = report
    expect(
      answers.map(({ main, sentence }) => [
        sentence?.means.slice(0, 20),
        main?.ask,
        `${main?.verdict?.state ?? ''} ${main?.verdict?.code ?? ''}`.trim(),
      ]),
    ).toEqual([
      ['The pod was deleted,', `pod/${pods.db}`, 'operation PodGone'],
      ['The pod was deleted,', `pod/${pods.batch}`, 'operation LeakedSubPath'],
      ['The volume could not', 'pv/pv-idle', 'operation NotWanted'],
      ['The pod was deleted,', undefined, ''],
    ])
  })

  it('of orphaned pods, what is left', () => {
    const [db, batch] = report.answers.map(({ left }) => left)
    expect(db).toContainEqual(expect.stringMatching(/^volume pv-common is mounted/))
    expect(batch).toContainEqual(expect.stringMatching(/^volume pv-batch has \d sub-paths? mounted; /))
  })

  it('a UID that exists nowhere says so', () =>
    expect(report.answers.at(-1)?.names).toMatchObject([
      { found: false, says: expect.stringContaining('was removed meanwhile') },
    ]))

  it('who keeps a target busy', () => {
    const { busy, pid, screen } = report
    expect(busy.explanation).toMatchObject({
      holders: { processes: [{ pid, command: 'sh', holds: [{ what: 'cwd' }] }] },
    })
    expect(screen).toContain(`Held open by sh (pid ${pid}).`)
  })
})
