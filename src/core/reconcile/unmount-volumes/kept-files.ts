/** Files in the directory of a volume that nothing here deletes: each is named (S12, O12). */
import type { PodVolume } from '../../actual/pod-volume.ts'
import type { TreeEntry } from '../../model/snapshot.ts'
import type { Findings } from '../../plan/draft.ts'
import type { PlanContext } from '../context/context.ts'
import { CLEAR_AWAY } from '../context/hints.ts'

/** @param what the file is, or where it lies */
export function reportKept(
  { inputs }: PlanContext,
  findings: Findings,
  { podUid, name }: PodVolume,
  entry: TreeEntry,
  code: 'DataUnderMountPoint' | 'UnexpectedFile',
  what: string,
): void {
  const path = inputs.absolute(entry.path)
  const message = `${path} (${entry.size ?? 'unknown'} bytes) ${what} and is kept`
  findings.problem('warning', code, message, { pod: podUid, volume: name, path }, CLEAR_AWAY)
}
