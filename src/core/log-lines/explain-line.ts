/** From a line to the cause: what its names are on this node, and what its sentence means. Pure. */
import { readFailures } from '../desired/read-failures.ts'
import { VolctlError } from '../errors/errors.ts'
import type { Explained } from '../explain/explain.ts'
import type { Explanation, Place, Verdict, VolumeView } from '../explain/explanation.ts'
import { AmbiguousThing } from '../explain/match-name.ts'
import { shellWord, volctl } from '../lang/command.ts'
import { count } from '../lang/count.ts'
import { defined } from '../lang/defined.ts'
import { firstFew } from '../lang/first-few.ts'
import type { NodeState } from '../model/node-state.ts'
import type { NodeSnapshot } from '../model/snapshot.ts'
import { canonicalNodeName } from '../node/kubelet/canonical-node-name.ts'
import type { LineAnswer, NameView, SentenceView } from './line-explanation.ts'
import type { LogLine } from './log-line.ts'
import { type Said, saidBy } from './said-by.ts'
import { type LineName, type NameKind, namesIn } from './take-names.ts'

/**
 * @param node absent: it could not be looked at, and nothing is said of names
 * @returns the answer; and what the most specific thing was explained as, unless the line is another node's
 */
export function explainLine(
  line: LogLine,
  node: AskedNode | undefined,
): { readonly answer: LineAnswer; readonly explained?: Explained } {
  const said = saidBy(line)
  if (node === undefined) return { answer: { ...defined({ sentence: said && viewOf(said) }), names: [] } }
  const names = namesIn(line)
  const { otherNode, elsewhere } = placeOf(line, names, node.state.snapshot)
  const there = elsewhere ? otherNode?.name : undefined
  const resolved = resolveNames(names, node, there)
  const main = mainOf(resolved, said?.about)
  const left = main?.explained === undefined || elsewhere ? [] : leftVolumes(main.explained.explanation)
  return {
    answer: {
      ...defined({
        sentence: said && viewOf(said, node.state, there),
        otherNode,
        main: main?.view,
        left: left.length > 0 ? left : undefined,
      }),
      names: resolved.map(({ view }) => view),
    },
    ...(elsewhere ? {} : defined({ explained: main?.explained })),
  }
}

/** @param there the other node that the line is about */
function viewOf({ about: _, ...said }: Said, state?: NodeState, there?: string): SentenceView {
  const { kubelet, nodeName = 'NODE' } = { ...state?.snapshot }
  const unit = (there === undefined ? kubelet?.unit : undefined) ?? 'kubelet'
  const next = said.next.replace(/([\w.]+=)?\{(unit|node)\}/g, (_, before = '', what) =>
    shellWord(before + (what === 'unit' ? unit : (there ?? nodeName))),
  )
  return { ...said, next }
}

const FIRST: Readonly<Record<'pod' | 'driver', readonly NameKind[]>> = { pod: ['podUid', 'pod'], driver: ['driver'] }
const WORST: readonly Verdict['state'][] = ['problem', 'blocked', 'waiting', 'operation', 'nothing']

/** Of several alike the one that is worst off. */
function mainOf(resolved: readonly Resolved[], about: Said['about']): Resolved | undefined {
  const order = [...(about === undefined ? [] : FIRST[about]), ...SPECIFIC, 'node']
  const found = resolved.filter(({ explained }) => explained !== undefined)
  const rank = ({ view }: Resolved): number => order.indexOf(view.kind)
  const worst = ({ view }: Resolved): number => WORST.indexOf(view.verdict?.state ?? 'nothing')
  return found.toSorted((a, b) => rank(a) - rank(b) || worst(a) - worst(b))[0]
}

/** What is left on disk of a pod that is gone, a volume each, and why the kubelet does not clean it up; of another subject none. */
function leftVolumes({ subject, pods, volumes, inputs }: Explanation): string[] {
  if (subject.kind !== 'Pod') return []
  const gone = new Set(pods.flatMap((each) => (each.class === 'Gone' ? each.pod.uid : [])))
  return volumes.flatMap((view) => {
    const places = view.places.filter(({ pod, exists }) => exists && pod !== undefined && gone.has(pod.uid))
    return places.length === 0 ? [] : [leftText(view, places, inputs.kubelet.state === 'running')]
  })
}

function leftText(
  { volume: { name, plugin, mode }, verdict }: VolumeView,
  places: readonly Place[],
  isKubeletUp: boolean,
): string {
  const of = (role: Place['role']): Place[] => places.filter((place) => place.role === role)
  const mounted = [...of('target'), ...of('map')].some(({ mounts }) => mounts.length > 0)
  const subPaths = of('subPath').length
  const what = mounted
    ? 'is mounted'
    : subPaths > 0
      ? `has ${count(subPaths, 'sub-path')} mounted`
      : 'has its directory left'
  const dead = places.find((place) => place.dead !== undefined)
  const [file] = of('stateFile')
  const because = (): string | undefined => {
    if (dead) return `its mount is dead: ${dead.dead}`
    if (plugin === 'kubernetes.io/csi' && mode === 'Filesystem') {
      if (file === undefined && of('target').length > 0)
        return `vol_data.json of ${name} is missing: the kubelet does not know its driver, and leaves it for ever`
      if (file?.state.startsWith('unusable')) return `vol_data.json of ${name} is ${file.state}`
    }
    if (!mounted && subPaths > 0)
      return 'its own directory is gone, and the kubelet takes sub-paths off with that alone'
    if (!mounted && file !== undefined) return 'a file is left in it, and the kubelet removes empty directories alone'
    // What blocks an emptyDir is its content, which volctl deletes on request alone: no reason of the kubelet's.
    if (verdict.state === 'problem') return verdict.message
    if (verdict.state === 'blocked' && plugin !== 'kubernetes.io/empty-dir') return verdict.message
    return isKubeletUp ? undefined : 'no kubelet runs on this node'
  }
  const why = because()
  return `volume ${name} ${what}${why === undefined ? '' : `; ${why}`}`
}

// Which node a line is about, and what its names are on this one: each is asked of explain, as a person would ask for it. What
// is local to another node is not looked for here.

/** A node that was looked at. */
export interface AskedNode {
  readonly state: NodeState
  /** @throws VolctlError NotFound, AmbiguousName */
  readonly explain: (what: string) => Explained
}

interface Resolved {
  readonly view: NameView
  readonly explained?: Explained
}

/** The nearer to one volume of one pod, the more a name says. */
const SPECIFIC: readonly NameKind[] = [
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
 *
 * @param there the other node that the line is about: what is local to it is not looked for
 */
function resolveNames(names: readonly LineName[], node: AskedNode, there?: string): Resolved[] {
  const seen = new Set<string>()
  const rank = ({ kind }: LineName): number => (SPECIFIC.includes(kind) ? SPECIFIC.indexOf(kind) : SPECIFIC.length)
  const all = names.toSorted((a, b) => rank(a) - rank(b)).map((name) => resolveName(name, node, there))
  const distinct = all.filter(({ explained }) => {
    if (explained === undefined) return true
    const { subject, volumes } = explained.explanation
    const unique = subject.kind === 'Pod' || volumes.length !== 1 ? undefined : volumes[0]?.volume.uniqueName
    const identity = unique ?? `${subject.kind} ${subject.name}`
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
  return kind === 'podVolume' && all.some(({ explained }) => (explained?.explanation.volumes.length ?? 0) > 0)
}

function resolveName({ kind, name, pods }: LineName, node: AskedNode, there: string | undefined): Resolved {
  const unasked = unaskedState(node.state.snapshot, kind, name, there)
  if (unasked !== undefined) return { view: { kind, name, ...unasked } }
  let ambiguous: string | undefined
  for (const ask of asksFor({ kind, name, ...(pods && { pods }) }, there === undefined)) {
    try {
      const explained = node.explain(ask)
      const { verdict, subject } = explained.explanation
      return { view: { kind, name, found: true, says: verdict.message, ask, subject, verdict }, explained }
    } catch (error) {
      if (!(error instanceof VolctlError)) throw error
      if (error instanceof AmbiguousThing) ambiguous = ambiguousText(ask, error)
    }
  }
  const says = ambiguous ?? notFoundText(node.state.snapshot, kind)
  return { view: { kind, name, found: ambiguous !== undefined, says } }
}

const MOST_ALIKE = 3

/** A few of them; the command that lists them fails with all. */
function ambiguousText(ask: string, { asks }: AmbiguousThing): string {
  const few = firstFew(asks, MOST_ALIKE, 'and ').join(', ')
  const list = asks.length > MOST_ALIKE ? `; ${volctl('explain', ask)} lists them` : ''
  return `is ambiguous here: ${few}${list}`
}

/** What a person would ask, the most telling question first. Pods of several nodes call their volumes alike. */
function asksFor({ kind, name, pods = [] }: LineName, here: boolean): string[] {
  if (kind === 'podVolume')
    return [...pods.map((pod) => `volume/${pod}/${name}`), `pv/${name}`, ...(here ? [`volume/${name}`] : [])]
  return [`${ASKED_AS[kind] ?? ''}${name}`]
}

const ASKED_AS: Readonly<Partial<Record<NameKind, string>>> = {
  volume: 'volume/',
  attachment: 'va/',
  persistentVolume: 'pv/',
  claim: 'pvc/',
  podUid: 'pod/',
  pod: 'pod/',
  driver: 'driver/',
}

/** What each node has its own. */
const LOCAL: readonly NameKind[] = ['path', 'device', 'driver']

/** Of what explain is not asked for; undefined for all else. */
function unaskedState(
  snapshot: NodeSnapshot,
  kind: NameKind,
  name: string,
  there: string | undefined,
): Pick<NameView, 'found' | 'says'> | undefined {
  if (kind === 'node')
    return isThisNode(snapshot, name)
      ? { found: true, says: 'this node' }
      : { found: false, says: `another node; this one is ${snapshot.nodeName}` }
  if (there === undefined || !LOCAL.includes(kind)) return undefined
  return { found: false, says: `it is on ${there}, and was not looked for here` }
}

const ABSENT: Readonly<Partial<Record<NameKind, string>>> = {
  volume: 'no pod of this node wants this volume, and nothing of it is on the node',
  attachment: 'no such VolumeAttachment any more',
  path: 'nothing of a volume is there now',
  device: 'no mount and no volume of this node is on it',
  podUid:
    "no such pod of this node in the API or on its disk: the directory was removed meanwhile, or it is another node's",
}

/** What could not be read may be there (S3). */
function notFoundText({ api }: NodeSnapshot, kind: NameKind): string {
  const absent = ABSENT[kind] ?? 'nothing of this name is in the API or on this node'
  const isUnknown = api !== undefined && readFailures(api.errors).some(({ notFound }) => !notFound)
  return isUnknown ? `${absent}; but not everything in the API could be read` : absent
}

interface LinePlace {
  readonly otherNode?: NonNullable<LineAnswer['otherNode']>
  /** The line is another node's alone. */
  readonly elsewhere: boolean
}

function placeOf(line: LogLine, names: readonly LineName[], snapshot: NodeSnapshot): LinePlace {
  const { host, program = '' } = line
  const { nodeName } = snapshot
  const named = names.filter(({ kind }) => kind === 'node').map(({ name }) => name)
  const other = named.find((name) => !isThisNode(snapshot, name))
  const own = named.some((name) => isThisNode(snapshot, name))
  // kubelet, kubelet.service, snap's kubelite, a wrapper of a distribution.
  const isKubelets = /kubel(?:et|ite)/.test(program)
  // A controller writes on its own host about all nodes.
  if (host !== undefined && !isThisNode(snapshot, host) && (isKubelets || !own))
    return elsewhere(host, `this line was written on ${host}, and this is ${nodeName}: run volctl there`)
  if (other === undefined) return { elsewhere: false }
  // A kubelet writes about its own node; drivers call that by the cloud's name for it.
  if (own || (isKubelets && host !== undefined)) {
    const says = `the line also names node ${other}; this one is ${nodeName}: run volctl explain on both`
    return { otherNode: { name: other, says }, elsewhere: false }
  }
  return elsewhere(other, `the line is about node ${other}, and this one is ${nodeName}: run volctl explain there`)
}

function elsewhere(name: string, says: string): LinePlace {
  return { otherNode: { name, says }, elsewhere: true }
}

/** By the name of the node, or of its host: with --hostname-override the two differ. */
function isThisNode({ nodeName, api }: NodeSnapshot, name: string): boolean {
  const { metadata, status } = api?.node ?? {}
  const addresses = (status?.addresses ?? []).filter(({ type }) => type === 'Hostname')
  const own = [nodeName, metadata?.labels?.['kubernetes.io/hostname'], ...addresses.map(({ address }) => address)]
  return own.some((each) => each !== undefined && sameName(canonicalNodeName(each), canonicalNodeName(name)))
}

/** With its domain or without. */
function sameName(a: string, b: string): boolean {
  return a === b || a.startsWith(`${b}.`) || b.startsWith(`${a}.`)
}
