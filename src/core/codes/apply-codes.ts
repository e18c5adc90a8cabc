/** How an operation, or an apply as a whole, ends other than well. */
import type { CodeEntry } from './code-entry.ts'

export const APPLY_CODES = {
  ProgramNotTrusted: {
    in: ['outcome', 'error'],
    cause: 'failed',
    means: 'somebody other than root could have put a program in its place, so that it is not run as root',
    next: 'Let root own the program and every directory above it, and let nobody else write there.',
    rules: ['S33'],
  },
} as const satisfies Readonly<Record<string, CodeEntry>>
