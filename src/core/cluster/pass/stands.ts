/**
 * How stands what --pod, --volume and --node name: of each volume on each node that a name means, whether it is attached, who wants it,
 * and what the plan makes of that; also where nothing is to be done.
 */

import { compareText } from '../../base/compare-text.ts'
import { omitUndefined } from '../../base/omit-undefined.ts'
import { take } from '../../base/take.ts'
import type { ClusterStand } from '../../plan/cluster-plan.ts'
import type { Refusal } from '../../plan/plan.ts'
import { namespacedName } from '../../plan/pod-name.ts'
import { rowsOf, type Subject } from '../../plan/subject.ts'
import type { Attached } from '../model/actual-attachments.ts'
import type { ClusterContext } from '../model/cluster-context.ts'
import type { ClusterPod } from '../model/cluster-state.ts'
import type { NotAttachedFor } from '../model/desired-attachments.ts'
import {
  attachedRef,
  type ClusterFindings,
  ofPod,
  podRef,
  refOf,
  type Said,
  saidOf,
  subjectOf,
  unresolvedKey,
} from '../model/findings.ts'
import { isExclusive, volumeKey, volumeRef } from '../model/volumes.ts'
import { scopeOf } from './given-names.ts'

/** A volume on a node, or what only a pod, a claim or a PersistentVolume has of one; `message`: where it is, and who wants it. */
interface Row extends Omit<ClusterStand, 'subject'> {
  readonly subject?: Subject
  /** Pods want it on a node where it is not. */
  readonly isLacking?: boolean
}

/**
 * A pod means what only one node may have, wherever that is.
 *
 * @param findings all, whatever flags leave out of the plan
 * @returns undefined where nothing is named
 */
export function standsOf(
  context: ClusterContext,
  findings: ClusterFindings,
  refused: Refusal | undefined,
): readonly ClusterStand[] | undefined {
  const { nodes = [], volumes = [], pods: given = [] } = context.options
  if (nodes.length + volumes.length + given.length === 0) return undefined
  const said = saidOf(findings, refused)
  const { isNode, isPod, isVolume } = scopeOf(context)
  const ofPods = new Set(
    context.desired
      .all()
      .flatMap(({ volume, pods }) => (isExclusive(volume) && pods.some(isPod) ? volume.uniqueName : [])),
  )
  const isNamed = ({ about }: Row): boolean =>
    (nodes.length === 0 || about.nodes?.some(isNode) === true) &&
    (given.length === 0 || about.pods?.some(isPod) === true || ofPods.has(about.volume?.uniqueName ?? '')) &&
    isVolume(about)
  const quiet = findings.complete ? 'nothing to do' : 'nothing is known to be wrong, but not everything could be read'
  return rowsIn(context)
    .filter(isNamed)
    .map((row) => ({ ...row, subject: row.subject ?? subjectOf(row.about) }))
    .toSorted((a, b) => compareText(rowsOf(a.subject)[0] ?? '', rowsOf(b.subject)[0] ?? ''))
    .map(({ message, isLacking, ...row }) => {
      const keys = [...rowsOf(row.subject), ...(row.about.pods ?? []).map(({ uid }) => uid)]
      const [first] = keys.flatMap((key) => said.get(key) ?? [])
      const unsaid = isLacking ? 'the plan does not say why' : quiet
      return { message: `${message}: ${first === undefined ? unsaid : thenText(first)}`, ...row }
    })
}

function thenText({ is, kind, code }: Said): string {
  if (is === 'wrong') return `not as it should be (${code})`
  const work = kind === 'AttachVolume' ? 'its attach' : 'its detach'
  if (is === 'waiting') return `${work} waits (${code})`
  return is === 'ready' ? `${work} is ready` : `${work} is blocked (${code})`
}

/** What nodes have, may have or are to have; what pods name that nobody can find, or want before they have a node; what is nowhere. */
function rowsIn(context: ClusterContext): Row[] {
  const { state, desired, actual, known } = context
  const found = new Map<string, readonly [node: string, uniqueName: string]>()
  const note = (node: string, name: string): void => void found.set(volumeKey(node, name), [node, name])
  for (const { node, volume } of desired.all()) note(node, volume.uniqueName)
  for (const { object, uniqueName } of actual.all) if (uniqueName !== undefined) note(object.node, uniqueName)
  for (const { name } of state.nodes)
    for (const each of actual.confirmedOn(name).union(actual.inUseOn(name))) note(name, each)
  const somewhere = new Set([...found.values()].map(([, uniqueName]) => uniqueName))
  return [
    ...[...found.values()].map(([node, uniqueName]) => rowOn(context, node, uniqueName)),
    ...actual.all.flatMap((each): Row | [] => {
      const { uniqueName, object } = each
      const about = { nodes: [object.node], volume: attachedRef(each, actual), attachment: object.name }
      return uniqueName === undefined ? { message: attachedTo(each), about } : []
    }),
    ...desired.unresolved.map((each): Row => {
      const { pod, name, claimName, message } = each
      const about = { ...ofPod(pod), ...(claimName !== undefined && { claim: `${pod.namespace}/${claimName}` }) }
      const why = `volume ${name} of ${namespacedName(pod)} is not attached, as ${message}`
      return { message: why, about, subject: { row: unresolvedKey(each) } }
    }),
    ...desired.unscheduled.map(({ pod, volume }): Row => {
      const message = `wanted by ${namespacedName(pod)}, which has no node yet`
      const about = { volume: volumeRef(volume), pods: [podRef(pod)] }
      return { message, about }
    }),
    ...state.volumes.flatMap(({ name, uniqueName = name, plugin = '' }): Row | [] => {
      if (somewhere.has(uniqueName)) return []
      const volume = known.get(uniqueName)
      const about = { volume: volume ? volumeRef(volume) : { name, persistentVolume: name, plugin } }
      return { message: 'attached to no node', about }
    }),
    ...state.claims.flatMap(({ namespace, name, volumeName }): Row | [] => {
      const claim = `${namespace}/${name}`
      if (volumeName !== undefined) return []
      return { message: 'bound to no PersistentVolume', about: { claim } }
    }),
  ]
}

function rowOn(context: ClusterContext, node: string, uniqueName: string): Row {
  const { desired, actual } = context
  const want = desired.on(node, uniqueName)
  const { pods = [], others = [] } = want ?? {}
  const ended = want === undefined ? desired.endedOn(node, uniqueName) : []
  const [attached] = actual.on(node, uniqueName)
  const isConfirmed = actual.isConfirmed(node, uniqueName)
  const elsewhere = actual.nodesWith(uniqueName).filter((each) => each !== node)
  const where =
    attached !== undefined
      ? attachedTo(attached)
      : isConfirmed
        ? `attached to ${node} by the word of its status alone`
        : `not attached to ${node}${elsewhere.length === 0 ? '' : `, but to ${few(elsewhere)}`}`
  const use = pods.length === 0 && actual.isInUse(node, uniqueName) ? ' and reported in use' : ''
  const [held] = others
  const who =
    pods.length > 0
      ? `wanted by ${few(pods.map(namespacedName))}`
      : held !== undefined
        ? `of ${few(others.map(({ pod }) => namespacedName(pod)))} (${HELD[held.why]})`
        : ended.length > 0
          ? `of ${few(ended.map(namespacedName))}, which ended`
          : 'wanted by no pod'
  const all: readonly ClusterPod[] = [...pods, ...others.map(({ pod }) => pod), ...ended]
  return {
    message: `${where}${use}, ${who}`,
    about: {
      nodes: [node],
      volume: attached
        ? attachedRef(attached, actual)
        : refOf(uniqueName, want?.volume ?? context.known.get(uniqueName)),
      ...omitUndefined({ attachment: attached?.object.name, pods: all.length === 0 ? undefined : all.map(podRef) }),
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

const HELD: Readonly<Record<NotAttachedFor, string>> = {
  NotAttachable: 'the driver needs no attachment',
  AttachabilityUnknown: 'whether the driver needs an attachment could not be read',
  NotMigrated: 'the kubelet of the node mounts the in-tree volume itself',
  Unusable: 'the pod cannot use the volume',
  NotManaged: 'the controller does not manage the node',
}
