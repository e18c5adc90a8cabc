/** The answer of `status --cluster`, as others are told. */
import { codesIn } from '../codes/codes.ts'
import { about, named } from '../json/json-schema.ts'
import { flag, list, object, oneOf, optional, recordOf, text } from '../json/shape.ts'
import { cluster, clusterVolume, controller, FLEET, fleetSays, foundOnNode } from '../plan/cluster-plan-shape.ts'
import {
  CLUSTER_VERDICTS,
  type ClusterStatus,
  type ClusterStatusRow,
  type ClusterVerdict,
  type OnNode,
  type StatusFleet,
} from '../plan/cluster-status.ts'
import { codeOf, count, pod } from '../plan/operation-shape.ts'
import { refused } from '../plan/plan-shape.ts'
import { STABLE } from './stable.ts'

const state = named('verdictState', oneOf(...CLUSTER_VERDICTS))
const codes = [
  ...new Set([...codesIn('reason'), ...codesIn('blocked'), ...codesIn('waiting'), ...codesIn('problem')]),
] as const

const verdict = named(
  'verdict',
  object<ClusterVerdict>({
    state,
    code: optional(about('Of the problem, obstacle or wait; of an operation its reason.', codeOf(codes))),
    message: text,
    hint: optional(text),
    rule: optional(text),
  }),
)

const row = named(
  'row',
  object<ClusterStatusRow>({
    node: text,
    volume: clusterVolume,
    desired: about(
      'wanted: to be attached for `pods`. held: `pods` have it, and are no reason to attach it. ended: of pods that have ended.',
      oneOf('wanted', 'held', 'ended', 'notWanted'),
    ),
    pods: list(pod),
    attachments: about(
      'VolumeAttachments: normally one at most.',
      list(object<ClusterStatusRow['attachments'][number]>({ name: text, attached: flag, deleting: flag })),
    ),
    confirmed: about('volumesAttached of the Node lists it.', flag),
    inUse: about('volumesInUse of the Node lists it.', flag),
    onNode: optional(
      about(
        'With --nodes: what the snapshot of the node shows. free: nothing of it is there, by a look that was whole, fresh and of this boot.',
        object<OnNode>({
          says: fleetSays,
          found: optional(about('Absent: the node has no snapshot.', list(named('found', foundOnNode)))),
        }),
      ),
    ),
    verdict,
  }),
)

export const clusterStatusDocument = about(
  `Each volume on each node, as the attach/detach controller knows it: \`volctl status --cluster -o json\`. ${STABLE}`,
  object<ClusterStatus>({
    apiVersion: oneOf<'volctl.io/v1'>('volctl.io/v1'),
    kind: oneOf<'Status'>('Status'),
    scope: oneOf<'cluster'>('cluster'),
    cluster,
    createdAt: about('RFC 3339: when the reading of the cluster began.', text),
    volctlVersion: text,
    controller,
    rows: about('The worst first.', list(row)),
    summary: object<ClusterStatus['summary']>({
      volumes: count,
      verdicts: about('Rows by the state of their verdict.', recordOf(state, count)),
      filtered: about('Rows left out by names of nodes, pods, namespaces and volumes.', count),
      problems: about('Everything that the plan reports, of these volumes or of others.', count),
    }),
    fleet: optional(
      about(
        'What node snapshots (--nodes) add.',
        object<StatusFleet>({
          ...FLEET,
          says: about('Rows by what the snapshot of their node says.', recordOf(fleetSays, count)),
          disagreements: about('Volumes on nodes where snapshot, API and pods do not agree.', count),
        }),
      ),
    ),
    complete: about('false: something that may matter could not be known.', flag),
    refused: optional(refused),
  }),
)
