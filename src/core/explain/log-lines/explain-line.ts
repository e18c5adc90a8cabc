/** From a line to the cause: what its names are on this node, and what its sentence means. Pure. */

import { alike } from '../../base/text.ts'
import { advice, type Hint, marked, volctl } from '../../messages/command.ts'
import { VolctlError } from '../../messages/findings.ts'
import { canonicalNodeName, hostnamesOf } from '../../node/kubelet/kubelet-flags.ts'
import { readFailures } from '../../volumes/api-lookup.ts'
import type { NodeSnapshot, NodeState } from '../../volumes/snapshot.ts'
import type { Explained } from '../explain.ts'
import type { Explanation } from '../explanation.ts'
import { Ambiguous } from '../things.ts'
import type { LogLine } from './log-line.ts'
import { type SentenceView, saidBy } from './sentences.ts'
import { ASKED_AS, type LineName, type NameKind, namesIn } from './take-names.ts'

/** What a name of the line is on this node. */
export type NameView = Resolved['view']

/** What `volctl explain 'LINE' -o json` prints. */
export type LineExplanation = ReturnType<typeof explainLine>['answer'] & {
  /** Of the most specific thing that was found. */
  readonly explanation?: Explanation
}

/**
 * @param node absent: it could not be looked at, and nothing is said of names
 * @returns the answer, without an explanation; and what the most specific thing was explained as, unless the line is another node's
 */
export function explainLine(line: LogLine, node: AskedNode | undefined) {
  const said = saidBy(line)
  const snapshot = node?.state.snapshot
  const names = snapshot === undefined ? [] : namesIn(line)
  const otherNode = snapshot && otherNodeOf(line, names, snapshot)
  // What is true there, this node does not show.
  const resolved = node === undefined || otherNode !== undefined ? [] : resolveNames(names, node)
  const found = resolved.filter(({ explained }) => explained !== undefined)
  const about = said?.about && ABOUT[said.about]
  const main = found.find(({ view }) => about?.includes(view.kind)) ?? found[0]
  const unit = otherNode === undefined ? snapshot?.kubelet?.unit : undefined
  const { error: _, said: __, ...shown } = line
  return {
    answer: {
      apiVersion: 'volctl.io/v1',
      kind: 'LineExplanation',
      /** As it was taken apart. */
      line: shown,
      /** Undefined: the node could not be looked at. */
      node: snapshot?.nodeName,
      /** RFC 3339: when the node was looked at. */
      createdAt: snapshot?.capturedAt,
      /** Undefined: volctl does not know the sentence. */
      sentence: said && naming(said, unit, otherNode?.name ?? snapshot?.nodeName),
      /** Which the line is about, or on which it was written, and what that means: its names are looked for there. */
      otherNode,
      /** The one that the explanation is about. */
      main: main?.view,
      /** What the line names, the most telling first. */
      names: resolved.map(({ view }) => view),
    },
    explained: main?.explained,
  }
}

/** With the node's own names in its advice. */
function naming(said: SentenceView, unit = 'kubelet', node = 'NODE'): SentenceView {
  const fill = (slots: string): string => slots.replaceAll('{unit}', unit).replaceAll('{node}', node)
  return { ...said, next: marked(`${said.next}`, fill) }
}

const ABOUT: Readonly<Record<'pod' | 'driver', readonly NameKind[]>> = { pod: ['podUid', 'pod'], driver: ['driver'] }

// Which node a line is about, and what its names are on this one: each is asked of explain, as a person would ask for it.

/** A node that was looked at. */
export interface AskedNode {
  readonly state: NodeState
  /** @throws VolctlError NotFound, AmbiguousName */
  readonly explain: (what: string) => Explained
}

type Resolved = ReturnType<typeof resolveName>

/** The names of a line, the most telling first, each thing once: a volume that the line calls by three names is one. */
function resolveNames(names: readonly LineName[], node: AskedNode): Resolved[] {
  const rank = ({ kind }: LineName): number => Object.keys(ASKED_AS).indexOf(kind)
  const all = names.toSorted((a, b) => rank(a) - rank(b)).map((name) => resolveName(name, node))
  const distinct = alike(all, identityOf).map(([first]) => first)
  return distinct.filter(({ view }) => view.found || !isSecondName(view, distinct))
}

function identityOf({ view, explained }: Resolved): string {
  if (explained === undefined) return `${view.kind} ${view.name}`
  const { subject, volumes } = explained.explanation
  const unique = subject.kind === 'Pod' || volumes.length !== 1 ? undefined : volumes[0]?.volume.uniqueName
  return unique ?? `${subject.kind} ${subject.name}`
}

/**
 * What a pod that is gone called its volume is known to nobody any more, and its name less than its UID: where the line names the
 * same in a way that says more, that is enough.
 */
function isSecondName({ kind }: NameView, all: readonly Resolved[]): boolean {
  if (kind === 'pod') return all.some(({ view }) => view.kind === 'podUid')
  return kind === 'podVolume' && all.some(({ explained }) => (explained?.explanation.volumes.length ?? 0) > 0)
}

/** In one line what it is: the verdict on it, or that there is no such thing; and what to ask volctl explain for, where it was found. */
function resolveName({ kind, name, pods }: LineName, { state: { snapshot }, explain }: AskedNode) {
  if (kind === 'node') {
    const found = isThisNode(snapshot, name)
    return { view: { kind, name, found, says: found ? 'this node' : `another node; this one is ${snapshot.nodeName}` } }
  }
  let ambiguous: Hint | undefined
  // What a person would ask, the most telling question first.
  for (const ask of [...(pods ?? []).map((pod) => `volume/${pod}/${name}`), ...ASKED_AS[kind].map((as) => as + name)]) {
    try {
      const explained = explain(ask)
      const { verdict, subject } = explained.explanation
      return { view: { kind, name, found: true, says: verdict.message, ask, subject, verdict }, explained }
    } catch (error) {
      if (!(error instanceof VolctlError)) throw error
      if (error instanceof Ambiguous)
        ambiguous = advice`is ambiguous here: ${volctl('explain', ask)} lists what has this name`
    }
  }
  return { view: { kind, name, found: ambiguous !== undefined, says: ambiguous ?? notFoundText(snapshot, kind) } }
}

/** What could not be read may be there (S3). */
function notFoundText({ api }: NodeSnapshot, kind: NameKind): string {
  const absent =
    kind === 'podUid'
      ? "no such pod of this node in the API or on its disk: the directory was removed meanwhile, or it is another node's"
      : 'nothing of this name is in the API or on this node'
  const isUnknown = api !== undefined && readFailures(api.errors).some(({ notFound }) => !notFound)
  return isUnknown ? `${absent}; but not everything in the API could be read` : absent
}

/** The other node that the line is about, and not this one. */
function otherNodeOf({ host, program = '' }: LogLine, names: readonly LineName[], snapshot: NodeSnapshot) {
  const { nodeName } = snapshot
  const named = names.filter(({ kind }) => kind === 'node').map(({ name }) => name)
  const own = named.some((name) => isThisNode(snapshot, name))
  // kubelet, kubelet.service, snap's kubelite, a wrapper of a distribution.
  const isKubelets = /kubel(?:et|ite)/.test(program)
  // A controller writes on its own host about all nodes.
  if (host !== undefined && !isThisNode(snapshot, host) && (isKubelets || !own))
    return { name: host, says: `this line was written on ${host}, and this is ${nodeName}: run volctl there` }
  // A kubelet writes about its own node; drivers call that by the cloud's name for it.
  const [other] = own || (isKubelets && host !== undefined) ? [] : named
  return other === undefined
    ? undefined
    : { name: other, says: `the line is about node ${other}, and this one is ${nodeName}: run volctl explain there` }
}

/** By the name of the node, or of its host: with --hostname-override the two differ. */
function isThisNode(snapshot: NodeSnapshot, name: string): boolean {
  return hostnamesOf(snapshot).some((each) => sameName(canonicalNodeName(each), canonicalNodeName(name)))
}

/** With its domain or without. */
function sameName(a: string, b: string): boolean {
  return a === b || a.startsWith(`${b}.`) || b.startsWith(`${a}.`)
}
