/**
 * Which volume a device belongs to: sources of volumes compared with the names of global directories (R815, P93-P96).
 *
 * By exact names of target and LUN, of WWN and LUN, of WWID, of the volume. If a volume can be written in two ways, either
 * counts, so that a wanted volume is never taken for another one.
 */
import type { DeviceSource } from '../plugins/plugin.ts'
import { pluginNamed } from '../plugins/registry.ts'

/** @param name of the global directory: of the mount, or of the block map */
export function isDeviceOf(volume: DeviceSource, plugin: string, name: string): boolean {
  if (volume.plugin !== plugin) return false
  return pluginNamed(plugin).device?.isOf?.(volume, name) ?? volume.specName === name
}
