/**
 * The chain of a volume, link by link: claim, PersistentVolume, VolumeAttachment, staged mount or block map, the pods' mounts, their
 * sub-paths. A link is good where it is as the pods of this node need it, bad where it is broken, missing or left over.
 */

import type { ActualInputs } from '../actual/actual-inputs.ts'
import type { VolumeRow } from '../ledger/row.ts'
import type { PlanContext } from '../reconcile/context/context.ts'
import { placesUnseen } from '../reconcile/pods/pod-classes.ts'
import { deviceLinks, type Needs } from './chain-devices.ts'
import { apiLinks } from './chain-objects.ts'
import { podLinks } from './chain-pods.ts'
import type { Link } from './explanation.ts'

/** @param only UIDs of pods: what others have of it is left out; empty: of all */
export function chainOf(context: PlanContext, volume: VolumeRow, only: readonly string[]): Link[] {
  const { wanted, unresolved, havingUids } = volume
  // A pod that runs, or may, has it, whether or not its spec is known.
  const isHeld = [...havingUids].some((uid) => context.classes.of(uid)?.class === 'Frozen')
  const needs: Needs = { wanted, isNeeded: isHeld || wanted.length + unresolved.length > 0 }
  const onNode = [...deviceLinks(context, volume, needs), ...podLinks(context, volume, only)]
  return [...apiLinks(context, volume, needs), ...onNode.map((link) => asFarAsSeen(context.inputs, link))]
}

/** What was not read may be there after all; a probe's answer stands. */
function asFarAsSeen(inputs: ActualInputs, link: Link): Link {
  const unseen = placesUnseen(inputs)
  if (unseen === undefined || link.state === 'good') return link
  return inputs.deadError(inputs.relative(link.name)) === undefined ? { ...link, state: 'unknown', says: unseen } : link
}
