/** The CSI volume of an operation, as its pod wants it now. */

import { StepFailed } from '../../base/operation-error.ts'
import type { VolumeToMount } from '../../volumes/desired-state.ts'
import type { StepContext } from '../operation/step-context.ts'

export interface WantedCsi {
  readonly volume: VolumeToMount
  readonly driver: string
  readonly handle: string
}

/** @throws StepFailed NoLongerWanted if the pod's volume is not a CSI volume, or of another driver than planned */
export function wantedCsi({ bringUp: { wanted }, operation }: StepContext): WantedCsi {
  const { driver, handle } = wanted ?? {}
  if (wanted === undefined || !driver || !handle || driver !== operation.volume?.driver) {
    throw new StepFailed(
      'NoLongerWanted',
      `${operation.volume?.name ?? 'the volume'} is no longer the volume that was planned`,
    )
  }
  return { volume: wanted, driver, handle }
}
