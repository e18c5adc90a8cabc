/** Running a command of a node through a Pod (`volctl on`). */
import type { CodeEntry } from './code-entry.ts'

export const POD_RUN_CODES = {
  NoNodeHere: {
    in: ['error'],
    means: 'this machine is no node: there is no kubelet here',
    next: 'Run the command on the node (kubectl volctl on NODE plan, or ssh), or give a snapshot of the node with --snapshot.',
  },
} as const satisfies Readonly<Record<string, CodeEntry>>
