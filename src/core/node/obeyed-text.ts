import { addDoubt } from '../trust/doubts.ts'
import { TRUST_HINT, trustedTextIfAny } from '../trust/files.ts'

/**
 * A file of this node that says something of its kubelet, if it is there. One that others than root could have written is
 * left out, as if it were not there, and that is said once (S33).
 */
export function obeyedTextIfAny(path: string): string | undefined {
  const found = trustedTextIfAny(path)
  if (found.state === 'unusable') addDoubt({ what: path, why: `it is not obeyed: ${found.why}`, hint: TRUST_HINT })
  return found.state === 'read' ? found.text : undefined
}
