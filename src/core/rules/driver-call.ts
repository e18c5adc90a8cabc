/** Whether a CSI driver can be called, and what may be done otherwise (S14, S16, O10). */

import { advice, type Hint, kubectl, podsOn, volctl } from '../messages/command.ts'
import { type Finding, said } from '../messages/findings.ts'
import type { CsiSocket } from '../rpc/endpoints.ts'
import { isListedWhole } from '../volumes/api-lookup.ts'
import type { Handle } from '../volumes/api-objects.ts'
import type { Because, Obstacle } from '../volumes/finding.ts'
import { isInTree } from '../volumes/registry.ts'
import type { NodeSnapshot } from '../volumes/snapshot.ts'
import type { Step } from '../volumes/steps.ts'
import type { StateFile } from '../volumes/volume-names.ts'
import { type PlanContext, startCommand } from './context.ts'

export type DriverCall =
  /** The driver answers, and is called first; of a flexVolume by its program. */
  | { readonly kind: 'call'; readonly executable?: string }
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
  identity: Handle,
  stateFile: StateFile | undefined,
  mounted: boolean,
): DriverCall {
  if (context.inputs.driver(identity.driver) !== undefined) return { kind: 'call' }
  if (context.options.driverGone.includes(identity.driver)) return { kind: 'gone' }
  const { mtime = 0 } = stateFile ?? {}
  const isOlderThanBoot = mtime > 0 && mtime * 1000 < (context.bootTime ?? 0)
  if (!mounted && isOlderThanBoot && nothingLeftOf(context, identity)) return { kind: 'absentSinceBoot' }
  const back = bringDriverBack(context, identity.driver)
  return {
    kind: 'blocked',
    blocked: {
      ...back,
      ...whyNoDriver(context, identity.driver),
      hint: advice`${back.hint}; gone for good: ${volctl('plan', '--driver-gone', identity.driver)}`,
    },
  }
}

/** True if the volume is torn down without calling its driver. */
export function isWithoutDriver(call: DriverCall | undefined): boolean {
  return call?.kind === 'gone' || call?.kind === 'absentSinceBoot'
}

/** S14: is it proved that driver, socket, CSINode entry and VolumeAttachment are all absent? */
function nothingLeftOf({ inputs, objects }: PlanContext, { driver, handle }: Handle): boolean {
  const { csiSockets, api } = inputs.snapshot
  if (csiSockets === undefined || api === undefined || api.csiNode == null) return false
  if (!isListedWhole(api, 'csinodes') || !isListedWhole(api, 'volumeattachments')) return false
  if (csiSockets.some((socket) => socket.driver === driver || socket.driver === undefined)) return false
  if (inputs.tree.has(`plugins/${driver}/csi.sock`)) return false
  if (driverOfNode(inputs.snapshot, driver) !== undefined) return false
  return objects.attachmentOf({ driver, handle }) === undefined
}

// Why a CSI driver cannot be called.

/**
 * Why the driver of this name cannot be called: the error of each of its sockets, and the sockets that do not answer at all, since
 * one of these may be the driver's.
 */
export function whyNoDriver({ inputs }: PlanContext, driver: string): Finding<'DriverUnavailable'> {
  const sockets = inputs.snapshot.csiSockets
  if (sockets === undefined) return said('DriverUnavailable.unread', { driver })
  const its = sockets.filter((socket) => socket.driver === driver)
  if (its.length > 0) {
    const each = its.map(({ endpoint, path, error }) => `${endpoint ?? path}${error ? `: ${error}` : ''}`)
    return said('DriverUnavailable.sockets', { driver, sockets: each.join('; ') })
  }
  const unknown = sockets.filter(isSilent).map(({ path }) => path)
  const silent = unknown.length === 0 ? '' : `; no answer on ${unknown.join(', ')}`
  return said('DriverUnavailable.notRegistered', { driver, silent })
}

/**
 * What brings it back, by who can act now. A kubelet that starts starts the driver's pod only where something of the driver shows
 * that it was here: a socket, an entry in CSINode, its directory.
 */
export function bringDriverBack(
  { inputs, kubelet }: PlanContext,
  driver: string,
): { readonly hint: Hint; readonly because?: Because } {
  const { csiSockets = [], kubelet: own, nodeName } = inputs.snapshot
  const wasHere =
    csiSockets.some((socket) => isOf(socket, driver)) ||
    driverOfNode(inputs.snapshot, driver) !== undefined ||
    inputs.tree.get(`plugins/${driver}`) !== undefined
  if (!wasHere)
    return {
      hint: advice`Nothing of the driver is on this node; where it is to run: ${kubectl('get', 'daemonset', '-A')}`,
    }
  return kubelet.state === 'stopped'
    ? { hint: advice`Its pod comes with the kubelet: ${startCommand(own)}`, because: { byStart: true } }
    : {
        hint: advice`Bring the driver's node pod back: ${podsOn(nodeName, '-o', 'wide')}`,
      }
}

/** As the kubelet has registered it in the CSINode. */
export function driverOfNode({ api }: NodeSnapshot, driver: string) {
  return api?.csiNode?.spec.drivers?.find(({ name }) => name === driver)
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
export function isLate({ error = '' }: CsiSocket): boolean {
  return error.includes('DEADLINE_EXCEEDED')
}

/** True if a CSI driver may be behind this socket. A plugin that answers UNIMPLEMENTED is of another kind, such as DRA. */
export function isSilent({ driver, error = '' }: CsiSocket): boolean {
  return driver === undefined && !error.includes('UNIMPLEMENTED')
}

// Whether the driver of a flexVolume can be called, and what may be done if not (P13, P85-P88, S16).

/**
 * Is this plugin a flexVolume driver? Every plugin that is not in-tree is one, installed or not. A name that begins with
 * kubernetes.io/ but is no in-tree plugin of this version is a flexVolume driver only if a driver of that name is installed.
 */
export function isFlexPlugin({ inputs }: PlanContext, plugin: string): boolean {
  if (isInTree(plugin)) return false
  return (
    !plugin.startsWith('kubernetes.io/') || inputs.snapshot.flexDrivers?.some(({ name }) => name === plugin) === true
  )
}

/** @returns the absolute path of a driver's program, or why it cannot be called (P85) */
export function flexProgram({ flexDrivers }: NodeSnapshot, plugin: string) {
  const driver = flexDrivers?.find(({ name }) => name === plugin)
  if (driver !== undefined && driver.error === undefined) return { executable: driver.executable }
  if (flexDrivers === undefined) return { why: 'was not searched for' }
  if (driver === undefined) return { why: 'is not installed on this node' }
  return { why: `cannot be run: ${driver.executable}: ${driver.error}` }
}

/** By the driver; by the kernel alone where there is none, and with --force-unmount and --lazy. */
export function flexSteps(
  op: 'flexUnmount' | 'flexUnmountDevice',
  umounts: readonly Step[],
  target: string,
  driver: DriverCall | undefined,
): readonly Step[] {
  const isForced = umounts.some(({ detail }) => detail === 'force' || detail === 'lazy')
  return driver?.kind === 'call' && !isForced ? [{ op, target, detail: driver.executable }] : umounts
}

/**
 * Without the driver the kubelet does not find the plugin, and does nothing. So volctl does nothing, either, without
 * --driver-gone.
 */
export function flexCall({ inputs, options }: PlanContext, plugin: string): DriverCall {
  const program = flexProgram(inputs.snapshot, plugin)
  if ('executable' in program) return { kind: 'call', ...program }
  if (options.driverGone.includes(plugin)) return { kind: 'gone' }
  return {
    kind: 'blocked',
    blocked: {
      ...said('DriverUnavailable.flexUnmounts', { plugin, ...program }),
      hint: advice`Install the driver again where the kubelet looks for drivers (volumePluginDir). If the driver is gone for good, the kernel can unmount, and nothing else that the driver would do is done: ${volctl('plan', '--driver-gone', plugin)}`,
    },
  }
}
