/** A volume's disks, as they were when found: names, numbers and addresses may be reused for other disks (S26). */

import { StepFailed } from '../../base/operation-error.ts'
import type { IscsiSession } from '../../linux/block/block-tree.ts'
import type { StepContext } from './step-context.ts'

export interface SeenDisk {
  readonly name: string
  /** Number, address, disk sequence and session: another device of the same name differs in one of these. */
  readonly identity: string
}

/** The disks that exist. @throws StepFailed ForeignDevice */
export function seeDisks(
  names: readonly string[],
  run: StepContext,
  sessions: readonly IscsiSession[] = run.host.blockTree.iscsiSessions(),
): SeenDisk[] {
  return [...new Set(names)].flatMap((name) => {
    const identity = identityOf(name, sessions, run)
    return identity === undefined ? [] : [{ name, identity }]
  })
}

/** @returns whether the disk is still there @throws StepFailed ForeignDevice */
export function isStillThere({ name, identity }: SeenDisk, run: StepContext): boolean {
  const now = identityOf(name, run.host.blockTree.iscsiSessions(), run)
  if (now === undefined || now === identity) return now !== undefined
  throw new StepFailed('ForeignDevice', `${name} is another device than a moment ago`)
}

function identityOf(name: string, sessions: readonly IscsiSession[], { host }: StepContext): string | undefined {
  const node = host.blockTree.node(name)
  if (node === undefined) return undefined
  const { dev, scsiAddress } = node
  const session = sessions.find(({ luns }) => luns.some(({ disks }) => disks.includes(name)))
  const address = session?.luns.find(({ disks }) => disks.includes(name))?.address
  if (address !== undefined && address !== scsiAddress) {
    throw new StepFailed(
      'ForeignDevice',
      `${name} is at ${scsiAddress ?? 'no SCSI address'}, and ${session?.name} has it at ${address}`,
    )
  }
  return [dev, scsiAddress, host.diskSequence(dev), session?.name, session?.iqn].join(' ')
}
