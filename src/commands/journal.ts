import { Flags } from '@oclif/core'
import { journalDirectory, journalFlag } from '../core/cli/journal-flag.ts'
import { requireNodeHere } from '../core/cli/live-node.ts'
import { parseCount } from '../core/cli/plan-flags.ts'
import { outputFlag, pagerFlag, VolctlCommand } from '../core/cli/volctl-command.ts'
import { places } from '../core/node/places.ts'
import { DEFAULT_JOURNAL_DIR } from '../core/plan/documents/lazy-memory.ts'
import { readJournal } from '../core/plan/documents/read-journal.ts'
import { renderJournal } from '../core/views/journal-view.ts'

const DEFAULT_LAST = '20'

export default class Journal extends VolctlCommand {
  static override summary = 'Print past applies on this node, operation by operation. Changes nothing.'
  static override description =
    'Reads the journal that apply writes: who carried out which plan and when, and how each operation ended; the newest apply ' +
    'comes last. -o json also has the overrides that were given, why each operation was planned, its steps, and the state files ' +
    'that it removed. An operation without an end was cut short: volctl plan shows what is left to do.'
  static override usage = 'journal [FLAGS]'
  static override examples = [
    { description: 'What the last apply did:', command: '<%= config.bin %> journal --last 1' },
    { description: 'All about one apply:', command: '<%= config.bin %> journal --plan 9d2c01f3a4b5 -o json' },
  ]
  static override flags = {
    output: outputFlag(['table', 'json']),
    ...pagerFlag,
    journal: journalFlag('Directory to read the journal from.'),
    last: Flags.string({ helpValue: 'N', summary: `The last N applies (default ${DEFAULT_LAST}); 0 for all.` }),
    plan: Flags.string({ helpValue: 'ID', summary: 'Only applies of this plan: its ID, or the beginning of the ID.' }),
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(Journal)
    if (flags.journal === undefined) await requireNodeHere({})
    const directory = journalDirectory(flags.journal) ?? places()?.journalDir ?? DEFAULT_JOURNAL_DIR
    const told = readJournal(directory, parseCount(flags.last ?? DEFAULT_LAST, '--last', 0), flags.plan)
    const document = { apiVersion: 'volctl.io/v1', kind: 'Journal', ...told }
    await this.answer(document, flags.output, ({ paint }) => renderJournal(told, paint))
  }
}
