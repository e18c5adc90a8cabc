/** Raw block volumes: names and identity, for both the pod's part and the device's. */

import type { BlockMapping, BlockVolume } from '../../facts/actual/block-volume.ts'
import { CSI_PLUGIN } from '../../facts/actual/volume-names.ts'
import { globalUniqueName } from '../../facts/global-mounts.ts'
import { type CsiIdentity, type Identified, identityOf, uniqueNameOf } from '../../facts/sources.ts'
import type { VolumeRef } from '../../plan/plan.ts'
import type { PlanContext } from '../context/context.ts'
import { describeCsiVolume, withGivenDevice } from '../identity/volume-facts.ts'

export interface KnownBlock {
  readonly block: BlockVolume
  readonly isCsi: boolean
  /** Of CSI volumes alone. */
  readonly identified: Identified | undefined
  readonly identity: CsiIdentity | undefined
  readonly uniqueName: string | undefined
}

export function knownBlock(context: PlanContext, block: BlockVolume): KnownBlock {
  const isCsi = block.plugin === CSI_PLUGIN
  const identified = isCsi ? context.ledger.identifiedBlock(block) : undefined
  const identity = identityOf(identified)
  return { block, isCsi, identified, identity, uniqueName: uniqueNameOf(identity) }
}

/** @param mapping the part of one pod */
export function describeBlock(
  context: PlanContext,
  { block, isCsi, identity, uniqueName }: KnownBlock,
  mapping?: BlockMapping,
): VolumeRef {
  const { name, plugin, dir } = block
  if (!isCsi) return { name, uniqueName: globalUniqueName(plugin, dir), plugin, mode: 'Block' }
  const device = mapping?.publishLayers.at(-1) ?? mapping?.mapLayers.at(-1)
  return withGivenDevice(context, describeCsiVolume(context, { name, mode: 'Block', identity, uniqueName, device }))
}
