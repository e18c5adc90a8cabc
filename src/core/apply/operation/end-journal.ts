import { errorMessage } from '../../errors/errors.ts'
import type { Journal } from '../../journal/write-journal.ts'
import { type ApplyEvent, type ApplyResult, note } from '../../plan/events.ts'

/** Writes the last entry of an apply. A failure is only told: everything has been done by then. */
export function endJournal(
  journal: Journal,
  { exit, interrupted }: Pick<ApplyResult, 'exit' | 'interrupted'>,
  onEvent: (event: ApplyEvent) => void,
): void {
  try {
    journal.write({ type: 'end', exit, interrupted })
  } catch (error) {
    onEvent(note(errorMessage(error), { code: 'JournalFailed' }))
  }
}
