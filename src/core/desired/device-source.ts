/**
 * Which volume a device belongs to: iSCSI, FC and flexVolume sources compared with the names of global directories (R815,
 * P93-P96).
 *
 * By exact names of target and LUN, of WWN and LUN, of WWID, of the volume. If one volume can be written in two ways, either
 * counts, so that a wanted volume is never taken for another one.
 */

import type { SharedSources } from '../model/objects.ts'
import { FC_PLUGIN, parseFcDirectory } from '../names/fc-disk.ts'
import { ISCSI_PLUGIN } from '../names/iscsi-disk.ts'
import { sharedSourcesOf } from './shared-sources.ts'
import type { VolumeSpec } from './volume-spec.ts'

/** What identifies the device of a wanted volume. */
export interface DeviceSource {
  readonly plugin: string
  readonly specName: string
  readonly iscsi?: { readonly iqn: string; readonly lun: string }
  readonly fc?: NonNullable<SharedSources['fc']>
}

export function deviceSourceOf(volume: VolumeSpec): DeviceSource {
  const { plugin, specName } = volume
  const { iscsi, fc } = sharedSourcesOf(volume)
  return {
    plugin,
    specName,
    ...(iscsi == null ? {} : { iscsi: { iqn: iscsi.iqn, lun: String(iscsi.lun ?? 0) } }),
    ...(fc == null ? {} : { fc }),
  }
}

/** @param name of the global directory: of the mount, or of the block map */
export function isDeviceOf(source: DeviceSource, plugin: string, name: string): boolean {
  if (source.plugin !== plugin) return false
  if (plugin === ISCSI_PLUGIN) return source.iscsi === undefined || endsWithLun(name, source.iscsi)
  if (plugin === FC_PLUGIN) return source.fc === undefined || isFcOf(source.fc, name)
  return source.specName === name
}

/** With any portal: one LUN behind two portals is one disk. */
function endsWithLun(name: string, { iqn, lun }: NonNullable<DeviceSource['iscsi']>): boolean {
  return name.endsWith(`-${iqn}-lun-${lun}`)
}

/** One WWN or WWID in common is enough: a PersistentVolume may list them in another order, or with others (P96). */
function isFcOf({ targetWWNs = [], lun, wwids = [] }: NonNullable<DeviceSource['fc']>, name: string): boolean {
  const disk = parseFcDirectory(name)
  const escaped = wwids.map((wwid) => wwid.replaceAll(' ', '_'))
  if (disk === undefined || escaped.join('-') === name) return true
  if (disk.wwns === undefined) return disk.wwids.some((wwid) => escaped.includes(wwid))
  const wwns = targetWWNs.map((wwn) => wwn.toLowerCase())
  return String(lun) === disk.lun && disk.wwns.some((wwn) => wwns.includes(wwn.toLowerCase()))
}
