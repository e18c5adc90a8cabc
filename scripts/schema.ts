/** Writes the JSON Schemas; with `--check` only compares, and fails if one is out of date. */
import type { ErrorDocument } from '../src/core/cli/report-error.ts'
import { checkShape } from '../src/core/explain/check/check-node.ts'
import { explanationShape } from '../src/core/explain/explanation.ts'
import { statusShape } from '../src/core/explain/status/status.ts'
import { END, outcomes } from '../src/core/plan/events.ts'
import { operation } from '../src/core/plan/operation-shape.ts'
import { problems, waiting, wholePlan } from '../src/core/plan/plan.ts'
import { about } from '../src/core/trust/json-schema.ts'
import { list, object, oneOf, optional, type Shape, schemaOf, text } from '../src/core/trust/shape.ts'
import { args, path } from '../src/core/volumes/finding.ts'
import { snapshotShape } from '../src/core/volumes/snapshot.ts'
import { keepCurrent } from './made-files.ts'

/** What holds of every document, to end its description with. */
const STABLE =
  'Fields may be added in any version; none is removed or changes its meaning without a word in the change log.'

const applyDocument = about(
  `What became of an apply: \`volctl apply -o json\`. ${STABLE}`,
  object({
    apiVersion: oneOf<'volctl.io/v1'>('volctl.io/v1'),
    kind: oneOf<'ApplyResult'>('ApplyResult'),
    node: text,
    rootDir: path,
    volctlVersion: text,
    ...END,
    outcomes,
    left: optional(about('What a new plan would still do; absent: nobody looked.', list(operation))),
    waiting: optional(waiting),
    problems: optional(problems),
  }),
)

const errorDocument: Shape<ErrorDocument> = about(
  `Why a command failed or refused: one line on standard error with \`-o json\`, \`yaml\` and \`ndjson\`. ${STABLE}`,
  object({
    apiVersion: oneOf<'volctl.io/v1'>('volctl.io/v1'),
    kind: oneOf<'Error'>('Error'),
    code: about('From the catalogue in volctl-codes(7).', text),
    message: text,
    args,
    hint: optional(about('What to do next.', text)),
    rule: optional(about('Of a refusal: the safety rule.', text)),
  } satisfies Record<keyof ErrorDocument, unknown>),
)

/** @param words what it is, and what prints it */
const stable = (words: string, shape: Shape<unknown>): Shape<unknown> => about(`${words} ${STABLE}`, shape)

/** The documents that scripts read, by kind. */
const DOCUMENTS: Readonly<Record<string, Shape<unknown>>> = {
  Plan: wholePlan,
  Status: stable(
    "Every volume of a node as the kubelet's volume manager knows it, with a verdict: `volctl status -o json`.",
    statusShape,
  ),
  ApplyResult: applyDocument,
  NodeSnapshot: snapshotShape,
  Error: errorDocument,
  Explanation: stable('One thing of a node, and why it is as it is: `volctl explain WHAT -o json`.', explanationShape),
  Check: stable('A node as a monitor sees it: `volctl check -o json`.', checkShape),
}

const DRAFT = 'https://json-schema.org/draft/2020-12/schema'

/** Made from the shapes that documents are read or typed with, by file name, so that schemas and code agree. */
export function schemas(): Map<string, string> {
  return new Map(
    Object.entries(DOCUMENTS).map(([title, shape]) => {
      const name = `${title.replaceAll(/(?<=[a-z])[A-Z]/g, '-$&').toLowerCase()}.schema.json`
      const defs = new Map()
      const described = { $schema: DRAFT, $id: `https://volctl.io/v1/${name}`, title, ...schemaOf(shape, defs) }
      return [name, `${JSON.stringify({ ...described, $defs: Object.fromEntries(defs) }, undefined, 2)}\n`]
    }),
  )
}

if (import.meta.main) keepCurrent(new Map([...schemas()].map(([name, text]) => [`schema/${name}`, text])), 'schema')
