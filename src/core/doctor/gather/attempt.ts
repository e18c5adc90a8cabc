import { ApiError } from '../../api/api-error.ts'
import { PodListsDisagree } from '../../api/node-objects.ts'
import { codeOf, errorMessage, VolctlError } from '../../errors/errors.ts'
import { defined } from '../../lang/defined.ts'
import { WrongNamespace } from '../../node/read-mountinfo.ts'
import type { Failure } from '../facts.ts'

/** What was read, or why it could not be. */
export type Attempt<T> = { readonly value: T; readonly failure?: undefined } | { readonly failure: Failure }

/**
 * Nothing that fails hides anything else.
 *
 * @throws WrongNamespace alone: then all has to be read elsewhere
 */
export async function attempt<T>(work: () => T | Promise<T>): Promise<Attempt<T>> {
  try {
    return { value: await work() }
  } catch (error) {
    if (error instanceof WrongNamespace && process.geteuid?.() === 0) throw error
    return { failure: failureOf(error) }
  }
}

export function resultOf<T>(tried: Attempt<T>): T | undefined {
  return tried.failure === undefined ? tried.value : undefined
}

function failureOf(error: unknown): Failure {
  const hint = error instanceof VolctlError ? error.hint : undefined
  return { message: errorMessage(error), ...defined({ code: codeOf(error), hint, is: whatOf(error) }) }
}

function whatOf(error: unknown): Failure['is'] {
  if (error instanceof PodListsDisagree) return 'podListsDisagree'
  if (!(error instanceof ApiError)) return undefined
  if (error.isSilence) return 'silence'
  if (error.trouble === 'tls') return 'tls'
  return error.status === 401 ? 'unauthorized' : undefined
}
