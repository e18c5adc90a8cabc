/** The attach/detach controller (volume-manager.md 9.7): its pass over all nodes (--cluster), and what a node takes from its rules. */
import { by, byAll, instead, not, type Table } from './verdict.ts'

const DETACH = 'cluster/detach'
const ATTACH = 'cluster/attach'
const TABLES = 'cluster/controller-tables'
const STATUS = not('node.status is written by the controller and the kubelet alone, and volctl never does (R331)')
const IN_USE = by('reconcile/detach', 'a volume in use is never detached, the node is $name')
/** On the node neither time nor a taint lets anything be detached that is in use (S21, R810). */
const LOST = instead(
  'R731, S3: a kubelet that is silent shows nothing of its machine; a person says that it is off, by name',
  by(
    DETACH,
    'T92, T100: in use on a node that is silent for six minutes is blocked until a person says that its machine is off',
  ),
)
const TAINTED = by(DETACH, 'T99, T101: in use on a tainted node that is not ready is detached')
const NOBODY = byAll(
  by('reconcile/safety', 'what no pod wants and nothing uses is detached'),
  by(DETACH, 'T91: not in use is detached, with its preconditions'),
)
const MOVED = by(ATTACH, 'T95, T96: is attached after it is detached there, where nobody wants it any more')
const WANTED = by('populator/controller-wanted', 'S21, R706-R709: what the attach/detach controller wants')
const NODE = 'pkg/controller/volume/attachdetach'

export const CONTROLLER: Table = {
  [`${NODE}/reconciler/reconciler_test.go`]: {
    DoNothing: {
      'nothing desired': byAll(
        by('reconcile/orphan-volumes', 'no directory'),
        by(ATTACH, 'T90: nothing desired, nothing attached: nothing'),
      ),
    },
    OneDesiredVolumeAttach: {
      'one attach': by(ATTACH, 'T90: gets the attachment that the controller would have created'),
    },
    AttachThenDetachWithUnmountedVolume: { 'not desired, not in use: one detach': NOBODY },
    AttachThenDetachWithMountedVolume: {
      'in use: not': byAll(by('reconcile/safety', 'not while a pod that is gone still runs on it'), IN_USE),
      'in use, after the longest wait: detached': LOST,
    },
    AttachThenDetachUpdateStatusFail: { 'status not written: no detach': STATUS },
    MultipleNodesWithReadWriteMany: {
      'on both nodes at once': byAll(
        by('reconcile/mount-waits', 'another node has it, and many may'),
        by(ATTACH, 'T94: goes to both where several nodes may have it'),
      ),
      'detached one by one': by(
        TABLES,
        'T94: a shared volume goes from the node alone whose pod is gone',
        'T94: and from both, once both are gone',
      ),
    },
    MultipleNodesWithReadWriteOnce: {
      'the second waits for the first': byAll(
        by('reconcile/mount-waits', 'two other nodes have it, and one may'),
        by(ATTACH, 'T95, T102: attached to one of them: the other waits, and who has to move is said'),
        MOVED,
        by(
          'privileged/set-up/csi',
          'asks for nothing where attachment, node or other nodes have changed since the plan (S22, S30)',
        ),
      ),
    },
    UncertainNodes: { 'attached though it failed: detached': MOVED, 'then attached elsewhere': MOVED },
    TimeoutNodes: { 'attached though it failed: detached': MOVED, 'then attached elsewhere': MOVED },
    UpdateNodeStatusFailBeforeOneVolumeDetach: { 'put back into the report': STATUS },
    OneVolumeDetachFail: {
      'not reported, uncertain': instead(
        'N59, S21: the attacher is waited for as long as --timeout allows, and its words are shown',
        by('apply/detach/detach', 'says whom it waits for, which is no failure'),
      ),
      'wanted again: attached': byAll(
        by(ATTACH, 'T107, T98: with an attachment that is $name waits: $code'),
        by(TABLES, 'T98: a detach that failed and was given up is attached again by the attacher'),
      ),
      'a pod on a third node: the same': by(
        TABLES,
        'T98: a detach that failed is waited for, wanted again or not, and a pod on a third node changes nothing',
      ),
    },
    OutOfServiceTainted: {
      'in use, with the taint: detached': TAINTED,
      'and nothing comes to it': byAll(
        by('reconcile/mount-waits', 'a node that is out of service'),
        by(
          'privileged/set-up/csi',
          'asks for nothing where attachment, node or other nodes have changed since the plan (S22, S30)',
        ),
      ),
    },
    NoOutOfServiceTainted: {
      'in use, without the taint: not': byAll(IN_USE, by(DETACH, 'T99: in use without the taint waits')),
    },
    UnhealthyNode: {
      'in use, the node is Ready: not': byAll(IN_USE, by(DETACH, 'T92, T100: in use on a node that is ready waits')),
      'in use, not Ready for long: detached': LOST,
    },
    UnhealthyNodeWithForceDetachOnUnmountDisabled: {
      'in use, not Ready for long: not': IN_USE,
      'then with the taint: detached': TAINTED,
    },
    ReportMultiAttachError: {
      'without pods: the nodes': byAll(
        by('reconcile/mount-waits', 'two other nodes have it, and one may'),
        by('desired/attached-elsewhere', 'nodes are sorted and named once'),
      ),
      'pods of other nodes, by namespace': byAll(
        by(ATTACH, 'T95, T102: two pods of a ReadWriteOnce volume on two nodes: neither, and both are named'),
        by(ATTACH, 'R743: pods of other namespaces are named, too'),
      ),
    },
  },
  [`${NODE}/populator/desired_state_of_world_populator_test.go`]: {
    FindAndAddActivePods_FindAndRemoveDeletedPods: {
      'listed: desired': byAll(
        WANTED,
        by('reconcile/safety', 'not while a pod wants it by the controller’s rule, used by a container or not'),
        by(DETACH, 'T103: a pod of the node'),
      ),
      'gone or replaced: removed': byAll(
        NOBODY,
        by(TABLES, 'T103: a pod that was replaced by one of its name elsewhere wants nothing here any more'),
      ),
    },
    FindAndRemoveNonattachableVolumes: {
      'not attachable any more: not desired': by('populator/controller-wanted', 'R012 attachRequired: false'),
      'and detached under its pod': instead(
        'S5: what a pod has, whatever its driver says now, is not taken from it',
        by(DETACH, 'T104: a pod whose driver turned non-attachable'),
      ),
    },
  },
  [`${NODE}/attach_detach_controller_test.go`]: {
    StateOfWorldPopulators_Positive: { 'status and pods': byAll(WANTED, NOBODY) },
    Recovery: {
      'pods that appear: attached': by(ATTACH, 'T106, T111: several pods of the node share one'),
      'volumes of nobody, in the status alone: detached': instead(
        'R331, C44: for a CSI volume the VolumeAttachment is the truth; without one there is nothing to delete, and it is reported',
        by(TABLES, 'T106: what the status of a node alone lists has no object to delete'),
        by('cluster/report', 'attached by the status alone, a CSI volume'),
      ),
    },
    ADC_VolumeAttachmentRecovery: {
      'no pod, attached: detached': NOBODY,
      'no pod, not attached: detached': MOVED,
      'a pod, a migrated volume: confirmed': byAll(
        by('reconcile/migrated', 'is staged and published by the driver', 'that is as it should be gets no operation'),
        by(TABLES, 'T107: a migrated volume of a pod, attached and listed, is as it should be'),
      ),
      'a deleted pod, a migrated volume': byAll(
        by(
          'reconcile/migrated',
          'whose pod is gone is undone and detached, since the hash confirms whose the attachment is',
        ),
        by(TABLES, 'T107: a migrated volume whose pod was deleted'),
        by(DETACH, 'R835: of a volume in the spec of a pod'),
      ),
    },
    TestPodDelete_Tombstone: {
      'a delete event with an old state': by(DETACH, 'T108: a pod that has ended wants nothing, and is evidence'),
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
      'uncertain, confirmed, in use, to report': byAll(
        by(ATTACH, 'T110: what volumesAttached alone lists is detached: a dead controller never corrects it (C44)'),
        by('cluster/report', 'attached, and not in the status'),
      ),
      'another node has it': by('desired/attached-elsewhere', 'attachment of %s'),
    },
  },
  [`${NODE}/cache/desired_state_of_world_test.go`]: {
    'nodes, volumes and pods': {
      'nodes come and go': by('cluster/pass', 'a node that does not exist'),
      'pods of a volume': by('populator/controller-wanted', 'names every pod that wants the volume'),
      'pods of other nodes': by('populator/controller-wanted', 'R706 a pod of another node'),
    },
  },
  [`${NODE}/statusupdater/node_status_updater_test.go`]: { 'patches of nodes': { 'one fails, others go on': STATUS } },
  [`${NODE}/metrics/metrics_test.go`]: {
    counts: {
      'in use, total': instead(
        'contract: metrics are the controller’s; a plan has its counts',
        by('cluster/pass', 'T113: a plan counts nodes, pods, attachments, and what is in use with and without a pod'),
      ),
    },
  },
}
