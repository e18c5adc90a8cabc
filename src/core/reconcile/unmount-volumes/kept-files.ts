/** Files in the directory of a volume that volctl never deletes: each is reported (S12, O12). */
import type { PodVolume } from '../../actual/pod-volume.ts'
import type { TreeEntry } from '../../model/snapshot.ts'
import type { Findings } from '../../plan/draft.ts'
import type { PlanContext } from '../context/context.ts'
import { CLEAR_AWAY } from '../context/hints.ts'

/** @param the text after the path: where the file is, or whose it is not */
export function reportKept(
  { inputs, ledger }: PlanContext,
  findings: Findings,
  volume: PodVolume,
  entry: TreeEntry,
  code: 'DataUnderMountPoint' | 'UnexpectedFile',
  what: string,
): void {
  const path = inputs.absolute(entry.path)
  const message = `${path} (${entry.size ?? 'unknown'} bytes) ${what}; volctl does not delete it`
  const about = { pod: volume.podUid, volume: volume.name, path, subject: ledger.podVolume(volume) }
  findings.problem('warning', code, message, about, CLEAR_AWAY)
}
