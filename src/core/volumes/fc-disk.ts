/** Names of a Fibre Channel volume: of its global directory, and of udev's links (P79, P80, P82). Pure. */

import { uniqueVolumeName, type VolumeMode } from '../facts/actual/volume-names.ts'
import type { SharedSources } from '../kube/api/objects.ts'

export const FC_PLUGIN = 'kubernetes.io/fc'

export type FcDisk =
  | { readonly wwns: readonly string[]; readonly lun: string; readonly wwids?: undefined }
  | { readonly wwids: readonly string[]; readonly wwns?: undefined; readonly lun?: undefined }

/** Allowed in names that become part of a path: nothing that would lead elsewhere. */
const ID = /^(?!\.{1,2}$)[A-Za-z0-9._: -]+$/

/**
 * The global directory of a source, relative to the root directory (P79): WWNs with a LUN, else WWIDs, whose spaces udev writes
 * as `_`.
 *
 * @returns undefined if the source has neither, or an invalid name
 */
export function fcDirectory(source: NonNullable<SharedSources['fc']>, mode: VolumeMode): string | undefined {
  const { targetWWNs = [], lun, wwids = [] } = source
  if (![...targetWWNs, ...wwids].every((each) => ID.test(each))) return undefined
  const byWwn = targetWWNs.length > 0 && lun != null
  if (!byWwn && wwids.length === 0) return undefined
  const name = byWwn ? `${targetWWNs.join('-')}-lun-${lun}` : wwids.join('-').replaceAll(' ', '_')
  return `plugins/kubernetes.io/fc/${mode === 'Block' ? 'volumeDevices/' : ''}${name}`
}

/** The disk of a directory's name, `WWN-WWN-lun-LUN` or `WWID-WWID`; undefined for other names. */
export function parseFcDirectory(name: string): FcDisk | undefined {
  const parts = name.split('-')
  if (parts.some((part) => part === '' || /[\s/]/.test(part))) return undefined
  if (parts.at(-2) !== 'lun') return { wwids: parts }
  const lun = parts.at(-1) ?? ''
  const wwns = parts.slice(0, -2)
  return wwns.length > 0 && /^\d+$/.test(lun) ? { wwns, lun } : undefined
}

/**
 * True for udev's links to the disk. The whole name must match (S25; for the kubelet it is enough if the link contains it).
 */
export function isFcLink(disk: FcDisk, directory: 'by-path' | 'by-id', link: string): boolean {
  if (disk.wwids !== undefined)
    return directory === 'by-id' && [...disk.wwids, disk.wwids.join('-')].some((wwid) => link === `scsi-${wwid}`)
  const [, wwn, lun] = /^(?:pci-.*-fc|fc)-0x([^-]+)-lun-(\d+)$/.exec(link) ?? []
  return directory === 'by-path' && wwn !== undefined && disk.wwns.includes(wwn) && lun === disk.lun
}

/** A disk's identity in sysfs; undefined: sysfs does not show it. */
interface FcIdentity {
  readonly lun: string | undefined
  /** Of the target's port: 0x50060e801049cfd1 */
  readonly port: string | undefined
  /** naa.…, eui.… or t10.… */
  readonly wwid: string | undefined
}

/** True if sysfs says that it is the disk: udev makes its links from sysfs, and the links may be stale or wrong. */
export function isFcDisk(disk: FcDisk, { lun, port, wwid }: FcIdentity): boolean {
  if (disk.wwids !== undefined)
    return wwid !== undefined && [...disk.wwids, disk.wwids.join('-')].some((each) => isSame(each, udevName(wwid)))
  return port !== undefined && lun === disk.lun && disk.wwns.some((wwn) => isSame(`0x${wwn}`, port))
}

function isSame(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase()
}

/** The WWID as udev writes it: the identifier's type as a digit, and no spaces. */
function udevName(wwid: string): string {
  const [, type = '', id = ''] = /^(naa|eui|t10)\.(.*)$/s.exec(wwid) ?? []
  return `${{ naa: '3', eui: '2', t10: '1' }[type] ?? ''}${id.trim().replaceAll(/\s+/g, '_')}`
}

/** The unique name, with lists as Go prints them (R013). */
export function fcUniqueName(disk: FcDisk): string {
  const name = disk.wwns === undefined ? `[${disk.wwids.join(' ')}]` : `[${disk.wwns.join(' ')}]:${disk.lun}`
  return uniqueVolumeName(FC_PLUGIN, name)
}
