/**
 * What the names of flags mean in a cluster: which pods --pod names, what a plan is narrowed to, which names nothing has, and of each
 * volume on each node that a name means how it stands.
 */

import { compareText, take, unlessEmpty } from '../../base/text.ts'
import { namespacedName } from '../../kube/api/names.ts'
import { type Hint, marked, said } from '../../messages/findings.ts'
import type { ClusterAbout, ClusterStand } from '../../plan/cluster-plan.ts'
import { ambiguousPods, nameFaults, podsCalled } from '../../plan/names.ts'
import type { Refusal } from '../../plan/plan.ts'
import { foundOf } from '../../volumes/api-lookup.ts'
import { type PodRef, rowsOf, type Subject } from '../../volumes/finding.ts'
import type { ClusterContext } from '../model/cluster-context.ts'
import { attachedRef, ON_API, ofPod, podRef, type Said, saidOf, subjectOf, unresolvedKey } from '../model/findings.ts'
import { type Attached, isWanted, podsOf, type Row } from '../model/rows.ts'
import { isExclusive, NOT_ATTACHED, volumeRef } from '../model/volumes.ts'

type Scope = ReturnType<typeof scopeOf>

/** What --node, --pod, --namespace and --volume name: everything where the flag is not given. */
export function scopeOf({ state, objects, options, rows }: ClusterContext) {
  const { nodes = [], pods = [], volumes = [], namespaces = [] } = options
  // A snapshot of before has pods without a node as well, of which there is nothing to say.
  const scheduled = state.pods.filter(({ node }) => node !== undefined)
  const found = pods.map((given) => ({ given, pods: podsCalled(given, { pods: scheduled }, (pod) => pod) }))
  // Of a name that several pods have, none is taken.
  const uids = new Set(found.flatMap((each) => (each.pods.length === 1 ? each.pods.map(({ uid }) => uid) : [])))
  const isPod = ({ uid, namespace = '' }: PodRef): boolean =>
    (pods.length === 0 || uids.has(uid)) && (namespaces.length === 0 || namespaces.includes(namespace))
  // A claim means the PersistentVolume that it is bound to, and that its volume.
  const names = new Set(
    volumes.flatMap((name) => {
      const [namespace = '', own = ''] = name.split('/')
      const bound = foundOf(objects.claim(namespace, own))?.volumeName ?? name
      return [name, bound, foundOf(objects.volume(bound))?.uniqueName ?? bound]
    }),
  )
  const attached = new Set(
    state.attachments.flatMap(({ name, persistentVolume = '' }) => (names.has(name) ? persistentVolume : [])),
  )
  /** Also pods that have on another node what only one may have; and in the place of nobody's the namespace of the claim. */
  const usersOf = ({ pods: own = [], volume, nodes: on }: ClusterAbout, what: Named): PodRef[] => {
    const { uniqueName = '', claim } = { ...volume }
    const having = rows.ofVolume.of(uniqueName).filter((row) => isExclusive(row.volume) || on?.includes(row.node))
    const users = what === 'operation' ? madeRoomFor(having.filter(isWanted)) : having.flatMap(podsOf)
    return [...own, ...users, ...(claim ? [{ uid: '', namespace: claim.split('/', 1)[0] }] : [])]
  }
  const namesOf = ({ volume, claim, attachment }: ClusterAbout): string[] => {
    const { name, uniqueName, handle, persistentVolume, claim: its } = { ...volume }
    return [name, uniqueName, handle, persistentVolume, its, claim, attachment].filter((each) => each !== undefined)
  }
  return {
    scheduled,
    unmatched: found.flatMap((each) => (each.pods.length === 0 ? each.given : [])),
    ambiguous: found.filter((each) => each.pods.length > 1),
    isNamed: (about: ClusterAbout, what: Named): boolean => {
      const isFinding = what === 'finding'
      const fits = <T>(given: readonly string[], has: () => readonly T[], is: (each: T) => boolean): boolean =>
        given.length === 0 || has().some(is) || (isFinding && has().length === 0)
      return (
        fits(
          nodes,
          () => about.nodes ?? [],
          (name) => nodes.includes(name),
        ) &&
        fits([...pods, ...namespaces], () => usersOf(about, what), isPod) &&
        fits(
          volumes,
          () => namesOf(about),
          (name) => names.has(name) || (isFinding && attached.has(name)),
        )
      )
    },
  }
}

/** A finding is a wait or a problem: what is about no node, no pod or no volume at all is left out by none of these flags. */
type Named = 'operation' | 'finding' | 'stand'

/**
 * Nothing is detached for the name of a pod whose claim merely names the volume, which may be others', or while pods of another node want
 * the volume, too.
 */
function madeRoomFor([wanted, ...others]: readonly Row[]): readonly PodRef[] {
  return others.length === 0 ? (wanted?.pods ?? []) : []
}

// Names given with --node, --pod, --namespace, --volume and --node-gone that match nothing: after a typo all would look well.

export function reportUnmatchedNames(context: ClusterContext, { scheduled, unmatched, ambiguous }: Scope): void {
  const { state, options, rows } = context
  const nodes = [...state.nodes.map(({ name }) => name), ...state.attachments.map(({ node }) => node)]
  const place = 'in this cluster'
  const faultsOf = (given: readonly string[] = [], noun: string, hint: Hint, names: () => readonly string[]) =>
    nameFaults(given, names, { noun, hint, place })
  const faults = [
    ...faultsOf(options.nodes, 'node', marked('List the nodes: `kubectl get nodes`'), () => nodes),
    ...nameFaults(
      options.nodeGone ?? [],
      // Also of those that are gone: pods of theirs may be left, or the lease of their kubelet.
      () => [
        ...nodes,
        ...state.pods.flatMap(({ node }) => node ?? []),
        ...(state.lostNodes ?? []).map(({ name }) => name),
      ],
      {
        noun: 'node',
        place,
        hint: 'Check the name. If it is right, nothing of the node is left: leave out --node-gone, or give --ignore-not-found.',
        // It would be that of a machine which may run.
        isExact: true,
      },
    ),
    ...faultsOf(
      options.namespaces,
      'namespace with a pod or claim',
      marked('List the namespaces: `kubectl get namespaces`'),
      () => [...state.pods, ...state.claims].map(({ namespace }) => namespace),
    ),
    ...faultsOf(options.volumes, 'volume', 'Give the PersistentVolume, NAMESPACE/CLAIM, or the volume handle.', () => [
      ...context.findings.operations.map(({ attachment }) => attachment.name),
      ...state.volumes.map(({ name }) => name),
      ...state.claims.map(namespacedName),
      ...state.attachments.flatMap(({ name, persistentVolume = name }) => [name, persistentVolume]),
      ...[...rows.known.values(), ...rows.all().map(({ volume }) => volume)].flatMap(
        ({ uniqueName, handle = uniqueName }) => [uniqueName, handle],
      ),
    ]),
    ...faultsOf(
      unmatched,
      'scheduled pod with a volume that can be attached',
      'Give NAMESPACE/NAME of such a pod.',
      () => scheduled.flatMap((pod) => [pod.name, namespacedName(pod)]),
    ),
    ...ambiguous.map(({ given, pods }) => ambiguousPods(given, pods)),
  ]
  for (const fault of faults) context.findings.problem('warning', fault, ON_API, fault.hint)
  // A node whose kubelet says that it is ready is not gone, whatever somebody says.
  for (const name of options.nodeGone ?? []) {
    if (!context.isReady(context.node(name))) continue
    const hint = 'Check the name: its machine runs.'
    context.findings.problem('warning', said('FlagWithoutEffect.nodeGone', { name }), { nodes: [name] }, hint)
  }
}

// How stands what --pod, --volume and --node name; also where nothing is to be done.

/** A volume on a node, or what only a pod, a claim or a PersistentVolume has of one; `message`: where it is, and who wants it. */
interface Stand extends Omit<ClusterStand, 'subject'> {
  readonly subject?: Subject
  /** Pods want it on a node where it is not. */
  readonly isLacking?: boolean
}

/**
 * What is said is said of all, whatever flags leave out of the plan.
 *
 * @returns undefined where nothing is named
 */
export function standsOf(
  context: ClusterContext,
  { isNamed }: Scope,
  refused: Refusal | undefined,
): readonly ClusterStand[] | undefined {
  const { nodes = [], volumes = [], pods = [] } = context.options
  if (nodes.length + volumes.length + pods.length === 0) return undefined
  const said = saidOf(context.findings, refused)
  const quiet = context.findings.complete
    ? 'nothing to do'
    : 'nothing is known to be wrong, but not everything could be read'
  return standsIn(context)
    .filter(({ about }) => isNamed(about, 'stand'))
    .map((stand) => ({ ...stand, subject: stand.subject ?? subjectOf(stand.about) }))
    .toSorted((a, b) => compareText(rowsOf(a.subject)[0] ?? '', rowsOf(b.subject)[0] ?? ''))
    .map(({ message, isLacking, ...stand }) => {
      const keys = [...rowsOf(stand.subject), ...(stand.about.pods ?? []).map(({ uid }) => uid)]
      const [first] = keys.flatMap((key) => said.get(key) ?? [])
      const unsaid = isLacking ? 'the plan does not say why' : quiet
      return { message: `${message}: ${first === undefined ? unsaid : thenText(first)}`, ...stand }
    })
}

function thenText({ is, kind, code }: Said): string {
  if (is === 'wrong') return `not as it should be (${code})`
  const work = kind === 'AttachVolume' ? 'its attach' : 'its detach'
  if (is === 'waiting') return `${work} waits (${code})`
  return is === 'ready' ? `${work} is ready` : `${work} is blocked (${code})`
}

/** What nodes have, may have or are to have; what pods name that nobody can find; what is nowhere. */
function standsIn(context: ClusterContext): Stand[] {
  const { state, rows } = context
  const found = rows.all().filter((row) => isWanted(row) || row.isInUse || row.isConfirmed || row.attached.length > 0)
  const somewhere = new Set(found.map(({ uniqueName }) => uniqueName))
  return [
    ...found.map((row) => standOn(context, row)),
    ...rows.attached.flatMap((each): Stand | [] => {
      const { row, object } = each
      const about = { nodes: [object.node], volume: attachedRef(each, rows), attachment: object.name }
      return row === undefined ? { message: attachedTo(each), about } : []
    }),
    ...rows.unresolved.map((each): Stand => {
      const { pod, name, claimName, message } = each
      const about = { ...ofPod(pod), claim: claimName === undefined ? undefined : `${pod.namespace}/${claimName}` }
      const why = `volume ${name} of ${namespacedName(pod)} is not attached, as ${message}`
      return { message: why, about, subject: { row: unresolvedKey(each) } }
    }),
    ...state.volumes.flatMap(({ name, uniqueName = name, plugin = '' }): Stand | [] => {
      if (somewhere.has(uniqueName)) return []
      const volume = rows.known.get(uniqueName)
      const about = { volume: volume ? volumeRef(volume) : { name, persistentVolume: name, plugin } }
      return { message: 'attached to no node', about }
    }),
    ...state.claims.flatMap((claim): Stand | [] => {
      if (claim.volumeName !== undefined) return []
      return { message: 'bound to no PersistentVolume', about: { claim: namespacedName(claim) } }
    }),
  ]
}

function standOn({ rows }: ClusterContext, row: Row): Stand {
  const { node, pods, others, isConfirmed } = row
  const ended = isWanted(row) ? [] : row.ended
  const [attached] = row.attached
  const elsewhere = rows.nodesWith(row.uniqueName).filter((each) => each !== node)
  const where =
    attached !== undefined
      ? attachedTo(attached)
      : isConfirmed
        ? `attached to ${node} by the word of its status alone`
        : `not attached to ${node}${elsewhere.length === 0 ? '' : `, but to ${few(elsewhere)}`}`
  const use = pods.length === 0 && row.isInUse ? ' and reported in use' : ''
  const [held] = others
  const who =
    pods.length > 0
      ? `wanted by ${few(pods.map(namespacedName))}`
      : held !== undefined
        ? `of ${few(others.map(({ pod }) => namespacedName(pod)))} (${NOT_ATTACHED[held.why]})`
        : ended.length > 0
          ? `of ${few(ended.map(namespacedName))}, which ended`
          : 'wanted by no pod'
  const all = [...podsOf(row), ...ended]
  return {
    message: `${where}${use}, ${who}`,
    about: {
      nodes: [node],
      volume: attached ? attachedRef(attached, rows) : volumeRef(row.volume),
      attachment: attached?.object.name,
      pods: unlessEmpty(all.map(podRef)),
    },
    isLacking: pods.length > 0 && attached === undefined && !isConfirmed,
  }
}

function few(names: readonly string[]): string {
  return take(names, 2, 'and ').join(', ')
}

function attachedTo({ object: { node, attached, deletedAt } }: Attached): string {
  if (deletedAt !== undefined) return `being detached from ${node}`
  return attached === true ? `attached to ${node}` : `being attached to ${node}`
}
