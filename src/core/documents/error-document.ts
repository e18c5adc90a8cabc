/** An error, as others read it. */
import { about } from '../json/json-schema.ts'
import { object, oneOf, optional, type ShapeOf, text } from '../json/shape.ts'
import { STABLE } from './stable.ts'

export const errorDocument = about(
  `Why a command failed or refused: one line on standard error with \`-o json\`, \`yaml\` and \`ndjson\`. ${STABLE}`,
  object({
    apiVersion: oneOf('volctl.io/v1'),
    kind: oneOf('Error'),
    code: about('From the catalogue in volctl-codes(7).', text),
    message: text,
    hint: optional(about('What to do next.', text)),
    rule: optional(about('Of a refusal: the safety rule.', text)),
  }),
)

/** One line on standard error where `-o` is json, yaml or ndjson. */
export interface ErrorDocument extends ShapeOf<typeof errorDocument> {}
