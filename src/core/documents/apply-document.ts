/** What an apply says, as others read it. */
import { about } from '../json/json-schema.ts'
import { flag, list, object, oneOf, optional, text } from '../json/shape.ts'
import { downtime, exit, outcomes, plan, refused } from '../plan/apply-shape.ts'
import type { ApplyDocument } from '../plan/events.ts'
import { operation, path } from '../plan/operation-shape.ts'
import { problems, waiting } from '../plan/whole-plan.ts'
import { STABLE } from './stable.ts'

export const applyDocument = about(
  `What became of an apply: \`volctl apply -o json\`. ${STABLE}`,
  object<ApplyDocument>({
    apiVersion: oneOf<'volctl.io/v1'>('volctl.io/v1'),
    kind: oneOf<'ApplyResult'>('ApplyResult'),
    node: text,
    rootDir: path,
    volctlVersion: text,
    plan,
    exit: about('The exit status.', exit),
    interrupted: flag,
    refused: optional(refused),
    downtime: optional(downtime),
    outcomes,
    left: optional(about('What a new plan would still do; absent: nobody looked.', list(operation))),
    waiting: optional(waiting),
    problems: optional(problems),
  }),
)
