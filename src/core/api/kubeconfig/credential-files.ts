/** The certificates, keys and tokens that a kubeconfig names, in it or in files beside it. */
import { errnoOf, VolctlError } from '../../errors/errors.ts'
import { NotTrusted, readTrusted, TRUST_HINT, whyUnusable } from '../../trust/files.ts'
import type { Fields } from './normalize-kube-config.ts'

/**
 * Such a file, as it is now: they rotate (N42, N44). Through the gate, since who may write a certificate authority says
 * whom volctl believes, and who may write a token or a certificate says as whom it asks (S33).
 *
 * @param source the kubeconfig, for messages
 * @throws VolctlError CredentialUnsafe, CredentialUnreadable
 */
export function readCredentialFile(path: string, source: string): Buffer {
  try {
    return readTrusted(path)
  } catch (error) {
    if (error instanceof NotTrusted) {
      throw new VolctlError('CredentialUnsafe', `${path}, which ${source} names, is not used: ${error.why}.`, {
        cause: error,
        hint: TRUST_HINT,
      })
    }
    const errno = errnoOf(error)
    const why = errno === undefined || errno === 'TOO_LARGE' ? `: ${whyUnusable(path, error)}` : ` (${errno})`
    throw new VolctlError('CredentialUnreadable', `${path}, which ${source} names, cannot be read${why}.`, {
      hint: 'Run as root, or check the file.',
    })
  }
}

/** `NAME-data` as it stands there, else the file NAME; data wins as with kubectl. */
export function dataOrFile(fields: Fields, name: string, source: string): Buffer | undefined {
  const { [`${name}-data`]: data, [name]: path } = fields
  if (typeof data === 'string' && data !== '') return Buffer.from(data, 'base64')
  return typeof path === 'string' && path !== '' ? readCredentialFile(path, source) : undefined
}
