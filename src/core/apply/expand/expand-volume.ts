/** Expands a mounted volume on this node, by its plugin (R455, R462). */
import { CSI_PLUGIN } from '../../names/volume-names.ts'
import type { Step } from '../../plan/plan.ts'
import type { StepContext } from '../operation/step-context.ts'
import { expandCsiVolume } from './csi-expand.ts'
import { expandLocalVolume } from './local-expand.ts'

/** @returns what was left as it is, and why */
export function expandVolume(step: Step, run: StepContext): Promise<string | undefined> {
  return run.operation.volume?.plugin === CSI_PLUGIN ? expandCsiVolume(step, run) : expandLocalVolume(step, run)
}
