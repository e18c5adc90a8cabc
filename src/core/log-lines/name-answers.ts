/** What the names of a line are on a node: each is asked of explain, as a person would ask for it. */
import { VolctlError } from '../errors/errors.ts'
import { type Explained, explainer } from '../explain/explain.ts'
import type { Explanation } from '../explain/explanation.ts'
import { AmbiguousThing } from '../explain/match-name.ts'
import { firstFew } from '../lang/first-few.ts'
import { onceFor } from '../lang/once-for.ts'
import { isPlainWord } from '../lang/plain-word.ts'
import type { NodeState } from '../model/node-state.ts'
import type { Given } from '../plan/next-steps.ts'
import type { Decided } from '../reconcile/decisions.ts'
import { elsewhereAnswer, notFoundText, objectAnswer } from './absent-names.ts'
import type { NameView } from './line-explanation.ts'
import type { LineName, NameKind } from './line-name.ts'

/** One look at a node, for several lines about it. */
export interface AskedNode {
  readonly state: NodeState
  /** @throws VolctlError NotFound, AmbiguousName */
  readonly explain: (what: string) => Explained
}

export interface Resolved {
  readonly view: NameView
  readonly explained?: Explained
}

/** @param decided the pass over it @param given what proposed commands are made of */
export function askedNode(state: NodeState, decided: Decided, given?: Given): AskedNode {
  const made = onceFor((of: Decided) => explainer(of, given))
  const answers = new Map<string, Explained | VolctlError>()
  const explain = (what: string): Explained => {
    const answer = answers.get(what) ?? answered(() => made(decided)(what))
    answers.set(what, answer)
    if (answer instanceof VolctlError) throw answer
    return answer
  }
  return { state, explain }
}

function answered(ask: () => Explained): Explained | VolctlError {
  try {
    return ask()
  } catch (error) {
    if (error instanceof VolctlError) return error
    throw error
  }
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

/**
 * The names of a line, the most telling first, each thing once: a volume that the line calls by three names is one.
 * @param there the other node that the line is about: what is local to it is not looked for
 */
export function resolveNames(node: AskedNode, names: readonly LineName[], there?: string): Resolved[] {
  const seen = new Set<string>()
  const rank = ({ kind }: LineName): number => (SPECIFIC.includes(kind) ? SPECIFIC.indexOf(kind) : SPECIFIC.length)
  const all = names.toSorted((a, b) => rank(a) - rank(b)).map((name) => resolveName(node, name, there))
  const distinct = all.filter(({ explained }) => {
    const identity = explained === undefined ? undefined : identityOf(explained.explanation)
    if (identity === undefined) return true
    return !seen.has(identity) && seen.add(identity) !== undefined
  })
  return distinct.filter(({ view }) => view.found || !isSecondName(view, distinct))
}

/**
 * What a pod that is gone called its volume is known to nobody any more, and its name less than its UID: where the line names the
 * same in a way that says more, that is enough.
 */
function isSecondName({ kind }: NameView, all: readonly Resolved[]): boolean {
  if (kind === 'pod') return all.some(({ view }) => view.kind === 'podUid')
  if (kind !== 'podVolume') return false
  return all.some(({ view, explained }) => view.found && (explained?.explanation.volumes.length ?? 0) > 0)
}

/** A volume by its unique name, so that all its names are one thing; a path by itself. */
function identityOf({ subject, volumes }: Explanation): string {
  const [first] = volumes
  const own = subject.kind === 'Pod' || volumes.length !== 1 ? undefined : first?.volume.uniqueName
  return own ?? `${subject.kind} ${subject.name}`
}

function resolveName(node: AskedNode, name: LineName, there: string | undefined): Resolved {
  const object = objectAnswer(node.state, name) ?? (there === undefined ? undefined : elsewhereAnswer(name, there))
  if (object !== undefined) return { view: object }
  let ambiguous: string | undefined
  for (const ask of asksFor(name, there === undefined)) {
    try {
      const explained = node.explain(ask)
      const { verdict, subject } = explained.explanation
      const found = { kind: name.kind, name: name.name, found: true, says: verdict.message, ask, subject, verdict }
      return { view: found, explained }
    } catch (error) {
      if (!(error instanceof VolctlError)) throw error
      if (error instanceof AmbiguousThing) ambiguous = ambiguousText(ask, error)
    }
  }
  const says = ambiguous ?? notFoundText(node.state, name)
  return { view: { kind: name.kind, name: name.name, found: ambiguous !== undefined, says } }
}

const MOST_ALIKE = 3

/** A few of them; the command that lists them fails with all. */
function ambiguousText(ask: string, { asks }: AmbiguousThing): string {
  const few = firstFew(asks, MOST_ALIKE, 'and ').join(', ')
  const list = asks.length > MOST_ALIKE && isPlainWord(ask) ? `; volctl explain ${ask} lists them` : ''
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
