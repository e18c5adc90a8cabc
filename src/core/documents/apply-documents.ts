/** What an apply says, as others read it. */
import { about, named } from '../json/json-schema.ts'
import { anything, either, flag, list, object, oneOf, optional, type Shape, text } from '../json/shape.ts'
import { downtime, event, exit, outcomes, plan, refused, resultEvent } from '../plan/apply-shape.ts'
import type { ApplyDocument, ClusterApplyDocument } from '../plan/events.ts'
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

/** Of a plan of the cluster. */
const clusterPart = <T>(text: string) => about(text, list(anything)) as unknown as Shape<readonly T[]>

export const clusterApplyDocument = about(
  `What became of an apply of a cluster: \`volctl apply --cluster -o json\`. ${STABLE}`,
  object<ClusterApplyDocument>({
    apiVersion: oneOf<'volctl.io/v1'>('volctl.io/v1'),
    kind: oneOf<'ApplyResult'>('ApplyResult'),
    scope: oneOf<'cluster'>('cluster'),
    cluster: about(
      'uid: of the namespace kube-system.',
      object<ClusterApplyDocument['cluster']>({ server: text, uid: optional(text) }),
    ),
    volctlVersion: text,
    plan: about('The id of the plan, as the journal has it, and its digest.', text),
    exit: about('The exit status.', exit),
    interrupted: flag,
    refused: optional(refused),
    outcomes,
    left: optional(clusterPart('What a new plan of the cluster would still do; absent: nobody looked.')),
    waiting: optional(clusterPart('As in a plan of the cluster.')),
    problems: optional(clusterPart('As in a plan of the cluster.')),
  }),
)

export const applyEvent = about(
  `One line of \`volctl apply -o ndjson\`; the last is of type result. ${STABLE}`,
  either(named('event', event), named('result', resultEvent)),
)
