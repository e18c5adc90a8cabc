import { Flags } from '@oclif/core'
import { DEFAULT_JOURNAL_DIR } from '../core/apply/lazy-memory.ts'
import { journalDirectory, journalFlag } from '../core/cli/journal-flag.ts'
import { parseCount } from '../core/cli/plan-flags.ts'
import type { PastApplies } from '../core/journal/past-applies.ts'
import { readJournal } from '../core/journal/read-journal.ts'
import { readTestHost } from '../core/node/test-host.ts'
import { renderJournal } from '../core/views/journal-view.ts'
import { type OutputFormat, outputFlag, VolctlCommand } from '../core/volctl-command.ts'

const DEFAULT_LAST = '20'

export default class Journal extends VolctlCommand {
  static override summary = 'Print past applies on this node, operation by operation. Changes nothing.'
  static override description =
    'Reads the journal that apply writes: who carried out which plan and when, which guards were lifted, and of every ' +
    'operation why it was planned, its steps, how it ended, and what was in the state files that it removed. The newest ' +
    'apply comes last. An operation that was begun and has no end on record was cut short by a crash or a kill: volctl ' +
    'plan shows what is left of it. The journal is for root alone.'
  static override usage = 'journal [FLAGS]'
  static override examples = [
    { description: 'What the last apply did:', command: '<%= config.bin %> journal --last 1' },
    {
      description: 'All that is on record of one operation, its steps and state files too:',
      command: '<%= config.bin %> journal --operation 9d2c01f3a4b5 -o wide',
    },
    { description: 'For scripts:', command: '<%= config.bin %> journal -o json' },
  ]
  static override flags = {
    output: outputFlag(),
    journal: journalFlag('Directory to read the journal from.'),
    last: Flags.string({ helpValue: 'N', summary: `The last N applies (default ${DEFAULT_LAST}); 0: all of them.` }),
    plan: Flags.string({ helpValue: 'ID', summary: 'Only applies of this plan: its id, or the beginning of it.' }),
    operation: Flags.string({
      helpValue: 'ID',
      summary: 'Only this operation, in every apply: its id, or the beginning of it.',
    }),
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(Journal)
    const directory = journalDirectory(flags.journal) ?? readTestHost()?.journalDir ?? DEFAULT_JOURNAL_DIR
    const last = parseCount(flags.last ?? DEFAULT_LAST, '--last', 0)
    const found = readJournal(directory)
    this.detail(`${directory}: ${found.applies.length} applies`)
    const chosen: PastApplies = { ...found, applies: choose(found, flags.plan, flags.operation).slice(-last) }
    await this.answer(
      { apiVersion: 'volctl.io/v1', kind: 'Journal', ...chosen },
      flags.output as OutputFormat,
      (wide, paint) => renderJournal(chosen, wide, paint),
    )
  }
}

function choose({ applies }: PastApplies, plan = '', operation = ''): PastApplies['applies'] {
  return applies
    .filter((apply) => (apply.plan ?? '').startsWith(plan))
    .map((apply) => ({ ...apply, operations: apply.operations.filter(({ id }) => id.startsWith(operation)) }))
    .filter(({ operations }) => operation === '' || operations.length > 0)
}
