/** An error, as others are told. */
import { about } from '../json/json-schema.ts'
import { object, oneOf, optional, text } from '../json/shape.ts'
import { STABLE } from './stable.ts'

/** One line on standard error where `-o` is json, yaml or ndjson. */
export interface ErrorDocument {
  readonly apiVersion: 'volctl.io/v1'
  readonly kind: 'Error'
  readonly code: string
  readonly message: string
  readonly hint?: string
  /** Of a refusal: the safety rule. */
  readonly rule?: string
}

export const errorDocument = about(
  `Why a command failed or refused: one line on standard error with \`-o json\`, \`yaml\` and \`ndjson\`. ${STABLE}`,
  object<ErrorDocument>({
    apiVersion: oneOf<'volctl.io/v1'>('volctl.io/v1'),
    kind: oneOf<'Error'>('Error'),
    code: about('From the catalogue in volctl-codes(7).', text),
    message: text,
    hint: optional(about('What to do next.', text)),
    rule: optional(about('Of a refusal: the safety rule.', text)),
  }),
)
