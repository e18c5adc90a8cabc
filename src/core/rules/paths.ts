/** Whether volctl gets where an operation is, and who else is there by the last look at the machine. */

import { memoize } from '../base/memoize.ts'
import { omitUndefined } from '../base/omit-undefined.ts'
import type { InUse } from '../facts/actual/snapshot.ts'
import { isPlainPath } from '../linux/paths.ts'
import { takenBy } from '../plan/operation-key.ts'
import type { Judge } from './rule.ts'

/** Paths that contain names, from the API or from below the root directory, that would lead elsewhere. */
export const oddName: Judge = ({ paths, steps }) => {
  const odd = paths.find(isOdd) ?? steps.find(({ target }) => isOdd(target))?.target
  if (odd === undefined) return undefined
  return {
    code: 'InvalidPath',
    message: `a name in a path of this operation would lead elsewhere: ${JSON.stringify(odd)}`,
    hint: 'Look at the names in the pod, its volumes and its annotations.',
  }
}

function isOdd(path: string): boolean {
  return path.startsWith('/') && !isPlainPath(path)
}

/** What a live look found by the rules of the machine (in-use.ts). */
export const inUse: Judge = (draft, _, { inputs: { snapshot } }) => {
  const { inUse: all = [] } = snapshot
  const found = all.length === 0 ? undefined : byOperation(all).get(takenBy(draft))
  if (found === undefined) return undefined
  const { message, hint, users } = found
  return { code: KNOWN.get(found.code) ?? 'HeldBy', message, ...omitUndefined({ hint, users }) }
}

/** A word of a newer version still says that it is in use. */
const KNOWN: ReadonlyMap<string, InUse['code']> = new Map(
  (['HeldBy', 'UsersUnknown', 'DeviceUnknown'] as const).map((code) => [code, code]),
)

const byOperation = memoize(
  (inUse: readonly InUse[]): ReadonlyMap<string, InUse> =>
    new Map(inUse.map((each) => [`${each.kind} ${each.target}`, each])),
)
