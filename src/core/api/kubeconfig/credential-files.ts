/** Certificates, keys and tokens of a kubeconfig, inline or in files that it names. */

import { errnoOf } from '../../errors/errors.ts'
import { NotTrusted, readTrusted, TRUST_HINT, whyUnusable } from '../../trust/files.ts'
import type { Fields } from './normalize-kube-config.ts'
import { PassedOver } from './search-errors.ts'

/**
 * Reads such a file as it is now, since they rotate (N42, N44). Only trusted files: who can write a certificate authority
 * decides which server volctl trusts, and who can write a token decides whose rights volctl uses (S33).
 *
 * @param source the kubeconfig, for messages
 * @throws VolctlError KubeconfigUnsafe, CredentialFailed
 */
export function readCredentialFile(path: string, source: string): Buffer {
  try {
    return readTrusted(path)
  } catch (error) {
    if (error instanceof NotTrusted) {
      throw new PassedOver('KubeconfigUnsafe', `${path}, which ${source} names, is not used: ${error.why}.`, {
        cause: error,
        hint: TRUST_HINT,
      })
    }
    const errno = errnoOf(error)
    const why = errno === undefined || errno === 'TOO_LARGE' ? `: ${whyUnusable(path, error)}` : ` (${errno})`
    throw new PassedOver('CredentialFailed', `${path}, which ${source} names, cannot be read${why}.`, {
      hint: 'Run volctl as root, or check the file.',
    })
  }
}

/** The inline `NAME-data`, otherwise the file NAME; inline data wins, as with kubectl. */
export function dataOrFile(fields: Fields, name: string, source: string): Buffer | undefined {
  const { [`${name}-data`]: data, [name]: path } = fields
  if (typeof data === 'string' && data !== '') return Buffer.from(data, 'base64')
  return typeof path === 'string' && path !== '' ? readCredentialFile(path, source) : undefined
}
