/** Can the driver of a flexVolume be called, and what may be done when it cannot (P13, P85-P88, S16). */

import type { Obstacle } from '../../plan/draft.ts'
import { flexProgram } from '../../plugins/flex-program.ts'
import { isInTree } from '../../plugins/registry.ts'
import type { PlanContext } from '../context/context.ts'

export type FlexCall =
  | { readonly kind: 'call'; readonly executable: string }
  /** --driver-gone: the kernel alone. */
  | { readonly kind: 'gone' }
  | { readonly kind: 'blocked'; readonly blocked: Obstacle }

/**
 * Is this plugin a flexVolume driver? Whatever is not the kubelet's own is one, installed or not; a name that begins
 * like the kubelet's own, and is none of this version's, only where a driver of that name is installed.
 */
export function isFlexPlugin({ inputs }: PlanContext, plugin: string): boolean {
  if (isInTree(plugin)) return false
  return (
    !plugin.startsWith('kubernetes.io/') || inputs.snapshot.flexDrivers?.some(({ name }) => name === plugin) === true
  )
}

/** Without its driver the kubelet does not find the plugin and does nothing at all: so neither does volctl, unless told. */
export function flexCall({ inputs, options }: PlanContext, plugin: string): FlexCall {
  const program = flexProgram(inputs.snapshot, plugin)
  if ('executable' in program) return { kind: 'call', executable: program.executable }
  if (options.driverGone.includes(plugin)) return { kind: 'gone' }
  return {
    kind: 'blocked',
    blocked: {
      code: 'FlexDriverMissing',
      message: `flexVolume driver ${plugin} ${program.why}, and only it knows what an unmount takes`,
      hint: `Install it again where the kubelet looks (volumePluginDir); if it is gone for good, give --driver-gone ${plugin}: the kernel then unmounts, and what else the driver would do is not done.`,
    },
  }
}
