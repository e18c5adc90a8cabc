/** What a name may mean among all that has names on a node: whole names before the beginnings of UIDs. */

import { volctl } from '../base/command.ts'
import { VolctlError } from '../base/errors.ts'
import { take } from '../base/take.ts'
import type { SubjectKind } from './explanation.ts'
import { splitPrefix } from './kinds.ts'

/** Something that can be asked about. */
export interface Nameable {
  /** What to ask for, to mean this and nothing else. */
  readonly ask: string
  readonly names: readonly string[]
  /** A few words that distinguish it from others of its name. */
  readonly about: string
  readonly target: { readonly kind: SubjectKind }
  /** Identifies the volume that is behind it; undefined: there is none. */
  readonly volume?: unknown
}

/** All that the name may mean; several: it is ambiguous. @param what a name, or kind/name */
export function matching<C extends Nameable>(candidates: readonly C[], what: string): readonly C[] {
  const { kind, name } = splitPrefix(what)
  const ofKind = kind === undefined ? [] : candidates.filter(({ target }) => target.kind === kind)
  // A namespace may be called like a kind; a name comes before the beginning of another.
  const found = [
    named(ofKind, name),
    oneForEachVolume(named(candidates, what)),
    beginning(kind === undefined ? candidates : ofKind, name),
  ].find((each) => each.length > 0)
  return found ?? []
}

function named<C extends Nameable>(candidates: readonly C[], name: string): C[] {
  return candidates.filter(({ names }) => names.includes(name))
}

/** Long enough not to be a name by chance; `csi-` begins the names of VolumeAttachments. */
const BEGINNING = /^(?:csi-)?[0-9a-f]{3}[0-9a-f-]*$/
const WHOLE = /^(?:csi-)?[0-9a-f]{8}[0-9a-f-]{24,}$/

/** The beginning of a UID, or of an attachment's name, as crictl and docker take the beginning of an ID. */
function beginning<C extends Nameable>(candidates: readonly C[], text: string): C[] {
  if (!BEGINNING.test(text)) return []
  return candidates.filter(
    ({ names, target }) => target.kind !== 'Volume' && names.some((name) => name.startsWith(text) && WHOLE.test(name)),
  )
}

const RANKS: readonly SubjectKind[] = ['PersistentVolumeClaim', 'PersistentVolume', 'VolumeAttachment', 'Volume']

/** A claim, its PersistentVolume and the volume on disk are one thing, and often have one name. */
function oneForEachVolume<C extends Nameable>(found: readonly C[]): C[] {
  return found.filter(({ volume, target }) => {
    if (volume === undefined) return true
    const alike = found.filter((each) => each.volume === volume)
    return alike.every((each) => RANKS.indexOf(each.target.kind) >= RANKS.indexOf(target.kind))
  })
}

const MOST_CANDIDATES = 10

/** Several things have the name: what to ask for instead, each with a few words about it. */
export class AmbiguousThing extends VolctlError {
  /** @param place "on node a" */
  constructor(place: string, what: string, found: readonly Nameable[]) {
    const asks = found.map(({ ask, about }) => `${ask} (${about})`)
    const message = `"${what}" is ambiguous ${place}: ${take(asks, MOST_CANDIDATES).join(', ')}`
    super('AmbiguousName', message, { hint: `Name one of them: ${volctl('explain', found[0]?.ask ?? what)}` })
  }
}
