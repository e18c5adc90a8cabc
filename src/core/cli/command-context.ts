import { readJournal } from '../apply/journal/read-journal.ts'
import { DEFAULT_JOURNAL_DIR } from '../node/read-lazily-detached.ts'
import type { AdviceContext } from '../plan/next-steps.ts'
import { programName } from '../trust/own-program.ts'
import { apiFlags, clusterFlags, placeFlags, planFlags } from './flags.ts'

type Flags = Readonly<Record<string, unknown>>

/** What speaks of a container or of its files, and means nothing on the node itself. */
const OF_CONTAINER = ['host-root', 'kubeconfig', 'context']
const AGAIN = Object.keys({ ...planFlags, ...placeFlags, ...clusterFlags })
const ON_NODE = AGAIN.filter((name) => !OF_CONTAINER.includes(name))

/** Those of the flags that another command needs as well, as a person would type them again. */
function typedAgain(flags: Flags, names: readonly string[]): string[] {
  return names.flatMap((name) => {
    const value = flags[name]
    if (value === true) return [`--${name}`]
    return [value].flat().flatMap((each) => (typeof each === 'string' ? [`--${name}`, each] : []))
  })
}

/** More is not read for a hint: a plan must not wait for the journal of an apply of 100,000 operations. */
const MOST_BYTES = 8 * 1024 * 1024

/** What the last apply here began and did not do; nothing where its journal cannot be read. */
function lastFailed(directory: unknown): AdviceContext['failed'] {
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

/**
 * What the next steps of a command go by.
 *
 * @param flags that narrow it, in the words that apply takes
 * @param words that an apply needs besides
 */
export function givenBy(flags: Flags, settleMs: number, words: readonly string[] = []): AdviceContext {
  const { snapshot } = flags
  let failed: AdviceContext['failed']
  return {
    program: programName(),
    applyFlags: [...typedAgain(flags, AGAIN), ...words],
    nodeFlags: flags['host-root'] === undefined ? undefined : typedAgain(flags, ON_NODE),
    readFlags: typedAgain(flags, Object.keys(flags.cluster === true ? apiFlags : placeFlags)),
    settleMs,
    // Most plans advise nothing that an apply could have failed at.
    get failed() {
      failed ??= snapshot === undefined ? lastFailed(flags.journal) : []
      return failed
    },
    // What came from standard input, another command has to be given as a file.
    snapshot: typeof snapshot === 'string' ? (snapshot === '-' ? 'FILE' : snapshot) : undefined,
  }
}
