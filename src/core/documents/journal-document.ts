/** What `volctl journal` prints, as others read it. */
import { PAST_APPLIES } from '../journal/past-applies.ts'
import { about } from '../json/json-schema.ts'
import { type ObjectOf, object, oneOf } from '../json/shape.ts'
import { STABLE } from './stable.ts'

const DOCUMENT = {
  apiVersion: oneOf<'volctl.io/v1'>('volctl.io/v1'),
  kind: oneOf<'Journal'>('Journal'),
  ...PAST_APPLIES,
}

export interface JournalDocument extends ObjectOf<typeof DOCUMENT> {}

export const journalDocument = about(
  `Past applies of a node, oldest first: \`volctl journal -o json\`. ${STABLE}`,
  object(DOCUMENT),
)
