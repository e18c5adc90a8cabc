/**
 * How stands what --pod, --volume and --node name: of each volume on each node that a name means, whether it is attached, who wants it,
 * and what the plan makes of that; also where nothing is to be done.
 */

import { compareText } from '../../lang/compare-text.ts'
import { defined } from '../../lang/defined.ts'
import { firstFew } from '../../lang/first-few.ts'
import type { ClusterPlan, ClusterStand } from '../../plan/cluster-plan.ts'
import { namespacedName } from '../../plan/pod-name.ts'
import { podOf, rowsOf } from '../../plan/subject.ts'
import type { Attached } from '../actual/actual-attachments.ts'
import type { ClusterContext } from '../context/cluster-context.ts'
import { ofPod, podRef } from '../context/findings.ts'
import { attachedRef, attachmentKey, unresolvedKey, volumeKey } from '../context/names.ts'
import type { NotAttachedFor } from '../desired/desired-attachments.ts'
import type { ClusterPod } from '../model/cluster-state.ts'
import { volumeRef } from '../model/known-volume.ts'
import { refOf } from '../report/report-status.ts'
import { isOfVolume, podsGiven } from './given-names.ts'

/** A volume on a node, or what only a pod, a claim or a PersistentVolume has of one; `message`: where it is, and who wants it. */
interface Row extends ClusterStand {
  /** Pods want it on a node where it is not. */
  readonly isLacking?: boolean
}

/** @param plan of this context @returns undefined where nothing is named */
export function standsOf(context: ClusterContext, plan: ClusterPlan): readonly ClusterStand[] | undefined {
  const { nodes = [], volumes = [], only, skip } = context.options
  if (nodes.length + volumes.length === 0 && podsGiven(context) === undefined) return undefined
  const said = saidOf(plan)
  // What other flags leave out may still be to be done.
  const isNarrowed = [only, skip].some((each) => each !== undefined)
  const quiet = plan.complete ? 'nothing to do' : 'nothing is known to be wrong, but not everything could be read'
  return rowsIn(context)
    .filter(isNamedIn(context))
    .toSorted((a, b) => compareText(rowsOf(a.subject)[0] ?? '', rowsOf(b.subject)[0] ?? ''))
    .map(({ message, isLacking, ...row }) => {
      const keys = [...rowsOf(row.subject), ...(row.about.pods ?? []).map(({ uid }) => uid)]
      const unsaid = isLacking ? 'the plan does not say why' : quiet
      const then = keys.flatMap((key) => said.get(key) ?? [])[0] ?? (isNarrowed ? undefined : unsaid)
      return { message: then === undefined ? message : `${message}: ${then}`, ...row }
    })
}

const WORK = { DetachVolume: 'its detach', AttachVolume: 'its attach' } as const

/** What the plan says of volumes on nodes, and of pods as a whole; of several things the one that says most. */
function saidOf({ operations, waiting, problems }: ClusterPlan): ReadonlyMap<string, string> {
  const [rows, pods] = [new Map<string, string>(), new Map<string, string>()]
  for (const { severity, code, subject } of problems) {
    if (severity === 'info') continue
    const text = `not as it should be (${code})`
    for (const key of rowsOf(subject)) rows.set(key, text)
    if (rowsOf(subject).length === 0) pods.set(podOf(subject) ?? '', text)
  }
  for (const { kind, code, subject } of waiting)
    for (const key of rowsOf(subject)) rows.set(key, `${WORK[kind]} waits (${code})`)
  for (const { kind, blocked, subject } of operations)
    for (const key of rowsOf(subject))
      rows.set(key, `${WORK[kind]} is ${blocked === undefined ? 'ready' : `blocked (${blocked.code})`}`)
  return new Map([...pods, ...rows])
}

/** A claim means the PersistentVolume that it is bound to, and that its volume; a pod what only one node may have, wherever that is. */
function isNamedIn(context: ClusterContext): (row: Row) => boolean {
  const { objects, actual, desired, options } = context
  const { nodes = [], volumes = [] } = options
  const names = volumes.flatMap((name) => {
    const [namespace = '', own = ''] = name.split('/')
    const claim = objects.claim(namespace, own)
    const bound = (claim.state === 'Found' ? claim.object.volumeName : undefined) ?? name
    const volume = objects.volume(bound)
    return [name, bound, ...(volume.state === 'Found' ? [volume.object.uniqueName ?? bound] : [])]
  })
  const attachments = new Set(actual.all.filter(({ object }) => volumes.includes(object.name)).map(attachmentKey))
  const uids = podsGiven(context)?.uids
  const isOfPod = ({ uid }: { readonly uid: string }): boolean => uids?.has(uid) !== false
  const ofPods = new Set(
    desired.all().flatMap(({ volume, pods }) => (volume.exclusive && pods.some(isOfPod) ? volume.uniqueName : [])),
  )
  return ({ subject, about: { nodes: on = [], volume, claim = '', pods = [] } }) =>
    (nodes.length === 0 || on.some((each) => nodes.includes(each))) &&
    (uids === undefined || pods.some(isOfPod) || ofPods.has(volume?.uniqueName ?? '')) &&
    (volumes.length === 0 ||
      names.includes(claim) ||
      rowsOf(subject).some((key) => attachments.has(key)) ||
      (volume !== undefined && isOfVolume(volume, names)))
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
      return uniqueName === undefined ? { message: attachedTo(each), about, subject: { row: attachmentKey(each) } } : []
    }),
    ...desired.unresolved.map((each): Row => {
      const { pod, name, claim, message } = each
      const { subject: _, ...of } = ofPod(pod)
      const about = { ...of, ...defined({ claim }) }
      const why = `volume ${name} of ${namespacedName(pod)} is not attached, as ${message}`
      return { message: why, about, subject: { row: unresolvedKey(each) } }
    }),
    ...desired.unscheduled.map(({ pod, volume }): Row => {
      const message = `wanted by ${namespacedName(pod)}, which has no node yet`
      const about = { volume: volumeRef(volume), pods: [podRef(pod)] }
      return { message, about, subject: { row: volumeKey(undefined, volume.uniqueName) } }
    }),
    ...state.volumes.flatMap(({ name, uniqueName = name, plugin = '' }): Row | [] => {
      if (somewhere.has(uniqueName)) return []
      const volume = known.get(uniqueName)
      const about = { volume: volume ? volumeRef(volume) : { name, persistentVolume: name, plugin } }
      return { message: 'attached to no node', about, subject: { row: volumeKey(undefined, uniqueName) } }
    }),
    ...state.claims.flatMap(({ namespace, name, volumeName }): Row | [] => {
      const claim = `${namespace}/${name}`
      if (volumeName !== undefined) return []
      return { message: 'bound to no PersistentVolume', about: { claim }, subject: { claim } }
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
      volume: attached ? attachedRef(attached, actual) : want ? volumeRef(want.volume) : refOf(context, uniqueName),
      ...defined({ attachment: attached?.object.name, pods: all.length === 0 ? undefined : all.map(podRef) }),
    },
    subject: { row: volumeKey(node, uniqueName) },
    isLacking: pods.length > 0 && attached === undefined && !isConfirmed,
  }
}

function few(names: readonly string[]): string {
  return firstFew(names, 2, 'and ').join(', ')
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
  TerminatedKept: 'the node keeps the volumes of pods that have ended',
  DuplicateObject: 'the list has two pods of this name',
}
