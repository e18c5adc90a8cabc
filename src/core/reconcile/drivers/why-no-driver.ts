/** Why a CSI driver cannot be called. */

import type { CsiSocket } from '../../model/snapshot.ts'
import type { PlanContext } from '../context/context.ts'

/**
 * Why the driver of this name cannot be called: the error of each of its sockets, and the sockets that do not answer at all, since
 * one of these may be the driver's.
 */
export function whyNoDriver({ inputs }: PlanContext, driver: string): string {
  const sockets = inputs.snapshot.csiSockets
  if (sockets === undefined) return `CSI driver ${driver} cannot be called: the sockets of CSI drivers were not read`
  const said = sockets.filter((socket) => socket.driver === driver)
  if (said.length > 0) {
    const each = said.map(({ endpoint, path, error }) => `${endpoint ?? path}${error ? `: ${error}` : ''}`)
    return `CSI driver ${driver} does not answer on ${each.join('; ')}`
  }
  const silent = sockets.filter(isSilent).map(({ path }) => path)
  const maybe = silent.length === 0 ? '' : `; no answer on ${silent.join(', ')}`
  return `CSI driver ${driver} is not registered on this node${maybe}`
}

/** True if the socket is this driver's; by its path if nobody answers: plugins/NAME/csi.sock, plugins_registry/NAME-reg.sock. */
export function isOf(socket: CsiSocket, driver: string): boolean {
  if (socket.driver !== undefined) return socket.driver === driver
  if (!isSilent(socket)) return false
  return socket.path
    .split('/')
    .some((part) => part === driver || part.startsWith(`${driver}-reg`) || part === `${driver}.sock`)
}

/** True if the driver may be busy, or hang: it was reached, and has not answered in time. */
export function isLate({ error = '' }: Pick<CsiSocket, 'error'>): boolean {
  return error.includes('DEADLINE_EXCEEDED')
}

/** True if a CSI driver may be behind this socket. A plugin that answers UNIMPLEMENTED is of another kind, such as DRA. */
export function isSilent({ driver, error = '' }: CsiSocket): boolean {
  return driver === undefined && !error.includes('UNIMPLEMENTED')
}
