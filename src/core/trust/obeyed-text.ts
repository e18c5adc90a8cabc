import { addDoubt } from './doubts.ts'
import { TRUST_HINT, trustedTextIfAny } from './files.ts'

/**
 * The text of a file with the kubelet's configuration, if it exists. A file that others than root could have written is
 * ignored and reported (S33). The kubelet itself would use it, so apply changes nothing until the file is corrected.
 */
export function obeyedTextIfAny(path: string): string | undefined {
  const found = trustedTextIfAny(path)
  if (found.state === 'unusable')
    addDoubt({ what: path, why: `ignored: ${found.why}`, hint: TRUST_HINT, unknown: true })
  return found.state === 'read' ? found.text : undefined
}
