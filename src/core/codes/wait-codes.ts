/** Waiting for pods and volumes (`volctl wait`). */
import type { CodeEntry } from './code-entry.ts'

export const WAIT_CODES = {
  NotReached: {
    in: ['error'],
    means: 'the time of wait was up before the condition was reached',
    next: 'Wait longer with --timeout; or look at one that was not reached: volctl explain NAME',
    rules: ['R472'],
  },
  NeverReached: {
    in: ['error'],
    means: 'the pod has ended, is terminating or was deleted, so that its volumes will not be mounted',
    next: 'Name the pod that replaced this one: kubectl get pods -o wide',
  },
} as const satisfies Readonly<Record<string, CodeEntry>>
