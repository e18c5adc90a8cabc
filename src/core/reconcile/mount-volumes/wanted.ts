/** A volume that a pod of this node wants: its names, and why it is left unchanged. */

import { omitUndefined } from '../../base/omit-undefined.ts'
import type { Findings, Left } from '../../plan/draft.ts'
import type { VolumeRef } from '../../plan/plan.ts'
import type { VolumeToMount } from '../../volumes/desired-state.ts'
import { pluginNamed } from '../../volumes/registry.ts'
import type { PlanContext } from '../context/context.ts'
import { describeCsiVolume, describePersistentVolume } from '../identity/volume-facts.ts'

/** A volume that a pod wants and that is as it should be. @param state follows "the volume is wanted, and" */
export function leaveSatisfied(context: PlanContext, findings: Findings, volume: VolumeToMount, state: string): void {
  findings.leave(() => ({ ...wantedAt(context, volume), why: `the volume is wanted, and ${state}`, satisfied: state }))
}

/** A volume that a pod wants and that needs no operation. */
export function leaveWanted(context: PlanContext, findings: Findings, volume: VolumeToMount, why: string): void {
  findings.leave(() => ({ ...wantedAt(context, volume), why }))
}

function wantedAt({ inputs, ledger }: PlanContext, volume: VolumeToMount): Omit<Left, 'why'> {
  return {
    path: inputs.absolute(pluginNamed(volume.plugin).podPath(volume)),
    rule: 'R805',
    subject: ledger.wanted(volume),
    pod: volume.podUid,
    volume: volume.uniqueName,
  }
}

export function describeWanted(context: PlanContext, volume: VolumeToMount): VolumeRef {
  const [podVolumeName] = volume.podVolumeNames
  if (volume.driver === undefined || volume.handle === undefined) {
    return {
      name: volume.specName,
      ...omitUndefined({ podVolumeName }),
      uniqueName: volume.uniqueName,
      plugin: volume.plugin,
      mode: volume.mode,
      ...describePersistentVolume(volume.persistentVolume),
    }
  }
  return describeCsiVolume(context, {
    name: volume.specName,
    mode: volume.mode,
    identity: {
      driver: volume.driver,
      handle: volume.handle,
      from:
        volume.persistentVolume === undefined ? 'the pod' : `PersistentVolume ${volume.persistentVolume.metadata.name}`,
    },
    uniqueName: volume.uniqueName,
    podVolumeName,
  })
}
