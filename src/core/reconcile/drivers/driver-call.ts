/** Whether a CSI driver can be called, and what may be done otherwise (S14, S16, O10). */

import { volctl } from '../../base/command.ts'
import { omitUndefined } from '../../base/omit-undefined.ts'
import { registeredDriver } from '../../facts/actual/staged-volumes.ts'
import type { StateFile } from '../../facts/actual/state-file.ts'
import { attachmentName } from '../../facts/actual/volume-names.ts'
import type { Obstacle } from '../../plan/draft.ts'
import { isListedWhole } from '../../volumes/api-lookup.ts'
import type { PlanContext } from '../context/context.ts'
import { bringDriverBack, whyNoDriver } from './why-no-driver.ts'

export type DriverCall =
  /** The driver answers: and is called first. */
  | { readonly kind: 'call' }
  /** --driver-gone: the kernel unmounts, and the driver is not called. */
  | { readonly kind: 'gone' }
  /** Nothing is left of the driver, and the file is older than this boot: the file may be deleted (S14). */
  | { readonly kind: 'absentSinceBoot' }
  | { readonly kind: 'blocked'; readonly blocked: Obstacle }

/**
 * @param stateFile the file that would be removed at the end
 * @param mounted whether anything of the volume is mounted
 */
export function driverCall(
  context: PlanContext,
  identity: { readonly driver: string; readonly handle: string },
  stateFile: StateFile | undefined,
  mounted: boolean,
): DriverCall {
  if (registeredDriver(context.inputs, identity.driver) !== undefined) return { kind: 'call' }
  if (context.options.driverGone.includes(identity.driver)) return { kind: 'gone' }
  if (!mounted && stateFile !== undefined && olderThanBoot(context, stateFile) && nothingLeftOf(context, identity)) {
    return { kind: 'absentSinceBoot' }
  }
  const { hint, because } = bringDriverBack(context, identity.driver)
  return {
    kind: 'blocked',
    blocked: {
      code: 'DriverUnavailable',
      message: whyNoDriver(context, identity.driver),
      hint: `${hint}; gone for good: ${volctl('plan', '--driver-gone', identity.driver)}`,
      ...omitUndefined({ because }),
    },
  }
}

/** True if the volume is torn down without calling its driver. */
export function isWithoutDriver(call: DriverCall | undefined): boolean {
  return call?.kind === 'gone' || call?.kind === 'absentSinceBoot'
}

function olderThanBoot({ bootTime }: PlanContext, { mtime }: StateFile): boolean {
  return bootTime !== undefined && mtime !== undefined && mtime > 0 && mtime * 1000 < bootTime
}

/** S14: is it proved that driver, socket, CSINode entry and VolumeAttachment are all absent? */
function nothingLeftOf({ inputs }: PlanContext, { driver, handle }: { driver: string; handle: string }): boolean {
  const { csiSockets, api, nodeName } = inputs.snapshot
  if (csiSockets === undefined || api === undefined || api.csiNode == null) return false
  if (!isListedWhole(api, 'csinodes') || !isListedWhole(api, 'volumeattachments')) return false
  if (csiSockets.some((socket) => socket.driver === driver || socket.driver === undefined)) return false
  if (inputs.tree.has(`plugins/${driver}/csi.sock`)) return false
  if (api.csiNode.spec.drivers?.some((each) => each.name === driver)) return false
  const name = attachmentName(handle, driver, nodeName)
  return !api.volumeAttachments.some((each) => each.metadata.name === name)
}
