/** What the names of a line are on a node or in a cluster: each is asked of explain, as a person would ask for it. */
import { VolctlError } from '../errors/errors.ts'
import type { Subject, Verdict } from '../explain/explanation.ts'
import { AmbiguousThing } from '../explain/match-name.ts'
import { firstFew } from '../lang/first-few.ts'
import { isPlainWord } from '../lang/plain-word.ts'
import type { NameView } from './line-explanation.ts'
import type { LineName, NameKind } from './line-name.ts'

/** Where names are asked for. */
export interface AskedScope<E> {
  /** @throws VolctlError NotFound, AmbiguousName */
  readonly explain: (what: string) => E
  readonly told: (explained: E) => { readonly subject: Subject; readonly verdict: Verdict }
  /** The unique name of the one volume that it is about; all names of that are one thing. */
  readonly volumeOf: (explained: E) => string | undefined
  /** Its volumes are known. */
  readonly hasVolumes: (explained: E) => boolean
  /** What to ask for, the most telling question first. */
  readonly asksFor: (name: LineName) => readonly string[]
  /** Of what explain is not asked for. */
  readonly unasked: (name: LineName) => Pick<NameView, 'found' | 'says'> | undefined
  readonly absentText: (name: LineName) => string
  /** What asks for one thing there. */
  readonly command: string
}

export interface Resolved<E> {
  readonly view: NameView
  readonly explained?: E
}

/** The nearer to one volume of one pod, the more a name says. */
export const SPECIFIC: readonly NameKind[] = [
  'podVolume',
  'volume',
  'attachment',
  'persistentVolume',
  'claim',
  'path',
  'device',
  'podUid',
  'pod',
  'driver',
]

/** The names of a line, the most telling first, each thing once: a volume that the line calls by three names is one. */
export function resolveNames<E>(names: readonly LineName[], scope: AskedScope<E>): Resolved<E>[] {
  const seen = new Set<string>()
  const rank = ({ kind }: LineName): number => (SPECIFIC.includes(kind) ? SPECIFIC.indexOf(kind) : SPECIFIC.length)
  const all = names.toSorted((a, b) => rank(a) - rank(b)).map((name) => resolveName(name, scope))
  const distinct = all.filter(({ explained }) => {
    if (explained === undefined) return true
    const { kind, name } = scope.told(explained).subject
    const identity = scope.volumeOf(explained) ?? `${kind} ${name}`
    return !seen.has(identity) && seen.add(identity) !== undefined
  })
  return distinct.filter(({ view }) => view.found || !isSecondName(view, distinct, scope))
}

/**
 * What a pod that is gone called its volume is known to nobody any more, and its name less than its UID: where the line names the
 * same in a way that says more, that is enough.
 */
function isSecondName<E>({ kind }: NameView, all: readonly Resolved<E>[], { hasVolumes }: AskedScope<E>): boolean {
  if (kind === 'pod') return all.some(({ view }) => view.kind === 'podUid')
  if (kind !== 'podVolume') return false
  return all.some(({ explained }) => explained !== undefined && hasVolumes(explained))
}

function resolveName<E>(name: LineName, scope: AskedScope<E>): Resolved<E> {
  const named = { kind: name.kind, name: name.name }
  const unasked = scope.unasked(name)
  if (unasked !== undefined) return { view: { ...named, ...unasked } }
  let ambiguous: string | undefined
  for (const ask of scope.asksFor(name)) {
    try {
      const explained = scope.explain(ask)
      const { verdict, subject } = scope.told(explained)
      return { view: { ...named, found: true, says: verdict.message, ask, subject, verdict }, explained }
    } catch (error) {
      if (!(error instanceof VolctlError)) throw error
      if (error instanceof AmbiguousThing) ambiguous = ambiguousText(ask, error, scope.command)
    }
  }
  return { view: { ...named, found: ambiguous !== undefined, says: ambiguous ?? scope.absentText(name) } }
}

const MOST_ALIKE = 3

/** A few of them; the command that lists them fails with all. */
function ambiguousText(ask: string, { asks }: AmbiguousThing, command: string): string {
  const few = firstFew(asks, MOST_ALIKE, 'and ').join(', ')
  const list = asks.length > MOST_ALIKE && isPlainWord(ask) ? `; ${command} ${ask} lists them` : ''
  return `is ambiguous here: ${few}${list}`
}

/** What a person would ask, the most telling question first. Pods of several nodes call their volumes alike. */
export function asksFor({ kind, name, pods = [] }: LineName, here: boolean): string[] {
  switch (kind) {
    case 'podVolume':
      return [...pods.map((pod) => `volume/${pod}/${name}`), `pv/${name}`, ...(here ? [`volume/${name}`] : [])]
    case 'volume':
      return [`volume/${name}`]
    case 'attachment':
      return [`va/${name}`]
    case 'persistentVolume':
      return [`pv/${name}`]
    case 'claim':
      return [`pvc/${name}`]
    case 'podUid':
    case 'pod':
      return [`pod/${name}`]
    case 'driver':
      return [`driver/${name}`]
    case 'device':
    case 'path':
      return [name]
    case 'node':
    case 'configMap':
    case 'secret':
      return []
  }
}
