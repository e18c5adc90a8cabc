import { readJournal } from '../core/apply/journal/read-journal.ts'
import { DEFAULTS, journalFlags } from '../core/cli/flags.ts'
import { requireNodeHere } from '../core/cli/live-node.ts'
import { journalDirectory, nodeChoice, parseCount } from '../core/cli/options.ts'
import { examples, VolctlCommand } from '../core/cli/volctl-command.ts'
import { places } from '../core/node/places.ts'
import { DEFAULT_JOURNAL_DIR } from '../core/node/read-lazily-detached.ts'
import { renderJournal } from '../core/views/journal-view.ts'

export default class Journal extends VolctlCommand {
  static override summary = 'Print past applies on this node, operation by operation. Changes nothing.'
  static override description =
    'Reads the journal that apply writes: who carried out which plan and when, and how each operation ended; the newest apply ' +
    'comes last. -o json also has the overrides that were given, why each operation was planned, its steps, and the state files ' +
    'that it removed. An operation without an end was cut short: volctl plan shows what is left to do.'
  static override usage = 'journal [FLAGS]'
  static override examples = examples({
    'What the last apply did:': '$ journal --last 1',
    'All about one apply:': '$ journal --plan 9d2c01f3a4b5 -o json',
  })
  static override flags = journalFlags

  async run(): Promise<void> {
    const { flags } = await this.parse(Journal)
    if (flags.journal === undefined) await requireNodeHere(nodeChoice({}))
    const directory = journalDirectory(flags.journal) ?? places()?.journalDir ?? DEFAULT_JOURNAL_DIR
    const past = readJournal(directory, parseCount(flags.last ?? DEFAULTS.last, '--last', 0), flags.plan)
    const document = { apiVersion: 'volctl.io/v1', kind: 'Journal', ...past }
    await this.answer(document, flags.output, ({ paint }) => renderJournal(past, paint))
  }
}
