/** Why a CSI driver cannot be called. */

import { kubectl, podsOn } from '../../base/command.ts'
import type { CsiSocket } from '../../facts/actual/snapshot.ts'
import type { Obstacle } from '../../plan/draft.ts'
import type { PlanContext } from '../context/context.ts'
import { startCommand } from '../context/kubelet-unit.ts'

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

/**
 * What brings it back, by who can act now. A kubelet that starts starts the driver's pod only where something of the driver shows
 * that it was here: a socket, an entry in CSINode, its directory.
 */
export function bringDriverBack({ inputs, kubelet }: PlanContext, driver: string): Pick<Obstacle, 'hint' | 'because'> {
  const { csiSockets = [], api, kubelet: own, nodeName } = inputs.snapshot
  const wasHere =
    csiSockets.some((socket) => isOf(socket, driver)) ||
    api?.csiNode?.spec.drivers?.some(({ name }) => name === driver) === true ||
    inputs.tree.get(`plugins/${driver}`) !== undefined
  if (!wasHere)
    return {
      hint: `Nothing of the driver is on this node; where it is to run: ${kubectl('get', 'daemonset', '-A')}`,
    }
  return kubelet.state === 'stopped'
    ? { hint: `Its pod comes with the kubelet: ${startCommand(own)}`, because: { byStart: true } }
    : {
        hint: `Bring the driver's node pod back: ${podsOn(nodeName, '-o', 'wide')}`,
      }
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
