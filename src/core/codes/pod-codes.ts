/** Pods: which are gone, alive, static, or not known. */
import type { CodeEntry } from './code-entry.ts'

export const POD_CODES = {
  PodGoneButRunning: {
    in: ['problem'],
    cause: 'alive',
    means: 'a pod was deleted from the API, and a sandbox, container or process of it still runs',
    next: 'Stop its sandbox (crictl stopp), then plan again. Nothing of the pod is touched before.',
    rules: ['S9'],
  },
  PodStillRunning: {
    in: ['waiting', 'problem', 'outcome'],
    cause: 'alive',
    means: 'the pod is ending, or was deleted from the API, and something of it still runs, or runs again',
    next: 'Wait until its containers have ended, or stop them; then plan again.',
    rules: ['S9', 'S26'],
  },
  UnknownPodProcess: {
    in: ['blocked', 'problem'],
    cause: 'alive',
    means: 'a process runs in the cgroup of a pod that neither the API, the disk nor the container runtime here knows',
    next: 'Find the process, and end it; if its pod belongs to another kubelet on this machine, delete the pod there. Then plan again.',
    rules: ['S9'],
  },
  AlivenessUnknown: {
    in: ['problem', 'outcome'],
    cause: 'alive',
    means: 'nobody could say whether a pod still runs, so that the pod counts as running',
    next: 'Make the container runtime answer and run volctl as root; then plan again.',
    rules: ['S9'],
  },
  MayBeStatic: {
    in: ['problem'],
    cause: 'alive',
    means: 'a pod directory may belong to a static pod, or has the UID of a mirror pod, and is left alone',
    next: 'Let the kubelet run: it knows its static pods, deletes mirror pods that are not needed, and removes what others left.',
    rules: ['S10'],
  },
  StaticPodsUnmatched: {
    in: ['problem'],
    cause: 'alive',
    means: 'not every static pod could be matched to its mirror pod and directory, so that doubtful directories stay',
    next: 'Check that the static pod path can be read, and let the kubelet create the mirror pods; then plan again.',
    rules: ['S10'],
  },
  PodListIncomplete: {
    in: ['problem', 'refusal'],
    cause: 'unread',
    means:
      "the list of this node's pods is missing or incomplete, or the kubelet's own credential sees other pods: no pod counts as gone",
    next: 'Use a credential that may list all pods (--kubeconfig), and ask the API server directly, not through a proxy; then plan again.',
    rules: ['S2', 'S3'],
  },
  RuntimeUnknown: {
    in: ['problem'],
    cause: 'unread',
    means:
      'nothing shows which pods still run: the container runtime was not asked, does not answer or knows none of the pods here, or the process table could not be read',
    next: 'Start the container runtime, or name its socket with --runtime-endpoint, and run volctl as root of the host; then plan again.',
    rules: ['S9'],
  },
  NotDesired: {
    in: ['problem'],
    cause: 'alive',
    means: 'a pod that is in the API has a volume that it does not want any more, and keeps it',
    next: 'Nothing for volctl: an existing pod keeps what it has. Delete the pod if the volume must go.',
    rules: ['S5'],
  },
  TerminatedKept: {
    in: ['waiting', 'problem'],
    cause: 'alive',
    means: 'this node is configured to keep the volumes of pods that have ended',
    next: 'Delete a pod whose volumes are to come down, or remove the setting that keeps them.',
  },
  OrphanDirKept: {
    in: ['problem'],
    cause: 'data',
    means: 'the directory of a pod that is gone is kept, because it holds something that volctl does not remove',
    next: 'Look at the path; move away or delete what is yours, then plan again.',
    rules: ['S13'],
  },
  OutageSuspected: {
    in: ['blocked', 'problem', 'refusal'],
    cause: 'machine',
    means: 'the API server seems to have lost or rolled back pods, or all mounts of one driver are dead at once',
    next: 'Check the cluster. If the pods are really gone, repeat the number that the plan shows: volctl plan --accept-outage N',
    rules: ['S29'],
  },
  WantedAgain: {
    in: ['outcome'],
    cause: 'alive',
    means: 'the pod is in the API and has not ended, or a pod of this node wants the volume again',
    next: 'Plan again.',
    rules: ['S26'],
  },
  NoLongerWanted: {
    in: ['outcome'],
    cause: 'missing',
    means: 'the pod was deleted or began to end after the plan was made, or does not want this volume any more',
    next: 'Plan again.',
    rules: ['S26'],
  },
} as const satisfies Readonly<Record<string, CodeEntry>>
