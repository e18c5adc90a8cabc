/** The attach/detach controller (volume-manager.md 9.7): its pass over all nodes is no part of node scope; what a node takes from its rules is shown. */
import { by, byAll, instead, not, type Table } from './verdict.ts'

const CLUSTER = not(
  'the controller’s own pass over all nodes and its memory: the contract’s --cluster, which this version does not have',
)
const STATUS = not('node.status is written by the controller and the kubelet alone, and volctl never does (R331)')
const IN_USE = by('reconcile/detach', 'a volume in use is never detached, the node is $name')
const NEVER_FORCED = instead('S21, R810: neither time nor a taint lets anything be detached that is in use', IN_USE)
const NOBODY = by('reconcile/safety', 'what no pod wants and nothing uses is detached')
const NOT_ATTACHED = instead(
  'S21: volctl detaches what is attached; what is not, or may not be, is left to the controller, and shown',
  by('reconcile/detach', 'what nobody wants and is not attached, or not any more, is left to it'),
)
const WANTED = by('populator/controller-wanted', 'S21, R706-R709: what the attach/detach controller wants')
const NODE = 'pkg/controller/volume/attachdetach'

export const CONTROLLER: Table = {
  [`${NODE}/reconciler/reconciler_test.go`]: {
    DoNothing: { 'nothing desired': by('reconcile/orphan-volumes', 'no directory') },
    OneDesiredVolumeAttach: { 'one attach': CLUSTER },
    AttachThenDetachWithUnmountedVolume: { 'not desired, not in use: one detach': NOBODY },
    AttachThenDetachWithMountedVolume: {
      'in use: not': byAll(by('reconcile/safety', 'not while a pod that is gone still runs on it'), IN_USE),
      'in use, after the longest wait: detached': NEVER_FORCED,
    },
    AttachThenDetachUpdateStatusFail: { 'status not written: no detach': STATUS },
    MultipleNodesWithReadWriteMany: {
      'on both nodes at once': by('reconcile/mount-waits', 'another node has it, and many may'),
    },
    MultipleNodesWithReadWriteOnce: {
      'the second waits for the first': byAll(
        by('reconcile/mount-waits', 'two other nodes have it, and one may'),
        by(
          'privileged/set-up/csi',
          'asks for nothing where attachment, node or other nodes have changed since the plan (S22, S30)',
        ),
      ),
    },
    UncertainNodes: { 'attached though it failed: detached': NOT_ATTACHED, 'then attached elsewhere': CLUSTER },
    TimeoutNodes: { 'attached though it failed: detached': NOT_ATTACHED, 'then attached elsewhere': CLUSTER },
    UpdateNodeStatusFailBeforeOneVolumeDetach: { 'put back into the report': STATUS },
    OneVolumeDetachFail: {
      'not reported, uncertain': instead(
        'N59, S21: the attacher is waited for as long as --timeout allows, and its words are shown',
        by('apply/detach/detach', 'says whom it waits for, which is no failure'),
      ),
      'wanted again: attached': CLUSTER,
    },
    OutOfServiceTainted: {
      'in use, with the taint: detached': NEVER_FORCED,
      'and nothing comes to it': byAll(
        by('reconcile/mount-waits', 'a node that is out of service'),
        by('apply/conditions/require-reported', 'out of service'),
      ),
    },
    NoOutOfServiceTainted: { 'in use, without the taint: not': IN_USE },
    UnhealthyNode: { 'in use, the node is Ready: not': IN_USE, 'in use, not Ready for long: detached': NEVER_FORCED },
    UnhealthyNodeWithForceDetachOnUnmountDisabled: {
      'in use, not Ready for long: not': IN_USE,
      'then with the taint: detached': NEVER_FORCED,
    },
    ReportMultiAttachError: {
      'without pods: the nodes': byAll(
        by('reconcile/mount-waits', 'two other nodes have it, and one may'),
        by('desired/attached-elsewhere', 'nodes are sorted and named once'),
      ),
      'pods of other nodes, by namespace': instead(
        'S2, R706: volctl lists the pods of its own node alone, and names the other nodes',
        by('reconcile/mount-waits', 'two other nodes have it, and one may'),
      ),
    },
  },
  [`${NODE}/populator/desired_state_of_world_populator_test.go`]: {
    FindAndAddActivePods_FindAndRemoveDeletedPods: {
      'listed: desired': byAll(
        WANTED,
        by('reconcile/safety', 'not while a pod wants it by the controller’s rule, used by a container or not'),
      ),
      'gone or replaced: removed': NOBODY,
    },
    FindAndRemoveNonattachableVolumes: {
      'not attachable any more': by('populator/controller-wanted', 'R012 attachRequired: false'),
    },
  },
  [`${NODE}/attach_detach_controller_test.go`]: {
    StateOfWorldPopulators_Positive: { 'status and pods': byAll(WANTED, NOBODY) },
    Recovery: { 'pods that appear: attached': CLUSTER, 'volumes of nobody: detached': NOBODY },
    ADC_VolumeAttachmentRecovery: {
      'no pod, attached: detached': NOBODY,
      'no pod, not attached: detached': NOT_ATTACHED,
      'a pod, a migrated volume: confirmed': by(
        'reconcile/migrated',
        'is staged and published by the driver',
        'that is as it should be gets no operation',
      ),
      'a deleted pod, a migrated volume': by(
        'reconcile/migrated',
        'whose pod is gone is undone and detached, since the hash confirms whose the attachment is',
      ),
    },
    TestPodDelete_Tombstone: {
      'a delete event with an old state': not('volctl lists pods anew each time, and takes no events'),
    },
  },
  [`${NODE}/util/util_test.go`]: {
    Test_CreateVolumeSpec: {
      inline: by('populator/controller-wanted', 'R164 inline migrated'),
      'claim, ephemeral': by(
        'populator/controller-wanted',
        'R707 a running pod',
        'R709: ephemeral wins where both are set',
      ),
      'unbound, wrong claimRef': by('populator/controller-wanted', 'T109: $name is unresolved ($cause)'),
      'not owned': by(
        'populator/controller-wanted',
        'T109: an ephemeral claim that the pod does not own is unresolved',
      ),
    },
  },
  [`${NODE}/cache/actual_state_of_world_test.go`]: {
    'volumes and nodes': {
      'uncertain, confirmed, in use, to report': CLUSTER,
      'another node has it': by('desired/attached-elsewhere', 'attachment of %s'),
    },
  },
  [`${NODE}/cache/desired_state_of_world_test.go`]: {
    'nodes, volumes and pods': {
      'nodes come and go': CLUSTER,
      'pods of a volume': by('populator/controller-wanted', 'names every pod that wants the volume'),
      'pods of other nodes': by('populator/controller-wanted', 'R706 a pod of another node'),
    },
  },
  [`${NODE}/statusupdater/node_status_updater_test.go`]: { 'patches of nodes': { 'one fails, others go on': STATUS } },
  [`${NODE}/metrics/metrics_test.go`]: {
    counts: {
      'in use, total': not('metrics are the controller’s; a plan counts what it does in its summary (contract)'),
    },
  },
}
