/** Whether the driver of a flexVolume can be called, and what may be done if not (P13, P85-P88, S16). */

import { volctl } from '../../base/command.ts'
import type { NodeSnapshot } from '../../facts/actual/snapshot.ts'
import type { Obstacle } from '../../plan/draft.ts'
import { isInTree } from '../../volumes/registry.ts'
import type { PlanContext } from '../context/context.ts'

export type FlexCall =
  | { readonly kind: 'call'; readonly executable: string }
  /** --driver-gone: the kernel unmounts, and the driver is not called. */
  | { readonly kind: 'gone' }
  | { readonly kind: 'blocked'; readonly blocked: Obstacle }

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
export function flexProgram(
  { flexDrivers }: Pick<NodeSnapshot, 'flexDrivers'>,
  plugin: string,
): { readonly executable: string } | { readonly why: string } {
  const driver = flexDrivers?.find(({ name }) => name === plugin)
  if (driver !== undefined && driver.error === undefined) return { executable: driver.executable }
  if (flexDrivers === undefined) return { why: 'was not searched for' }
  if (driver === undefined) return { why: 'is not installed on this node' }
  return { why: `cannot be run: ${driver.executable}: ${driver.error}` }
}

/**
 * Without the driver the kubelet does not find the plugin, and does nothing. So volctl does nothing, either, without
 * --driver-gone.
 */
export function flexCall({ inputs, options }: PlanContext, plugin: string): FlexCall {
  const program = flexProgram(inputs.snapshot, plugin)
  if ('executable' in program) return { kind: 'call', executable: program.executable }
  if (options.driverGone.includes(plugin)) return { kind: 'gone' }
  return {
    kind: 'blocked',
    blocked: {
      code: 'DriverUnavailable',
      message: `flexVolume driver ${plugin} ${program.why}, and only the driver knows how to unmount its volumes`,
      hint: `Install the driver again where the kubelet looks for drivers (volumePluginDir). If the driver is gone for good, the kernel can unmount, and nothing else that the driver would do is done: ${volctl('plan', '--driver-gone', plugin)}`,
    },
  }
}
