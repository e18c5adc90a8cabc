/** The status of a cluster as data: each volume on each node, with the verdict of the plan. */
import { codesIn } from '../codes/codes.ts'
import { about, named } from '../json/json-schema.ts'
import { flag, list, object, oneOf, optional, recordOf, type ShapeOf, text } from '../json/shape.ts'
import { causes } from './cause.ts'
import { cluster, clusterVolume, controller } from './cluster-plan.ts'
import { codeOf, count, pod } from './operation-shape.ts'
import { refused } from './plan-shape.ts'
import { CLUSTER_VERDICTS } from './verdict-states.ts'

const state = named('verdictState', oneOf(...CLUSTER_VERDICTS))
const codes = [
  ...new Set([...codesIn('reason'), ...codesIn('blocked'), ...codesIn('waiting'), ...codesIn('problem')]),
] as const

const verdict = object({
  state,
  code: optional(about('Of the problem, obstacle or wait; of an operation its reason.', codeOf(codes))),
  message: text,
  hint: optional(text),
  rule: optional(text),
})

export interface ClusterVerdict extends ShapeOf<typeof verdict> {}

const row = object({
  node: text,
  volume: clusterVolume,
  /** notWanted: no pod of the node is known to have it. */
  desired: about(
    'wanted: to be attached for `pods`. held: `pods` have it, and are no reason to attach it. ended: of pods that have ended.',
    oneOf('wanted', 'held', 'ended', 'notWanted'),
  ),
  pods: list(pod),
  attachments: about(
    'VolumeAttachments: normally one at most.',
    list(object({ name: text, attached: flag, deleting: flag })),
  ),
  /** R714 */
  confirmed: about('volumesAttached of the Node lists it.', flag),
  /** R716 */
  inUse: about('volumesInUse of the Node lists it.', flag),
  verdict: named<ClusterVerdict>('verdict', verdict),
  operations: about('Ids in the plan.', list(text)),
  causes: about('Keys of `causes`, the worst first.', list(text)),
})

/** A volume on a node: wanted there, attached, or reported by the Node. */
export interface ClusterStatusRow extends ShapeOf<typeof row> {}

export const clusterStatusShape = object({
  apiVersion: oneOf('volctl.io/v1'),
  kind: oneOf('Status'),
  scope: oneOf('cluster'),
  cluster,
  createdAt: about('RFC 3339: when the reading of the cluster began.', text),
  volctlVersion: text,
  controller,
  rows: about('The worst first.', list<ClusterStatusRow>(named('row', row))),
  summary: object({
    volumes: count,
    verdicts: about('Rows by the state of their verdict.', recordOf(state, count)),
    filtered: about('Rows left out by names of nodes, pods, namespaces and volumes.', count),
    problems: about('Everything that the plan reports, of these volumes or of others.', count),
  }),
  causes,
  complete: about('false: something that may matter could not be known.', flag),
  refused: optional(refused),
})

export interface ClusterStatus extends ShapeOf<typeof clusterStatusShape> {}
