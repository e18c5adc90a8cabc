/** Hands off standard input, and the question asked in earnest (contract, `--yes`, `apply -`). */
import { beforeAll, describe, expect, it } from 'vitest'
import { noMounts } from '../helpers/namespace.ts'
import { runScenario } from './run-scenario.ts'
import type { AskingReport } from './scenarios/asking.ts'

describe.skipIf(noMounts !== undefined)(`who is asked${noMounts === undefined ? '' : `: ${noMounts}`}`, () => {
  let report: AskingReport
  beforeAll(async () => {
    report = await runScenario('asking')
  })

  it.each(['pipedNo', 'pipedYes'] as const)('an answer through a pipe is none: a usage error (%s)', (which) => {
    const { status, stdout } = report[which]
    expect(status).toBe(1)
    expect(stdout).toContain('apply cannot ask for confirmation: standard input is not a terminal')
    expect(stdout).not.toContain('to continue: ')
  })

  it('-o json on a terminal shows the plan before it asks', () => {
    const { status, stdout } = report.json
    expect(status).toBe(1)
    expect(stdout.indexOf('HANDLE FROM')).toBeGreaterThan(-1)
    expect(stdout.indexOf('HANDLE FROM')).toBeLessThan(stdout.indexOf('to continue: '))
    expect(stdout).toContain('NotConfirmed')
  })

  it('at 80x24 the counts and the question stand on the last screen, and no line but a path is wider', () => {
    const { status, stdout } = report.sized
    expect(status).toBe(1)
    const [shown = ''] = stdout.replaceAll('\r', '').split('to continue: ')
    const lines = shown.split('\n')
    expect(lines.slice(-24).join('\n')).toMatch(
      /\d+ operations: \d+ ready.*\nPerform the \d+ operations that are ready\?/s,
    )
    expect(lines.filter((line) => line.length > 80 && !/^\s*\S*\/\S*$/.test(line))).toEqual([])
  })

  it('--yes=false asks', () => {
    expect(report.yesIsFalse.status).toBe(1)
    expect(report.yesIsFalse.stdout).toContain('not confirmed: nothing was changed')
  })

  it('a question that would not be seen is not asked', () => {
    expect(report.unseen.status).toBe(1)
    expect(report.unseen.stdout).toContain('apply cannot ask for confirmation: standard error is not a terminal')
  })

  it('a loop keeps its lines', () => {
    const { status, stdout } = report.loop
    expect(status).toBe(0)
    expect(stdout.split('\n').filter((line) => line.startsWith('read '))).toEqual(['read a', 'read b', 'read c'])
  })

  it('apply - of nothing is refused, and of a file that others could have written (S33)', () => {
    expect(report.empty).toMatchObject({ status: 1, stdout: '' })
    expect(report.empty.stderr).toContain('plan file from standard input: a device, not a plain file')
    expect(report.writable).toMatchObject({ status: 1, stdout: '' })
    expect(report.writable.stderr).toContain('whoever wrote it could override safety checks')
  })

  it('a name that nothing bears stops it before anything is done, unless --ignore-not-found', () => {
    expect(report.unknownPod).toMatchObject({ status: 1, stdout: '' })
    expect(report.unknownPod.stderr).toContain('--pod default/nobody matches no pod on this node')
    expect(report.ignored.status).toBe(0)
  })

  it('none of these changed anything', () => {
    expect(report.before).toBeGreaterThan(10)
    expect(report.after).toBe(report.before)
  })

  it('apply - carries out the plan that comes through a pipe', () => {
    expect(report.fromPipe.status).toBe(0)
    expect(report.left).toBe(0)
  })
})
