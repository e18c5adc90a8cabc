import { Flags } from '@oclif/core'
import { journalDirectory, journalFlag } from '../core/cli/journal-flag.ts'
import { requireNodeHere } from '../core/cli/live-node.ts'
import { parseCount } from '../core/cli/plan-flags.ts'
import { NAMED_FORMATS, outputFlag, pagerFlag, VolctlCommand } from '../core/cli/volctl-command.ts'
import type { JournalDocument } from '../core/documents/journal-document.ts'
import { DEFAULT_JOURNAL_DIR } from '../core/journal/lazy-memory.ts'
import { readJournal } from '../core/journal/read-journal.ts'
import { places } from '../core/node/places.ts'
import { renderJournal } from '../core/views/journal-view.ts'
import { namesOfJournal } from '../core/views/names.ts'

const DEFAULT_LAST = '20'

const MIB = 1024 * 1024
/** Of the journal, what is held at once, so that less than 500 MB are used: an apply of 100,000 operations as a table. */
const MAX_KEPT = { table: 200 * MIB, wide: 80 * MIB, json: 160 * MIB, yaml: 20 * MIB, name: 80 * MIB } as const

export default class Journal extends VolctlCommand {
  static override summary = 'Print past applies on this node, operation by operation. Changes nothing.'
  static override description =
    'Reads the journal that apply writes: who carried out which plan and when, which safety overrides were given, and ' +
    'for each operation why it was planned, its steps, how it ended, and the content of the state files it removed. The ' +
    'newest apply comes last. An operation with a beginning but no end in the journal was cut short by a crash or a ' +
    'kill: volctl plan shows what is left to do. Only root can read the journal.'
  static override usage = 'journal [FLAGS]'
  static override examples = [
    { description: 'What the last apply did:', command: '<%= config.bin %> journal --last 1' },
    {
      description: 'Everything recorded about one operation, with its steps and state files:',
      command: '<%= config.bin %> journal --operation 9d2c01f3a4b5 -o wide',
    },
    { description: 'For scripts:', command: '<%= config.bin %> journal -o json' },
    { description: 'The plans that were carried out, oldest first:', command: '<%= config.bin %> journal -o name' },
  ]
  static override flags = {
    output: outputFlag(NAMED_FORMATS),
    ...pagerFlag,
    journal: journalFlag('Directory to read the journal from.'),
    last: Flags.string({ helpValue: 'N', summary: `The last N applies (default ${DEFAULT_LAST}); 0 for all.` }),
    plan: Flags.string({ helpValue: 'ID', summary: 'Only applies of this plan: its ID, or the beginning of the ID.' }),
    operation: Flags.string({
      helpValue: 'ID',
      summary: 'Only this operation, in every apply: its ID, or the beginning of the ID.',
    }),
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(Journal)
    if (flags.journal === undefined) await requireNodeHere({})
    const directory = journalDirectory(flags.journal) ?? places()?.journalDir ?? DEFAULT_JOURNAL_DIR
    const last = parseCount(flags.last ?? DEFAULT_LAST, '--last', 0)
    const { operation = '', output } = flags
    // As -o name prints it.
    const plan = (flags.plan ?? '').replace(/^plan\//, '')
    const chosen = readJournal(directory, { last, plan, operation, maxKept: MAX_KEPT[output as keyof typeof MAX_KEPT] })
    this.detail(`${directory}: ${chosen.applies.length} applies`)
    await this.answer(
      { apiVersion: 'volctl.io/v1', kind: 'Journal', ...chosen } satisfies JournalDocument,
      output,
      ({ wide, paint }) => renderJournal(chosen, wide, paint),
      namesOfJournal(chosen),
    )
  }
}
