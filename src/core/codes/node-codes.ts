/** The node: its kubelet, its Node object, which machine this is, and from where volctl sees it. */
import type { CodeEntry } from './code-entry.ts'

export const NODE_CODES = {
  NodeUnreadable: {
    in: ['blocked', 'problem', 'error'],
    cause: 'unread',
    means:
      "/proc, the mount table, the kubelet's root directory, something in it or its configuration is missing, cannot be read whole, or is not what it should be",
    next: 'Run volctl as root of the host, with /proc mounted; check --root-dir and its file system (dmesg). The message says what could not be read.',
    rules: ['S6', 'S9', 'S27', 'S8', 'S33', 'S12', 'S13'],
  },
  KubeletRunning: {
    in: ['waiting', 'outcome', 'refusal'],
    cause: 'kubelet',
    means: 'a kubelet runs, runs again, or may start at any moment, and does this itself',
    next: 'Let the kubelet do it. If it cannot, stop its unit so that it stays down, wait for --settle, and plan again.',
    rules: ['S11'],
  },
  Settling: {
    in: ['waiting'],
    cause: 'kubelet',
    means:
      'the kubelet stopped, or something of the pod changed, less than the settle time ago: the kubelet or a call that it made may still be at work',
    next: 'Plan again after the settle time, or give a shorter --settle.',
    rules: ['S11'],
  },
  KubeletUnclear: {
    in: ['refusal'],
    cause: 'kubelet',
    means: 'this host has several kubelets that could be meant, or one that has no API server',
    next: 'Name one with --root-dir and --node; start a kubelet without API server with --kubeconfig: until then volctl can only report here.',
    rules: ['S8'],
  },
  KubeletNotStopped: {
    in: ['refusal'],
    cause: 'kubelet',
    means:
      '--stop-kubelet is refused: the kubelet has no unit, the unit would not stay stopped or runs more than the kubelet, or systemd set no timer that starts the kubelet again',
    next: 'See what the message says, or stop and start the kubelet yourself, around: volctl apply',
    rules: ['S35'],
  },
  NoTimeLeft: {
    in: ['outcome'],
    cause: 'kubelet',
    means: 'the operation was not begun: it could not end before the kubelet has to run again',
    next: 'Run the same command again, or with a longer --max-downtime.',
    rules: ['S35'],
  },
  KubeletNotStarted: {
    in: ['error'],
    means: "the kubelet's unit did not start again after the apply",
    next: 'See why (journalctl -u UNIT). systemd tries once more when --max-downtime is over.',
    rules: ['S35'],
  },
  VersionUntested: {
    in: ['problem'],
    cause: 'kubelet',
    means: 'volctl was not tried with the version of the kubelet on this node',
    next: 'Compare the plan with findmnt, and apply one pod or volume at a time (--pod, --volume).',
  },
  WrongMachine: {
    in: ['refusal'],
    cause: 'machine',
    means: 'the Node object does not exist, or is not shown to describe this machine',
    next: 'Check --context, --kubeconfig and --node: another cluster may have a node of the same name. If this is the machine all the same, repeat the id that the message names with --accept-identity.',
    rules: ['S1'],
  },
  IdentityAccepted: {
    in: ['problem'],
    cause: 'machine',
    means: "an id of the Node object is not this host's, and was accepted with --accept-identity",
    next: 'Nothing, if the plan is about the right machine.',
    rules: ['S1', 'S31'],
  },
  OtherNode: {
    in: ['refusal', 'error'],
    cause: 'machine',
    means: '--node is not what the kubelet here calls itself, or the plan was made on another node or machine',
    next: 'Check --node, or apply the plan on the node that it was made on.',
    rules: ['S1'],
  },
  OtherCluster: {
    in: ['outcome', 'error'],
    cause: 'unread',
    means: 'another API server answers than when the plan was made, or the command began',
    next: 'Give the kubeconfig and context of the cluster that the plan was made for.',
    rules: ['S1'],
  },
  NodeMissing: {
    in: ['problem', 'outcome'],
    cause: 'missing',
    means: 'the Node object does not exist: it was deleted, or a pod is scheduled to one that is not there',
    next: 'Plan again. What a pod of that node has is not detached before the pod is deleted: once the machine is off: kubectl delete pod -n NAMESPACE NAME --force',
    rules: ['S21', 'S22', 'N55'],
  },
  NodeNotReady: {
    in: ['waiting', 'problem', 'outcome'],
    cause: 'machine',
    ofNode: true,
    means:
      'the node is not ready, or is tainted out-of-service, and then the controller detaches what is mounted there',
    next: 'Stop what uses the volumes; once the node can be trusted again: kubectl taint node NAME node.kubernetes.io/out-of-service-',
    rules: ['S22'],
  },
  WrongNamespace: {
    in: ['outcome', 'refusal', 'error'],
    cause: 'machine',
    means:
      'volctl does not stand where the kubelet does: another user, PID, mount or network namespace, a chroot, or a --host-root that is not the whole node',
    next: 'Run volctl as root of the host itself, or in a Pod as deploy/node-pod.yaml has it (hostPID, hostNetwork, privileged, --host-root).',
    rules: ['S7', 'S6'],
  },
  NoNodeHere: {
    in: ['error'],
    means: 'this machine is no node: there is no kubelet here',
    next: 'Run volctl on the node, or give a snapshot of the node with --snapshot; --cluster reads the API server alone.',
  },
  NotBelieved: {
    in: ['problem', 'outcome', 'refusal', 'error'],
    cause: 'unread',
    means:
      'someone other than root could have changed a file, a program or a process, so that it is not believed, run or obeyed',
    next: 'Let root own it, and let nobody else write to it or to a directory above it; then plan again.',
    rules: ['S32', 'S33'],
  },
} as const satisfies Readonly<Record<string, CodeEntry>>
