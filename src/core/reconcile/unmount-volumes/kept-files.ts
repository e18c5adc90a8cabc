/** Files in the directory of a volume that volctl never deletes: each is reported (S12, O12). */

import type { PodVolume } from '../../facts/actual/pod-volumes.ts'
import type { TreeEntry } from '../../facts/actual/snapshot.ts'
import type { Findings } from '../../plan/draft.ts'
import { pluginNamed } from '../../volumes/registry.ts'
import type { PlanContext } from '../context/context.ts'
import { lostAtStart } from '../context/hints.ts'

/** @param the text after the path: where the file is, or whose it is not */
export function reportKept(
  context: PlanContext,
  findings: Findings,
  volume: PodVolume,
  entry: TreeEntry,
  code: 'DataUnderMountPoint' | 'UnexpectedFile',
  what: string,
): void {
  const path = context.inputs.absolute(entry.path)
  const kept = {
    code,
    message: `${path} (${entry.size ?? 'unknown'} bytes) ${what}; volctl does not delete it`,
  }
  const about = { pod: volume.podUid, volume: volume.name, path, subject: context.ledger.podVolume(volume) }
  const { message, hint }: { message: string; hint?: string } = isEmptied(volume) ? lostAtStart(context, kept) : kept
  findings.problem('warning', code, message, about, hint)
}

/** The kubelet deletes what is in such a volume; of all others it keeps what it finds where nothing is mounted (O12, O13). */
export function isEmptied({ plugin }: PodVolume): boolean {
  return ['emptyDir', 'projected'].includes(pluginNamed(plugin).tearDown)
}
