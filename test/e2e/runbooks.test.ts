import { beforeAll, describe, expect, it } from 'vitest'
import { docSections } from '../helpers/doc-commands.ts'
import { noMounts } from '../helpers/namespace.ts'
import { runScenario } from './run-scenario.ts'
import type { RunbookRun } from './scenarios/runbooks.ts'

const books = docSections('runbooks.md').filter(({ commands }) => commands.length > 0)

describe.skipIf(noMounts !== undefined)(`docs/runbooks.md${noMounts === undefined ? '' : `: ${noMounts}`}`, () => {
  let report: { readonly runs: readonly RunbookRun[]; readonly states: readonly string[] }
  beforeAll(async () => {
    report = await runScenario('runbooks')
  })

  it('each runbook has a node in its state', () => expect(report.states).toEqual(books.map(({ title }) => title)))

  it.each(books.flatMap(({ title, commands }) => commands.map((command) => [title, command] as const)))(
    '%s: %s',
    (title, command) => {
      const runs = report.runs.filter((each) => each.runbook === title && each.command === command)
      expect(runs).toHaveLength(1)
      for (const { status, stdout, stderr } of runs) expect(status, `${stdout}${stderr}`).toBe(0)
    },
  )
})
