/** What a snapshot of a node (--nodes) shows of a volume, in words. */
import type { FleetRow } from '../../plan/cluster-plan.ts'

/** @returns nothing where the node has no snapshot */
export function foundOnNode(fleet: readonly FleetRow[], node: string, uniqueName: string | undefined): string[] {
  const row = fleet.find((each) => each.node === node && each.volume.uniqueName === uniqueName)
  if (row?.found === undefined) return []
  const [first, ...others] = row.found
  if (first !== undefined) {
    const more = others.length === 0 ? '' : ` and ${others.length} more`
    return [`its snapshot shows the volume ${first.how} at ${first.path}${more}`]
  }
  return [
    row.says === 'free'
      ? 'its snapshot shows nothing of the volume'
      : 'its snapshot does not show that the volume is free',
  ]
}
