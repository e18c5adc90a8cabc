/** Rights, cgroups and the kubelet's files (node-and-api.md, section f). */
import { by, byAll, instead, not, type Table } from './verdict.ts'

const READ = 'api/read-api'
const NODE_READS = by(
  READ,
  "finds this node's claims, volumes and attachments object by object",
  'says which views are partial, and takes 403 for unknown',
  'gets 403, never 404, for %s (N32)',
)
const SERVERS = not(
  'a decision of the API server, made anew with every request; volctl asks, and takes no answer for granted',
)
const CGROUPS = 'processes/pod-cgroups'

export const ACCESS: Table = {
  'plugin/pkg/auth/authorizer/node/node_authorizer_test.go': {
    TestNodeAuthorizer: {
      'what pods of the node name, and what not': byAll(
        NODE_READS,
        by('api/volume-content', 'a node asks for an object that none of its pods names'),
      ),
      'lists with and without a selector, other nodes': by(
        READ,
        "is refused another node's pods",
        'says which views are partial, and takes 403 for unknown',
      ),
      'attachments: get, no delete': by('api/volume-attachments', 'is forbidden to a node and to the plan role'),
      'tokens of its pods, and of others': by(
        'api/volume-content',
        'and tokens are made for it (P53)',
        'a node asks for a token that is not its pod’s (N33)',
      ),
      'writing CSINode and lease': not('volctl writes neither'),
    },
    TestNodeAuthorizerSharedResources: { 'access goes with the pods': SERVERS },
    TestNodeAuthorizerAddEphemeralContainers: { 'access comes with a container': SERVERS },
  },
  'plugin/pkg/admission/noderestriction/admission_test.go': {
    Test_nodePlugin_Admit: {
      'pods, nodes, labels, taints': not('volctl writes no pods and no nodes, whatever its credential allows'),
      'tokens: bound to a pod of the node, its audiences': by(
        'api/volume-content',
        'and tokens are made for it (P53)',
        'a node asks for a token that is not its pod’s (N33)',
      ),
    },
    TestAdmitPVCStatus: {
      'size and conditions: allowed; nothing else is written': byAll(
        by('api/claim-status', '%s may write it, and a change in between is a conflict'),
        by('desired/claim-status-patch', 'finished: %s', 'failed: a condition, without the version'),
      ),
      'claims of others: forbidden': by(
        'api/claim-status',
        'a node writes only claims of its own pods, and who may only look writes none',
      ),
    },
  },
  'pkg/kubelet/cm/cgroup_manager_linux_test.go': {
    TestCgroupNameToSystemd: {
      'slices within slices, "-" as "_"': by(CGROUPS, 'v2, systemd, burstable', 'cgroupRoot, as kind has it'),
      'the root': by(CGROUPS, 'a kernel thread'),
    },
    TestCgroupNameToSystemdBasename: { 'the last slice': by(CGROUPS, 'v2, systemd, guaranteed, the pod level itself') },
    TestParseSystemdToCgroupName: {
      'back again': by(CGROUPS, 'v2, systemd, burstable', 'v2, systemd, static', 'the QoS slice'),
      'an escaped "-", or a "_"': by(CGROUPS, "a static manifest's own uid, systemd: both readings"),
    },
  },
  'pkg/kubelet/cm/pod_container_manager_linux_test.go': {
    TestIsCgroupPod: {
      'directly below each QoS level': by(
        CGROUPS,
        'v2, cgroupfs, burstable',
        'v2, cgroupfs, guaranteed',
        'v2, cgroupfs, besteffort, static',
      ),
      'a QoS level, the system: none': by(CGROUPS, 'the QoS level', 'the QoS slice', 'a service'),
      'a container’s level, a UID with the word pod: none': instead(
        'S9: the cgroup of a process is that of its container, and a pod too many is none too few',
        by(CGROUPS, 'v2, cgroupfs, burstable', "a static manifest's own uid, cgroupfs"),
      ),
    },
    TestGetPodContainerName: {
      'of each QoS level': by(CGROUPS, 'v2, systemd, burstable', 'v2, systemd, guaranteed, the pod level itself'),
    },
  },
  'pkg/kubelet/kubeletconfig/configfiles': {
    'relative paths': {
      'from the directory of the file': by(
        'node/kubelet/find-kubelet',
        'takes relative paths of a file from its directory, those of flags from the working directory (N11)',
      ),
    },
  },
}
