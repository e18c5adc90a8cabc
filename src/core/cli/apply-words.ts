import { DEFAULT_JOURNAL_DIR } from '../plan/documents/lazy-memory.ts'
import { readJournal } from '../plan/documents/read-journal.ts'
import type { Given } from '../plan/next-steps.ts'
import { clusterFlags } from './cluster-flags.ts'
import { apiFlags, nodeFlags } from './node-flags.ts'
import { planFlags } from './plan-flags.ts'

/** What speaks of a container or of its files, and means nothing on the node itself. */
const OF_CONTAINER = ['host-root', 'kubeconfig', 'context']

/** The same for a command that is typed on the node itself; undefined where volctl runs there, and not in a container. */
export function wordsOnNode(flags: Readonly<Record<string, unknown>>): string[] | undefined {
  if (flags['host-root'] === undefined) return undefined
  return applyWords(Object.fromEntries(Object.entries(flags).filter(([name]) => !OF_CONTAINER.includes(name))))
}

/** The flags of a `plan` that an `apply` of the same needs, as a person would type them again. */
export function applyWords(flags: Readonly<Record<string, unknown>>): string[] {
  return Object.keys({ ...planFlags, ...apiFlags, ...nodeFlags, ...clusterFlags }).flatMap((name) => {
    const value = flags[name]
    if (value === true) return [`--${name}`]
    return [value].flat().flatMap((each) => (typeof each === 'string' ? [`--${name}`, each] : []))
  })
}

/** What another command needs to read the same cluster. */
export function readingWords(flags: Readonly<Record<string, unknown>>): string[] {
  return ['kubeconfig', 'context', 'snapshot'].flatMap((name) => {
    const value = flags[name]
    if (typeof value !== 'string') return []
    return [`--${name}`, again(value)]
  })
}

/** What came from standard input, another command has to be given as a file. */
function again(file: string): string {
  return file === '-' ? 'FILE' : file
}

/** More is not read for a hint: a plan must not wait for the journal of an apply of 100,000 operations. */
const MOST_BYTES = 8 * 1024 * 1024

/** What the last apply here began and did not do; nothing where its journal cannot be read. */
function lastFailed(directory: unknown): Given['failed'] {
  try {
    const place = typeof directory === 'string' ? directory : DEFAULT_JOURNAL_DIR
    const { applies } = readJournal(place, 1, '', MOST_BYTES)
    return applies.flatMap(({ operations }) =>
      operations.filter(({ state }) => state === 'failed' || state === 'unfinished'),
    )
  } catch {
    return []
  }
}

/** What the next steps of a command go by. @param flags that narrow it, in the words that apply takes */
export function givenBy(flags: Readonly<Record<string, unknown>>, settleMs: number): Given {
  const { snapshot } = flags
  let failed: Given['failed']
  return {
    words: applyWords(flags),
    wordsOnNode: wordsOnNode(flags),
    reading: applyWords({ kubeconfig: flags.kubeconfig, context: flags.context }),
    settleMs,
    // Most plans advise nothing that an apply could have failed at.
    get failed() {
      failed ??= snapshot === undefined ? lastFailed(flags.journal) : []
      return failed
    },
    snapshot: typeof snapshot === 'string' ? again(snapshot) : undefined,
  }
}
