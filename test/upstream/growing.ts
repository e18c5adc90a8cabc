/** Expansion, ownership, drivers' versions and sockets (csi.md 11.8). */
import { by, instead, not, type Table } from './verdict.ts'

const EXPAND = 'apply/expand/csi-expand'
const CLAIM = 'T122, R457, R458, C97, C98: does the claim allow it?'
const METRICS = not(
  'volume statistics and health are the kubelet’s metrics; no decision of volctl rests on them (C109, C110)',
)
const WATCHES = not('volctl looks at the sockets that are there when it is called, and watches none')
const VERSIONS = by('csi/versions', 'of %j the kubelet takes %s')
const MEMORY =
  'C96: the size that a node had before is in the memory of a kubelet that runs; volctl goes by claim and PersistentVolume'

export const GROWING: Table = {
  'pkg/volume/csi/expander_test.go': {
    TestNodeExpand: {
      'no capability: not done': by(EXPAND, 'pending, and the driver has no part in it: failed'),
      'file system: mount capability, staging path': by(EXPAND, 'Filesystem volume'),
      'block: block capability': by(EXPAND, 'Block volume'),
      'FAILED_PRECONDITION: in use': by(EXPAND, 'in use: failed, and still in progress'),
      'INVALID_ARGUMENT: another failure': by(EXPAND, 'refused as invalid: infeasible too'),
      'the secret is read': by(EXPAND, 'the secret of the expansion, where there is one'),
    },
    TestNodeExpandNoClientError: {
      'driver not registered': by(
        'privileged/set-up/csi',
        'an expansion that meets %s is done by the next apply (C120)',
      ),
    },
  },
  'pkg/volume/csi/csi_client_test.go': {
    TestNodeExpandVolume: {
      'all is set': by('csi/csi-node-client', 'every operation sends what it was given'),
      'no volume ID, no path': by('csi/csi-node-client', 'NodeExpandVolume: volumeId', 'NodeExpandVolume: volumePath'),
      'a negative size': by('csi/csi-node-client', 'a negative size never reaches the driver (C100)'),
    },
    TestClientNodeGetInfo: {
      'all that is told; failure, and nothing': by(
        'csi/csi-node-client',
        'what a driver says of its node comes whole, and a failure without anything',
      ),
    },
    TestVolumeStats: { 'loosely asserted': METRICS },
    TestVolumeHealthEnable: { 'loosely asserted': METRICS },
    TestVolumeHealthDisable: { 'loosely asserted': METRICS },
  },
  'pkg/volume/csi/csi_metrics_test.go': { TestGetMetrics: { 'capacity, inodes, not supported': METRICS } },
  'pkg/volume/csi/csi_plugin_test.go': {
    TestValidatePlugin: { accepted: VERSIONS, refused: VERSIONS },
    TestValidatePluginExistingDriver: {
      'another name': by(
        'csi/discover-csi-sockets',
        'a registered driver is found, in the form of a snapshot, and nobody is notified (C27)',
      ),
      'the same name and version: refused': by('csi/discover-csi-sockets', 'on a tie the older socket wins (C26)'),
      'the same name, higher version': by(
        'csi/discover-csi-sockets',
        'of two sockets for one name the higher version wins (C26)',
      ),
    },
  },
  'pkg/kubelet/pluginmanager/pluginwatcher/plugin_watcher_test.go': {
    TestPluginRegistration: { 'appears, goes': WATCHES },
    TestPluginRegistrationAtKubeletStart: {
      'there already': by(
        'csi/discover-csi-sockets',
        'a registered driver is found, in the form of a snapshot, and nobody is notified (C27)',
      ),
    },
    TestPluginRegistrationSameName: {
      'several sockets of one name: all are candidates': by(
        'csi/discover-csi-sockets',
        'on a tie the older socket wins (C26)',
      ),
    },
    TestPluginReRegistration: { 'the same path under another name': WATCHES },
  },
  'pkg/volume/util/operationexecutor/node_expander_test.go': {
    TestNodeExpander: {
      'infeasible on record: no call': by(EXPAND, 'infeasible on record: not called'),
      'pending: call, finished': by(EXPAND, 'pending: called, and finished'),
      'pending, infeasible': by(EXPAND, 'infeasible by the driver: called, failed, and on record'),
      'pending, another failure': by(EXPAND, 'failed otherwise: still in progress, for the next try'),
      'up to date, one writer: no call': by(
        EXPAND,
        'equal sizes, one writer: not called',
        'all that was allocated is there, one writer: not called',
      ),
      'up to date, many writers: call': by(
        EXPAND,
        'all that was allocated is there, many writers: called, since every node has its part',
      ),
      'up to date, many writers, and this node behind: call': instead(
        MEMORY,
        by(EXPAND, 'equal sizes, many writers: not called'),
      ),
      'up to date, many writers, not supported: done': by(
        EXPAND,
        'all that was allocated is there, many writers, the driver has no part in it: done',
      ),
      'up to date, many writers, annotation: no call': by(
        EXPAND,
        'all that was allocated is there, many writers, the claim says that no node has a part: not called',
      ),
    },
  },
  'pkg/volume/util/operationexecutor/operation_generator_test.go': {
    TestCheckForRecoveryFromExpansion: {
      'neither on record: legacy': by('desired/expansion', 'legacy'),
      'either on record: recovery': by('desired/expansion', CLAIM, 'node resize pending', 'not updated, no word'),
    },
    TestExpandDuringMount: {
      'pending at mount: one call, finished': instead(
        'S23: an expansion is planned by itself once the volume is mounted, and waits for --expand',
        by('privileged/set-up/csi', '%s: grows with --expand, and the claim says so (R458, R459)'),
      ),
    },
    TestOperationGenerator_nodeExpandVolume: {
      'infeasible on record: no call': by(EXPAND, 'infeasible on record: not called'),
      'pending: one call': by(EXPAND, 'pending: called, and finished'),
      'pending, infeasible: one call, failure': by(EXPAND, 'infeasible by the driver: called, failed, and on record'),
      'equal sizes, also with infeasible on record: no call': by(
        EXPAND,
        'equal sizes, one writer: not called',
        'equal sizes, infeasible on record: not called',
      ),
      'equal sizes, and the remembered one is smaller: no call': instead(
        MEMORY,
        by(EXPAND, 'equal sizes, one writer: not called'),
      ),
    },
  },
  'pkg/volume/volume_linux_test.go': {
    TestSkipPermissionChange: {
      'no policy, Always: never skipped': by('files/ownership-bits', 'is the walk left out (P32)'),
      'OnRootMismatch: group, bits and setgid must all match': by(
        'files/ownership-bits',
        'all is right',
        'another group',
        'no setgid',
        'the group may not write',
      ),
    },
    TestSetVolumeOwnershipMode: {
      'right root, wrong sub-directory; wrong root': by(
        'privileged/set-up/ownership',
        'trusts the root where the policy says so (P32)',
      ),
    },
    TestSetVolumeOwnershipOwner: {
      'no group: unchanged': by('plugins/ownership', 'the fsGroup of a pod'),
      'a group: the file’s, and the link’s own; owners unchanged': by(
        'privileged/set-up/ownership',
        'gives files and directories to the group, and links themselves, never what they lead to (P31)',
      ),
    },
  },
}
