/** How far one volume is, with all of its pods on this node. */

import { defined } from '../lang/defined.ts'
import type { VolumeRow } from '../ledger/row.ts'
import { podName } from '../plan/pod-name.ts'
import { type PlanContext, podRefOf } from '../reconcile/context/context.ts'
import { isAttachedHere } from './attached-here.ts'
import { isSetUp, isUp, list, sorted } from './pod-state.ts'
import type { WaitedTarget } from './wait-result.ts'
import type { VolumeTarget } from './wait-target.ts'

type State = Omit<WaitedTarget, 'name' | 'pod' | 'volume'>

/** Do all pods of this node that want the volume have it. */
export function volumeMounted(context: PlanContext, target: VolumeTarget): State {
  const found = volumeOf(context, target)
  const wanted = found?.wanted ?? []
  const failed = found?.unresolved ?? []
  if (wanted.length + failed.length === 0) return { state: 'pending', message: 'no pod of this node wants the volume' }
  const missing = wanted.filter((volume) => !isUp(context.inputs, volume))
  if (missing.length + failed.length === 0) return { state: 'reached', message: 'the volume is mounted' }
  const uids = [...missing, ...failed].map(({ podUid }) => podUid)
  const pods = sorted(uids.map((uid) => podName(podRefOf(context, uid))))
  return { state: 'pending', message: `not mounted in pods=${list(pods)}`, ...defined({ why: failed[0]?.message }) }
}

/** Is the volume neither mounted nor staged nor set up for any pod. */
export function volumeUnmounted(context: PlanContext, target: VolumeTarget): State {
  const found = volumeOf(context, target)
  const { inputs } = context
  const places = sorted([
    ...(found?.mounts ?? []).map(({ mountPoint }) => mountPoint),
    ...(found?.onDisk ?? []).filter(isSetUp).map(({ dir }) => inputs.absolute(dir)),
    ...(found?.maps ?? []).filter(({ mappings }) => mappings.length > 0).map(({ block }) => inputs.absolute(block.dir)),
  ])
  const [first] = places
  if (first === undefined) return { state: 'reached', message: 'the volume is not mounted' }
  const more = places.length === 1 ? '' : ` and in ${places.length - 1} more places`
  return { state: 'pending', message: `mounted or set up at ${first}${more}`, mounted: places }
}

/** Is the volume detached from this node. */
export function volumeDetached(context: PlanContext, target: VolumeTarget): State {
  const found = volumeOf(context, target)
  const name = found?.uniqueName ?? target.uniqueName
  const state = name === undefined ? (found?.attachment === undefined ? 'no' : 'yes') : isAttachedHere(context, name)
  if (state === 'no') return { state: 'reached', message: 'the volume is not attached' }
  const attached = [name ?? target.name]
  if (state === 'yes') return { state: 'pending', message: 'the volume is attached', attached }
  return { state: 'pending', message: 'this credential does not show whether the volume is attached', attached }
}

/** The name by which it is known whether the volume is attached. */
export function attachedName(context: PlanContext, target: VolumeTarget): string | undefined {
  return volumeOf(context, target)?.uniqueName ?? target.uniqueName
}

/** The volume as it is now; undefined: neither the API nor this node has anything of it. */
function volumeOf({ ledger }: PlanContext, target: VolumeTarget): VolumeRow | undefined {
  const { uniqueName = '', persistentVolume = '', claim = '', directories } = target
  return (
    ledger.row(uniqueName) ??
    ledger.ofPersistentVolume(persistentVolume) ??
    // One that was not bound in the first look has a volume later.
    ledger.ofClaim(claim) ??
    directories.flatMap((directory) => ledger.at(directory))[0]
  )
}
