/** What people type, as kubectl's users do: `pod web-0 -n shop`, `po/web-0`, `persistentvolumeclaim/shop/data`. */

import { VolctlError } from '../errors/errors.ts'
import type { SubjectKind } from './explanation.ts'
import { kindOf, splitPrefix } from './kinds.ts'

const NAMESPACED: ReadonlySet<SubjectKind> = new Set(['Pod', 'PersistentVolumeClaim'])

/**
 * One question from the words of a command line.
 *
 * @param words WHAT, or a kind and a name
 * @param namespace of --namespace: of pods and claims that are named without one
 * @throws VolctlError Usage
 */
export function typedQuestion([first = '', second]: readonly string[], namespace?: string): string {
  return inNamespace(second === undefined ? first : ofKind(first, second), namespace)
}

/** `pod web-0` as `pod/web-0`; the kind may be said twice. */
function ofKind(word: string, name: string): string {
  const kind = kindOf(word)
  if (kind === undefined) {
    throw new VolctlError('Usage', `two words were given, and "${word}" is no kind of thing that explain knows`, {
      hint: 'The kinds are pod, pvc, pv, va, driver, volume, node, device, mount and path. Give one WHAT, or a kind and a name: volctl explain pod NAME -n NAMESPACE',
    })
  }
  return splitPrefix(name).kind === kind ? name : `${word}/${name}`
}

function inNamespace(what: string, namespace: string | undefined): string {
  const { kind, name } = splitPrefix(what)
  const takesOne = kind === undefined ? !what.startsWith('/') : NAMESPACED.has(kind)
  if (namespace === undefined || !takesOne) return what
  const slash = name.indexOf('/')
  if (slash < 0) return `${what.slice(0, what.length - name.length)}${namespace}/${name}`
  // NAMESPACE/POD/VOLUME is in a namespace as well.
  const given = name.slice(0, slash)
  if (given === namespace) return what
  throw new VolctlError('Usage', `"${what}" names namespace ${given}, and --namespace is ${namespace}`, {
    hint: 'Leave one of them out.',
  })
}
