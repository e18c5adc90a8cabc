/** Records of the kubelet that tear-down needs, such as vol_data.json and iscsi.json, written whole. */
import { diskFailure } from '../../files/disk-failure.ts'
import type { StepContext } from './step-context.ts'

/**
 * @param before the record that is there, which is written to the journal first: it may be the only record of something (S14)
 * @throws StepFailed WriteFailed, or that the disk is full
 */
export function writeRecord(path: string, text: string, before: string | undefined, run: StepContext): void {
  if (before !== undefined) run.journal.write({ type: 'stateFile', operation: run.operation.id, path, content: before })
  try {
    run.host.writeStateFile(path, text)
  } catch (error) {
    const hint = 'Check what is in the way there; then plan again.'
    throw diskFailure('WriteFailed', `${path} could not be written`, error, hint)
  }
}
