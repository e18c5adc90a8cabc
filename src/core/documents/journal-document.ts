/** What `volctl journal` prints, as others are told. */
import { BEGIN, INTENT, OUTCOME } from '../journal/journal-entry.ts'
import type {
  DamagedLine,
  PastApplies,
  PastApply,
  PastOperation,
  PastState,
  PastStop,
} from '../journal/past-applies.ts'
import { about, named } from '../json/json-schema.ts'
import { count, flag, integer, list, object, oneOf, optional, text } from '../json/shape.ts'
import { STABLE } from './stable.ts'

export interface JournalDocument extends PastApplies {
  readonly apiVersion: 'volctl.io/v1'
  readonly kind: 'Journal'
}

const time = text

const pastOperation = object<PastOperation>({
  id: text,
  kind: INTENT.kind,
  reason: INTENT.reason,
  pod: INTENT.pod,
  volume: optional(about('The spec name.', text)),
  steps: optional(INTENT.steps),
  begunAt: optional(about('RFC 3339: when it was written down; absent: it never began.', time)),
  why: optional(about('Why it was planned.', text)),
  state: about(
    'unfinished: it was begun, and the apply died, or is at work.',
    oneOf<PastState>('done', 'failed', 'blocked', 'refused', 'skipped', 'interrupted', 'unfinished'),
  ),
  code: OUTCOME.code,
  message: optional(about('How it ended.', text)),
  hint: OUTCOME.hint,
  elapsedMs: optional(about('Milliseconds.', OUTCOME.elapsedMs)),
  deleted: OUTCOME.deleted,
  stateFiles: optional(
    about(
      'State files that it removed, with what was in them.',
      list(object<NonNullable<PastOperation['stateFiles']>[number]>({ path: text, content: text })),
    ),
  ),
  lazy: optional(about('What it detached lazily.', list(text))),
})

const pastApply = object<PastApply>({
  begunAt: about('RFC 3339.', time),
  ...BEGIN,
  endedAt: optional(about('RFC 3339; absent: it was killed, or is at work.', time)),
  exit: optional(about('The exit status.', integer)),
  interrupted: optional(flag),
  kubelet: optional(
    about(
      'How the kubelet was stopped for it (--stop-kubelet).',
      object<PastStop>({
        unit: text,
        stoppedAt: about('RFC 3339: just before the stop.', time),
        startedAt: optional(about('RFC 3339; absent: the apply was killed, or is at work. systemd starts it.', time)),
        downMs: optional(about('Milliseconds.', count)),
        runs: optional(flag),
      }),
    ),
  ),
  operations: list(named('operation', pastOperation)),
})

const damaged = object<DamagedLine>({ file: text, line: about('From 1.', count), why: text })

export const journalDocument = about(
  `Past applies of a node, oldest first: \`volctl journal -o json\`. ${STABLE}`,
  object<JournalDocument>({
    apiVersion: oneOf<'volctl.io/v1'>('volctl.io/v1'),
    kind: oneOf<'Journal'>('Journal'),
    applies: list(named('apply', pastApply)),
    damaged: about('Lines that cannot be read.', list(named('damagedLine', damaged))),
  }),
)
