/** fc: a Fibre Channel LUN that the host's adapters see, by its global directory's name and udev's links (P79-P82). */

import { posix } from 'node:path'
import type { SharedSources } from '../kube/api/objects.ts'
import { lunPlugin } from './map-steps.ts'
import { uniqueVolumeName, type VolumeMode } from './volume-names.ts'

const FC_PLUGIN = 'kubernetes.io/fc'

type FcSource = NonNullable<SharedSources['fc']>

/** WWNs with a LUN, or WWIDs. */
export interface FcDisk {
  readonly wwns?: readonly string[]
  readonly lun?: string
  readonly wwids?: readonly string[]
}

/** Allowed in names that become part of a path: nothing that would lead elsewhere. */
const ID = /^(?!\.{1,2}$)[A-Za-z0-9._: -]+$/

/** WWNs with a LUN, else WWIDs; undefined: the source has neither. */
function diskOf({ targetWWNs = [], lun, wwids = [] }: FcSource): FcDisk | undefined {
  if (targetWWNs.length > 0 && lun != null) return { wwns: targetWWNs, lun: String(lun) }
  return wwids.length > 0 ? { wwids } : undefined
}

/**
 * The global directory of a source, relative to the root directory (P79): udev writes spaces of WWIDs as `_`.
 *
 * @returns undefined if the source has neither WWNs nor WWIDs, or an invalid name
 */
function fcDirectory({ mode }: { readonly mode: VolumeMode }, source: FcSource): string | undefined {
  const disk = diskOf(source)
  const { targetWWNs = [], wwids = [] } = source
  if (disk === undefined || ![...targetWWNs, ...wwids].every((each) => ID.test(each))) return undefined
  const name = disk.wwns ? `${disk.wwns.join('-')}-lun-${disk.lun}` : wwids.join('-').replaceAll(' ', '_')
  return `plugins/${FC_PLUGIN}/${mode === 'Block' ? 'volumeDevices/' : ''}${name}`
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
  if (directory === 'by-id') return namesOf(disk).some((wwid) => link === `scsi-${wwid}`)
  const [, wwn = '', lun] = /^(?:pci-.*-fc|fc)-0x([^-]+)-lun-(\d+)$/.exec(link) ?? []
  return lun === disk.lun && disk.wwns?.includes(wwn) === true
}

/** Under which udev may have a disk by its WWIDs: a hyphen may be part of one. */
function namesOf({ wwids }: FcDisk): string[] {
  return wwids ? [...wwids, wwids.join('-')] : []
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
  if (disk.wwns === undefined) return wwid !== undefined && namesOf(disk).some((each) => isSame(each, udevName(wwid)))
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

/** As Go prints lists: brackets and blanks are literal (R013). */
function nameOf({ wwns, lun, wwids = [] }: FcDisk): string {
  return wwns ? `[${wwns.join(' ')}]:${lun}` : `[${wwids.join(' ')}]`
}

export const fc = lunPlugin({
  source: 'fc',
  called: 'Fibre Channel',
  removed: 'flushed and removed',
  depth: 1,
  facts: (source) => {
    const disk = diskOf(source)
    return disk === undefined
      ? { error: 'its fc source names neither WWNs with a LUN nor WWIDs' }
      : { shared: nameOf(disk), attachability: 'attachable' }
  },
  sourceText: ({ targetWWNs = [], wwids = [] }) => `Fibre Channel ${[...targetWWNs, ...wwids].join(', ')}`,
  directoryOf: fcDirectory,
  globals: /^(?!volumeDevices$)[^/]+$/,
  isOf: isFcOf,
  uniqueName: (path) => {
    const disk = parseFcDirectory(posix.basename(path))
    return disk && uniqueVolumeName(FC_PLUGIN, nameOf(disk))
  },
  release: (target) => [{ op: 'removeFcDisks', target }],
})

/** One WWN or WWID in common is enough: a PersistentVolume may list them in another order, or with others (P96). */
function isFcOf({ targetWWNs = [], lun, wwids = [] }: FcSource, name: string): boolean {
  const disk = parseFcDirectory(name)
  const escaped = wwids.map((wwid) => wwid.replaceAll(' ', '_'))
  if (disk === undefined || escaped.join('-') === name) return true
  if (disk.wwns === undefined) return disk.wwids?.some((wwid) => escaped.includes(wwid)) === true
  const wwns = targetWWNs.map((wwn) => wwn.toLowerCase())
  return String(lun) === disk.lun && disk.wwns.some((wwn) => wwns.includes(wwn.toLowerCase()))
}
