/** What a question covers: volumes on nodes, and what of a plan is about them, by what its findings name. */

import { append } from '../../lang/append.ts'
import { defined } from '../../lang/defined.ts'
import type {
  ClusterAbout,
  ClusterOperation,
  ClusterPlan,
  ClusterProblem,
  ClusterWaiting,
} from '../../plan/cluster-plan.ts'
import { namespacedName } from '../../plan/pod-name.ts'
import type { ClusterContext } from '../context/cluster-context.ts'
import { plannedFor, waitFor } from '../pass/whose.ts'
import type { ClusterTarget } from './cluster-candidates.ts'
import { ofAttachment, ofNode, ofPod, ofVolume, onNode, type VolumeOnNode } from './volumes-on-nodes.ts'

export interface Scope {
  readonly target: ClusterTarget
  readonly volumes: readonly VolumeOnNode[]
}

export function scopeOf(context: ClusterContext, plan: ClusterPlan, target: ClusterTarget): Scope {
  return { target, volumes: volumesOf(context, plan, target) }
}

function volumesOf(context: ClusterContext, plan: ClusterPlan, target: ClusterTarget): VolumeOnNode[] {
  switch (target.kind) {
    case 'Pod':
      return ofPod(context, target.pod)
    case 'PersistentVolumeClaim':
      return ofClaim(context, `${target.namespace}/${target.name}`)
    case 'PersistentVolume':
      return ofPersistentVolume(context, target.name)
    case 'VolumeAttachment':
      return ofNamedAttachment(context, plan, target.name)
    case 'Volume':
      return ofVolume(context, target.uniqueName)
    case 'Node':
      return ofNode(context, target.name)
    case 'Driver':
      return ofDriver(context, target.name)
    default:
      throw new Error(`no volumes of ${JSON.stringify(target satisfies never)}`)
  }
}

/** By the PersistentVolume that it is bound to, else by one that names it; with the pods that use it, whatever they find. */
function ofClaim(context: ClusterContext, claim: string): VolumeOnNode[] {
  const { state, objects } = context
  const [namespace = '', name = ''] = claim.split('/')
  const found = objects.claim(namespace, name)
  const bound = found.state === 'Found' ? found.object.volumeName : undefined
  const naming = state.volumes.find((each) => each.claim !== undefined && namespacedName(each.claim) === claim)?.name
  const persistentVolume = bound || naming
  const volumes = persistentVolume === undefined ? [] : ofPersistentVolume(context, persistentVolume)
  const seen = new Set(volumes.flatMap(({ pods }) => pods))
  const others = state.pods
    .filter((pod) => !seen.has(pod))
    .flatMap((pod) => ofPod(context, pod).filter((each) => each.claim === claim))
  const all = [...volumes.map((each) => ({ ...each, claim })), ...others]
  return all.length > 0 ? all : [{ claim, pods: [], attached: [], ...defined({ persistentVolume }) }]
}

function ofPersistentVolume(context: ClusterContext, name: string): VolumeOnNode[] {
  const found = context.objects.volume(name)
  const object = found.state === 'Found' ? found.object : undefined
  if (object?.uniqueName !== undefined) {
    const claim = object.claim && namespacedName(object.claim)
    return ofVolume(context, object.uniqueName).map((each) => ({
      ...each,
      persistentVolume: each.attached[0]?.object.persistentVolume ?? name,
      ...defined({ claim: claim ?? each.claim }),
    }))
  }
  const attached = context.actual.all.filter((each) => each.object.persistentVolume === name)
  if (attached.length > 0) return attached.map((each) => ofAttachment(context, each))
  const claim = object?.claim && namespacedName(object.claim)
  return [{ pods: [], attached: [], persistentVolume: name, ...defined({ claim }) }]
}

/** One that is still to be created is known by the plan alone. */
function ofNamedAttachment(context: ClusterContext, plan: ClusterPlan, name: string): VolumeOnNode[] {
  const attached = context.actual.all.filter(({ object }) => object.name === name)
  if (attached.length > 0) return attached.map((each) => ofAttachment(context, each))
  const planned = plannedFor(plan, name) ?? waitFor(plan, name)
  const uniqueName = planned?.volume?.uniqueName
  return planned === undefined || uniqueName === undefined ? [] : [onNode(context, planned.node, uniqueName)]
}

function ofDriver(context: ClusterContext, driver: string): VolumeOnNode[] {
  const { known, actual, desired } = context
  const names = new Set([...known.values()].flatMap((each) => (each.driver === driver ? [each.uniqueName] : [])))
  for (const { volume } of desired.all()) if (volume.driver === driver) names.add(volume.uniqueName)
  const own = [...names].flatMap((name) => ofVolume(context, name))
  const seen = new Set(own.flatMap(({ attached }) => attached))
  const others = actual.all.filter((each) => each.object.attacher === driver && !seen.has(each))
  return [...own, ...others.map((each) => ofAttachment(context, each))]
}

/** What of a plan is about the scope. */
export interface Concern {
  /** With what has to come before them, in the order of the plan. */
  readonly operations: readonly ClusterOperation[]
  readonly waiting: readonly ClusterWaiting[]
  readonly problems: readonly ClusterProblem[]
}

export function concernOf(plan: ClusterPlan, scope: Scope): Concern {
  const isAbout = matcherOf(scope)
  const own = plan.operations.filter((each) => isAbout(aboutOf(each)))
  const ids = new Set(own.flatMap(({ id, after }) => [id, ...after]))
  return {
    operations: plan.operations.filter(({ id }) => ids.has(id)),
    waiting: plan.waiting.filter((each) => isAbout(aboutOf(each))),
    problems: plan.problems.filter(({ about }) => isAbout(about)),
  }
}

/** What of a concern is about this volume on this node alone. */
export function concernOn(
  { operations, waiting, problems }: Concern,
  { node, uniqueName, attached, pods, unresolved }: VolumeOnNode,
): Concern {
  const names = new Set(attached.map(({ object }) => object.name))
  const uids = new Set(pods.map(({ uid }) => uid))
  const isHere = (of: string, volume: ClusterWaiting['volume'], attachment: string | undefined): boolean =>
    of === node &&
    ((attachment !== undefined && names.has(attachment)) ||
      (volume?.uniqueName !== undefined && volume.uniqueName === uniqueName))
  return {
    operations: operations.filter((each) => isHere(each.node, each.volume, each.attachment.name)),
    waiting: waiting.filter((each) => isHere(each.node, each.volume, each.attachment)),
    problems: problems.filter(({ about: { nodes, volume, attachment, pods: of = [] } }) => {
      if (nodes !== undefined && nodes.length > 0 && node !== undefined && !nodes.includes(node)) return false
      if (attachment !== undefined) return names.has(attachment)
      if (volume?.uniqueName !== undefined) return volume.uniqueName === uniqueName
      return of.some(({ uid }) => uids.has(uid)) && (unresolved !== undefined || attached.length === 0)
    }),
  }
}

export function aboutOf({ node, pods, volume, attachment }: ClusterOperation | ClusterWaiting): ClusterAbout {
  const name = typeof attachment === 'object' ? attachment.name : attachment
  return { nodes: [node], pods, ...defined({ volume, attachment: name }) }
}

/**
 * A volume that only one node may have concerns its pods wherever it is; one that is shared, on their own node. What is said of a
 * node or a driver alone concerns every volume there.
 */
function matcherOf({ target, volumes }: Scope): (about: ClusterAbout) => boolean {
  if (target.kind === 'Node') return ({ nodes = [] }) => nodes.includes(target.name)
  if (target.kind === 'Driver') return ({ driver, volume }) => [driver, volume?.driver].includes(target.name)
  const isWhole = ['PersistentVolumeClaim', 'PersistentVolume', 'Volume'].includes(target.kind)
  const everywhere = new Set<string>()
  const onNodes = new Map<string, string[]>()
  for (const { node, uniqueName, volume } of volumes) {
    if (uniqueName === undefined) continue
    const isOfAll = isWhole || (target.kind === 'Pod' && volume?.exclusive === true)
    if (isOfAll || node === undefined) everywhere.add(uniqueName)
    else append(onNodes, uniqueName, node)
  }
  const attachments = new Set(volumes.flatMap(({ attached }) => attached.map(({ object }) => object.name)))
  if (target.kind === 'VolumeAttachment') attachments.add(target.name)
  const claims = new Set(volumes.flatMap(({ claim }) => claim ?? []))
  const persistentVolumes = new Set(volumes.flatMap(({ persistentVolume }) => persistentVolume ?? []))
  const nodes = new Set(volumes.flatMap(({ node }) => node ?? []))
  const drivers = new Set(
    volumes.flatMap(({ volume, attached }) => volume?.driver ?? attached[0]?.object.attacher ?? []),
  )
  const uids = new Set(target.kind === 'Pod' ? [target.pod.uid] : isWhole ? volumes.flatMap(uidsOf) : [])
  return ({ attachment, pods = [], claim, volume, driver, nodes: on = [] }) => {
    if (attachment !== undefined && attachments.has(attachment)) return true
    if (pods.some(({ uid }) => uids.has(uid)) && volume === undefined) return true
    if (target.kind === 'Pod' && pods.some(({ uid }) => uids.has(uid))) return true
    if (claim !== undefined && claims.has(claim)) return true
    const { uniqueName, persistentVolume } = volume ?? {}
    if (uniqueName !== undefined) {
      if (everywhere.has(uniqueName)) return true
      const own = onNodes.get(uniqueName)
      if (own !== undefined && (on.length === 0 || own.some((node) => on.includes(node)))) return true
    }
    if (isWhole && persistentVolume !== undefined && persistentVolumes.has(persistentVolume)) return true
    // Of a thing in the chain, and of nothing else.
    if (volume !== undefined || attachment !== undefined || pods.length > 0 || claim !== undefined) return false
    if (driver !== undefined) return drivers.has(driver)
    return on.some((node) => nodes.has(node))
  }
}

function uidsOf({ pods }: VolumeOnNode): string[] {
  return pods.map(({ uid }) => uid)
}
