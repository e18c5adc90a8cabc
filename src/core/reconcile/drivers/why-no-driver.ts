/** Why no driver of a name can be called. */

import type { CsiSocket } from '../../model/snapshot.ts'
import type { PlanContext } from '../context/context.ts'

/**
 * Why no driver of this name can be called: what each of its sockets said, and which sockets said nothing at all, since
 * one of these may be the driver's.
 */
export function whyNoDriver({ inputs }: PlanContext, driver: string): string {
  const sockets = inputs.snapshot.csiSockets
  if (sockets === undefined) return `CSI driver ${driver}: the sockets were not looked at`
  const said = sockets.filter((socket) => socket.driver === driver)
  if (said.length > 0) {
    const each = said.map(({ endpoint, path, error }) => `${endpoint ?? path}${error ? `: ${error}` : ''}`)
    return `CSI driver ${driver} does not answer on ${each.join('; ')}`
  }
  const silent = sockets.filter(isSilent).map(({ path }) => path)
  const maybe = silent.length === 0 ? '' : `; nobody answers behind ${silent.join(', ')}`
  return `CSI driver ${driver} is not registered here${maybe}`
}

/** One that answers that it does not know the question is somebody else's, such as a DRA plugin's. */
export function isSilent({ driver, error = '' }: CsiSocket): boolean {
  return driver === undefined && !error.includes('UNIMPLEMENTED')
}
