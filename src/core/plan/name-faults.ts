/** Names on a command line that nothing has, or several things: after a typo a broken node would look healthy. */

import { didYouMean } from '../base/text.ts'
import { VolctlError } from '../messages/errors.ts'
import { type Finding, said } from '../messages/said.ts'
import type { PodRef } from '../volumes/finding.ts'
import { podNameAndUid } from '../volumes/pods.ts'

/** In a plan a problem, of other commands an error. */
export interface NameFault extends Finding<'AmbiguousName' | 'NothingNamed'> {
  readonly hint: string
}

interface Looked {
  readonly noun: string
  /** "on this node" */
  readonly place: string
  readonly hint: string
}

/** @param known all that could be named, asked for where something was given */
export function nameFaults(
  given: readonly string[],
  known: () => Iterable<string>,
  { noun, place, hint }: Looked,
): NameFault[] {
  if (given.length === 0) return []
  const names = new Set(known())
  return given
    .filter((each) => !names.has(each))
    .map((each) => ({
      ...said('NothingNamed', { name: each, noun, place }),
      hint: `${didYouMean(each, names)}${hint}`,
    }))
}

/** Pods that are named in messages; no more. */
const MOST_PODS = 10

export function ambiguousPods(name: string, pods: readonly PodRef[]): NameFault {
  const names = pods.slice(0, MOST_PODS).map(podNameAndUid).join(', ')
  return {
    ...said('AmbiguousName.pods', { name, count: pods.length, pods: names }),
    hint: 'Give NAMESPACE/NAME or the whole UID.',
  }
}

/** How a command line names things: an alias, as flags are given where any record of flags is. */
export type Naming = {
  /** The person does without what has none of the names. */
  readonly 'ignore-not-found'?: boolean
  /** What else a name may be: goes on with the hint where nothing has it. */
  readonly ways?: string
}

/** @throws VolctlError AmbiguousName, NothingNamed */
export function requireNamed(
  problems: readonly { readonly code: string; readonly message: string; readonly hint?: string }[],
  { 'ignore-not-found': isIgnored, ways }: Naming,
): void {
  const of = (code: NameFault['code']) => problems.filter((each) => each.code === code)
  const faults = [...of('AmbiguousName'), ...(isIgnored ? [] : of('NothingNamed'))]
  const [first] = faults
  if (first === undefined) return
  const isAmbiguous = first.code === 'AmbiguousName'
  const hints = [first.hint, isAmbiguous ? undefined : ways].filter((text) => text !== undefined)
  throw new VolctlError(
    { code: isAmbiguous ? 'AmbiguousName' : 'NothingNamed', message: faults.map(({ message }) => message).join('; ') },
    { hint: hints.join(' ') || undefined },
  )
}
