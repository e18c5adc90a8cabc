/** Names on a command line that nothing has, or several things: after a typo a broken node would look healthy. */
import { VolctlError } from '../errors/errors.ts'
import { didYouMean } from '../lang/near-names.ts'
import type { PodRef } from './plan.ts'
import { podNameAndUid } from './pod-name.ts'

/** In a plan a problem, of other commands an error. */
export interface NameFault {
  readonly code: 'AmbiguousName' | 'NothingNamed'
  readonly message: string
  readonly hint: string
}

interface Looked {
  /** That it was given with. */
  readonly flag?: string
  readonly noun: string
  /** "on this node" */
  readonly place: string
  readonly hint: string
}

/** @param known all that could be named, asked for where something was given */
export function nameFaults(
  given: readonly string[],
  known: () => Iterable<string>,
  { flag, noun, place, hint }: Looked,
): NameFault[] {
  if (given.length === 0) return []
  const names = new Set(known())
  return given
    .filter((each) => !names.has(each))
    .map((each) => ({
      code: 'NothingNamed',
      message: `${typed(each, flag)} matches no ${noun} ${place}`,
      hint: `${didYouMean(each, names)}${hint}`,
    }))
}

function typed(name: string, flag: string | undefined): string {
  return flag === undefined ? name : `--${flag} ${name}`
}

/** Pods that are named in messages; no more. */
const MOST_PODS = 10

export function ambiguousPods(name: string, pods: readonly PodRef[], flag?: string): NameFault {
  const names = pods.slice(0, MOST_PODS).map(podNameAndUid).join(', ')
  return {
    code: 'AmbiguousName',
    message: `${typed(name, flag)} matches ${pods.length} pods: ${names}`,
    hint: 'Give NAMESPACE/NAME or the whole UID.',
  }
}

/** Of names behind a command. */
export interface Typed {
  /** Goes on with the hint where nothing has the name. */
  readonly also: string
  /** What was typed, by the flag that it counts as: `va/csi-1` by `--volume csi-1`. */
  readonly words: ReadonlyMap<string, string>
}

/**
 * @throws VolctlError AmbiguousName; NothingNamed, unless the person does without (--ignore-not-found)
 */
export function requireNamed(
  problems: readonly { readonly code: string; readonly message: string; readonly hint?: string | undefined }[],
  ignoreNotFound: boolean,
  { also, words }: Typed = { also: '', words: new Map() },
): void {
  const of = (code: NameFault['code']) => problems.filter((each) => each.code === code)
  const ambiguous = of('AmbiguousName')
  const missing = ignoreNotFound ? [] : of('NothingNamed')
  const [first] = [...ambiguous, ...missing]
  if (first === undefined) return
  const message = [...ambiguous, ...missing].map((problem) => asTyped(problem.message, words)).join('; ')
  const isAmbiguous = ambiguous.length > 0
  const hint = [first.hint ?? '', isAmbiguous ? '' : also].filter((text) => text !== '').join(' ')
  throw new VolctlError(isAmbiguous ? 'AmbiguousName' : 'NothingNamed', message, hint === '' ? {} : { hint })
}

function asTyped(message: string, words: Typed['words']): string {
  const [flag = '', ...rest] = message.split(' matches ')
  return [words.get(flag) ?? flag, ...rest].join(' matches ')
}
