import { addDoubt } from './doubts.ts'
import { TRUST_HINT, trustedTextIfAny } from './files.ts'

/**
 * A file of this node that says something of its kubelet, if it is there. One that others than root could have written is
 * left out, and that is said (S33). The kubelet would obey it, so that apply changes nothing until that is mended.
 */
export function obeyedTextIfAny(path: string): string | undefined {
  const found = trustedTextIfAny(path)
  if (found.state === 'unusable')
    addDoubt({ what: path, why: `ignored: ${found.why}`, hint: TRUST_HINT, unknown: true })
  return found.state === 'read' ? found.text : undefined
}
