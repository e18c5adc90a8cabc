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
import type { ClusterContext } from '../model/cluster-context.ts'
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
import { type Attached, isWanted, podsOf, type Row } from '../model/rows.ts'
import { isExclusive, type NotAttachedFor, volumeRef } from '../model/volumes.ts'
import { scopeOf } from './given-names.ts'

/** A volume on a node, or what only a pod, a claim or a PersistentVolume has of one; `message`: where it is, and who wants it. */
interface Stand extends Omit<ClusterStand, 'subject'> {
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
    context.rows
      .all()
      .flatMap(({ uniqueName, volume, pods }) => (volume && isExclusive(volume) && pods.some(isPod) ? uniqueName : [])),
  )
  const isNamed = ({ about }: Stand): boolean =>
    (nodes.length === 0 || about.nodes?.some(isNode) === true) &&
    (given.length === 0 || about.pods?.some(isPod) === true || ofPods.has(about.volume?.uniqueName ?? '')) &&
    isVolume(about)
  const quiet = findings.complete ? 'nothing to do' : 'nothing is known to be wrong, but not everything could be read'
  return standsIn(context)
    .filter(isNamed)
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

/** What nodes have, may have or are to have; what pods name that nobody can find, or want before they have a node; what is nowhere. */
function standsIn(context: ClusterContext): Stand[] {
  const { state, rows, known } = context
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
      const about = { ...ofPod(pod), ...(claimName !== undefined && { claim: `${pod.namespace}/${claimName}` }) }
      const why = `volume ${name} of ${namespacedName(pod)} is not attached, as ${message}`
      return { message: why, about, subject: { row: unresolvedKey(each) } }
    }),
    ...rows.unscheduled.map(({ pod, volume }): Stand => {
      const message = `wanted by ${namespacedName(pod)}, which has no node yet`
      const about = { volume: volumeRef(volume), pods: [podRef(pod)] }
      return { message, about }
    }),
    ...state.volumes.flatMap(({ name, uniqueName = name, plugin = '' }): Stand | [] => {
      if (somewhere.has(uniqueName)) return []
      const volume = known.get(uniqueName)
      const about = { volume: volume ? volumeRef(volume) : { name, persistentVolume: name, plugin } }
      return { message: 'attached to no node', about }
    }),
    ...state.claims.flatMap(({ namespace, name, volumeName }): Stand | [] => {
      const claim = `${namespace}/${name}`
      if (volumeName !== undefined) return []
      return { message: 'bound to no PersistentVolume', about: { claim } }
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
        ? `of ${few(others.map(({ pod }) => namespacedName(pod)))} (${HELD[held.why]})`
        : ended.length > 0
          ? `of ${few(ended.map(namespacedName))}, which ended`
          : 'wanted by no pod'
  const all = [...podsOf(row), ...ended]
  return {
    message: `${where}${use}, ${who}`,
    about: {
      nodes: [node],
      volume: attached ? attachedRef(attached, rows) : refOf(row),
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
