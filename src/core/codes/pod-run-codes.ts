/** Running a command of a node through a Pod (`volctl on`). */
import type { CodeEntry } from './code-entry.ts'

export const POD_RUN_CODES = {
  NoNodeHere: {
    in: ['error'],
    means: 'this machine is no node: there is no kubelet here',
    next: 'Run the command on the node (kubectl volctl on NODE plan, or ssh), or give a snapshot of the node with --snapshot.',
  },
  NodeStartsNoPod: {
    in: ['error'],
    means: 'the kubelet of the node does not report, or cannot start pods, so that no Pod would start there',
    next: 'Log in to the node, and run the executable there: ssh NODE sudo volctl plan',
  },
  PodNotAdmitted: {
    in: ['error'],
    means: 'the API server does not admit the Pod in which volctl would run: Pod Security, a webhook or a quota',
    next: 'Choose a namespace that admits privileged Pods (--pod-namespace), or log in to the node.',
  },
  PodNotStarted: {
    in: ['error'],
    means: 'the Pod in which volctl would run did not start in time, or cannot start',
    next: 'Look at the message of the kubelet; give the right image with --image, or log in to the node.',
  },
  PodCutShort: {
    in: ['error'],
    means: 'the Pod in which volctl ran ended before the command did',
    next: 'Run the command again; --time-limit says how long it may take. volctl on NODE journal shows what an apply did.',
  },
  AnswerCutOff: {
    in: ['error'],
    means: 'the answer of the command in the Pod did not arrive whole',
    next: 'Run the command again; if that does not help, log in to the node.',
  },
} as const satisfies Readonly<Record<string, CodeEntry>>
