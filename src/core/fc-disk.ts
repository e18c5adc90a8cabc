/** What names a Fibre Channel volume on disk: the name of its global directory, and udev's links (P79, P80, P82). Pure. */
import { uniqueVolumeName } from './names.ts'

export const FC_PLUGIN = 'kubernetes.io/fc'

export type FcDisk =
  | { readonly wwns: readonly string[]; readonly lun: string; readonly wwids?: undefined }
  | { readonly wwids: readonly string[]; readonly wwns?: undefined; readonly lun?: undefined }

/** `WWN-WWN-lun-LUN` or `WWID-WWID`; undefined where it is neither. */
export function parseFcDirectory(name: string): FcDisk | undefined {
  const parts = name.split('-')
  if (parts.some((part) => part === '' || /[\s/]/.test(part))) return undefined
  if (parts.at(-2) !== 'lun') return { wwids: parts }
  const lun = parts.at(-1) ?? ''
  const wwns = parts.slice(0, -2)
  return wwns.length > 0 && /^\d+$/.test(lun) ? { wwns, lun } : undefined
}

/** Is this udev link one of the disk: the whole of its name, never a part of it (S25; the kubelet takes any that contains it). */
export function isFcLink(disk: FcDisk, directory: 'by-path' | 'by-id', link: string): boolean {
  if (disk.wwids !== undefined)
    return directory === 'by-id' && [...disk.wwids, disk.wwids.join('-')].some((wwid) => link === `scsi-${wwid}`)
  const [, wwn, lun] = /^(?:pci-.*-fc|fc)-0x([^-]+)-lun-(\d+)$/.exec(link) ?? []
  return directory === 'by-path' && wwn !== undefined && disk.wwns.includes(wwn) && lun === disk.lun
}

/** Go's print of a list (R013). */
export function fcUniqueName(disk: FcDisk): string {
  const name = disk.wwns === undefined ? `[${disk.wwids.join(' ')}]` : `[${disk.wwns.join(' ')}]:${disk.lun}`
  return uniqueVolumeName(FC_PLUGIN, name)
}
