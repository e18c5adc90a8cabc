/** Mounts that mount propagation copied into each other, thousands of times. */
import { defined } from '../../lang/defined.ts'
import type { MountInfo } from '../../mountinfo/mount-table.ts'
import type { Findings } from '../../plan/draft.ts'
import type { PlanContext } from '../context/context.ts'

/** No volume is mounted this often below one pod: each of its containers has a few sub-paths at most. */
const MANY = 1000

/** Names the directory with the copies of one mount. Nothing is unmounted there: the copies are foreign (S18). */
export function reportMountStorms(context: PlanContext, findings: Findings): void {
  const { inputs } = context
  for (const uid of inputs.podsWithMounts()) {
    if (inputs.podMountCount(uid) >= MANY) reportStorm(context, inputs.podMounts(uid), findings, uid)
  }
  reportStorm(context, inputs.pluginMounts(), findings)
}

function reportStorm(
  { ledger, inputs }: PlanContext,
  mounts: readonly MountInfo[],
  findings: Findings,
  pod?: string,
): void {
  if (mounts.length < MANY) return
  for (const copies of Map.groupBy(mounts, ({ dev, root }) => `${dev} ${root}`).values()) {
    const [first] = copies
    if (first === undefined || copies.length < MANY) continue
    const { mountPoint, fsType, source } = copies.reduce(
      (a, b) => (b.mountPoint.length < a.mountPoint.length ? b : a),
      first,
    )
    findings.problem(
      'error',
      'MountStorm',
      `${copies.length} mounts of one directory (${fsType} ${source}) are at and below ${mountPoint}: mount propagation copies them into each other`,
      { ...defined({ pod }), path: mountPoint, subject: ledger.path(inputs.plain(mountPoint)) },
      `Stop what mounts the directory into itself (most often a container with mountPropagation: Bidirectional); then: umount -R ${mountPoint}`,
    )
  }
}
