/** Which device of a LUN's disks is mounted or mapped (P74, P80). */
import { StepFailed } from '../../errors/operation-error.ts'
import type { StepContext } from '../operation/step-context.ts'
import { waitUntil } from '../operation/wait-until.ts'

const MULTIPATH_MS = 10_000

/**
 * The multipath map over the disks, or the first disk.
 *
 * @param disks kernel names, at least one
 * @param severalPaths wait for a multipath map
 * @returns the absolute path of a device node with the number that the kernel has for this device
 * @throws StepFailed ForeignDevice if the node has another number
 */
export async function deviceOf(disks: readonly string[], severalPaths: boolean, run: StepContext): Promise<string> {
  const map = severalPaths ? await waitUntil(() => mapOver(disks, run), run, MULTIPATH_MS) : mapOver(disks, run)
  const name = map ?? disks[0] ?? ''
  const path = `/dev/${name}`
  const [wanted, found] = [run.host.blockTree.node(name)?.dev, run.host.deviceNumber(path)]
  if (wanted !== undefined && wanted === found) return path
  throw new StepFailed(
    'ForeignDevice',
    `${path} has device number ${found ?? 'none'}, but the kernel has ${wanted} for ${name}`,
    {
      hint: 'Compare ls -l and lsblk; if udev has not created the device node yet, plan again.',
    },
  )
}

export function mapOver(disks: readonly string[], { host: { blockTree } }: StepContext): string | undefined {
  return disks
    .flatMap((disk) => blockTree.node(disk)?.holders ?? [])
    .find((holder) => blockTree.node(holder)?.isMultipath)
}
