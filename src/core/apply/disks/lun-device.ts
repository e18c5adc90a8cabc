/** The device to be mounted or mapped of the disks of one LUN (P74, P80). */
import { StepFailed } from '../../errors/operation-error.ts'
import type { StepContext } from '../operation/step-context.ts'
import { waitUntil } from '../operation/wait-until.ts'

const MULTIPATH_MS = 10_000

/**
 * The multipath map over the disks, or the first disk.
 *
 * @param disks kernel names, at least one
 * @param severalPaths a map is to be expected, and is waited for
 * @returns the absolute path of a device node that bears the kernel's own number
 * @throws StepFailed ForeignDevice where it does not
 */
export async function deviceOf(disks: readonly string[], severalPaths: boolean, run: StepContext): Promise<string> {
  const map = severalPaths ? await waitUntil(() => mapOver(disks, run), run, MULTIPATH_MS) : mapOver(disks, run)
  const name = map ?? disks[0] ?? ''
  const path = `/dev/${name}`
  const [wanted, found] = [run.host.blockTree.node(name)?.dev, run.host.deviceNumber(path)]
  if (wanted !== undefined && wanted === found) return path
  throw new StepFailed('ForeignDevice', `${path} is ${found ?? 'no device'}, and the kernel has ${name} as ${wanted}`, {
    hint: 'Look at it (ls -l, lsblk); where udev has not made it yet, plan again.',
  })
}

export function mapOver(disks: readonly string[], { host: { blockTree } }: StepContext): string | undefined {
  return disks
    .flatMap((disk) => blockTree.node(disk)?.holders ?? [])
    .find((holder) => blockTree.node(holder)?.isMultipath)
}
