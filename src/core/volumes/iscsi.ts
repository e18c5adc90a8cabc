/** iscsi: a LUN of a target that the node logs in to, by its iscsi.json and its global directory's name (P72-P78). */

import { posix } from 'node:path'
import type { SharedSources } from '../kube/api/objects.ts'
import { lunPlugin } from './map-steps.ts'
import { uniqueVolumeName, type VolumeMode } from './volume-names.ts'

export const ISCSI_PLUGIN = 'kubernetes.io/iscsi'
/** The file in a global directory that records the login (P73). */
const ISCSI_RECORD = 'iscsi.json'

/** One LUN as the kubelet logged in to it. */
export interface IscsiDisk {
  /** With their ports; the first one is in the directory's name. */
  readonly portals: readonly string[]
  readonly iqn: string
  readonly lun: string
  readonly iface?: string
  /** The kubelet has cloned this interface for the volume, and deletes it at the end (P76). */
  readonly ownIface: boolean
}

/** Allowed names: they are passed to a program and looked up in sysfs, so nothing may look like an option or a path. */
const PORTAL = /^[A-Za-z0-9[][A-Za-z0-9._:%[\]-]*$/
const IQN = /^(?:iqn|eui|naa)\.[^\s/]+$/
const LUN = /^\d{1,10}$/
const IFACE = /^[^\s/-][^\s/]*$/

/** @param text of iscsi.json: Go's names of the exported fields of iscsiDisk. Undefined: it is empty, cut off, or invalid */
export function parseIscsiJson(text: string): IscsiDisk | undefined {
  const { VolName, Portals, Iqn, Lun, Iface, InitiatorName } = fieldsIn(text)
  const is = (value: unknown, form: RegExp): value is string => typeof value === 'string' && form.test(value)
  const portals = Array.isArray(Portals) ? Portals.filter((portal) => typeof portal === 'string') : []
  const [first] = portals
  if (first === undefined || !portals.every((portal) => PORTAL.test(portal))) return undefined
  const iface = is(Iface, IFACE) ? Iface : undefined
  if (!is(Iqn, IQN) || !is(Lun, LUN) || (iface === undefined && Iface !== undefined && Iface !== '')) return undefined
  const ownIface = typeof InitiatorName === 'string' && InitiatorName !== '' && iface === `${first}:${VolName}`
  return { portals: [...new Set(portals)], iqn: Iqn, lun: Lun, iface, ownIface }
}

/**
 * The same from a path `…/iface-IFACE/PORTAL-IQN-lun-LUN`. The portal ends with its port, so that a host name may contain
 * hyphens, which the kubelet's own parser gets wrong (P77). The LUN follows the last `-lun-`, since a target may contain one.
 */
export function parseIscsiDirectory(path: string): IscsiDisk | undefined {
  const iface = ifaceOf(path)
  const match = /^(\[[^[\]]+\](?::\d+)?|[^[\]]+?:\d+)-((?:iqn|eui|naa)\..+)-lun-(\d+)$/.exec(posix.basename(path))
  const [, portal, iqn, lun] = match ?? []
  if (portal === undefined || iqn === undefined || lun === undefined) return undefined
  if (!PORTAL.test(portal) || !IQN.test(iqn) || !LUN.test(lun)) return undefined
  return { portals: [portal], iqn, lun, ownIface: false, iface }
}

/**
 * The global directory of a wanted volume, relative to the root directory (P72). With an initiator name the volume has its own
 * interface.
 *
 * @returns undefined if a tear-down could not read the same from this path
 */
function iscsiDirectory(
  { specName, mode }: { readonly specName: string; readonly mode: VolumeMode },
  { targetPortal, iqn, lun, iscsiInterface, initiatorName }: NonNullable<SharedSources['iscsi']>,
): string | undefined {
  const portal = targetPortal.includes(':') ? targetPortal : `${targetPortal}:3260`
  const iface = initiatorName ? `${portal}:${specName}` : iscsiInterface || 'default'
  const maps = mode === 'Block' ? 'volumeDevices/' : ''
  const path = `plugins/${ISCSI_PLUGIN}/${maps}iface-${iface}/${portal}-${iqn}-lun-${lun ?? 0}`
  const disk = parseIscsiDirectory(path)
  return disk?.iface === iface && disk.iqn === iqn && disk.portals[0] === portal ? path : undefined
}

/** The interface in a path `…/iface-IFACE/NAME`. */
export function ifaceOf(path: string): string | undefined {
  const iface = /^iface-(.+)$/.exec(posix.basename(posix.dirname(path)))?.[1]
  return iface !== undefined && IFACE.test(iface) ? iface : undefined
}

/** True for the name of this disk's directory: exactly one of its portals, its target and its LUN (S25). */
export function isDirectoryOf({ portals, iqn, lun }: IscsiDisk, name: string): boolean {
  return portals.some((portal) => name === `${portal}-${iqn}-lun-${lun}`)
}

export const iscsi = lunPlugin({
  source: 'iscsi',
  called: 'iSCSI',
  removed: 'removed and its session ended',
  depth: 2,
  // The portal exactly as it was written: a missing port stays missing (R014).
  facts: ({ targetPortal, iqn, lun }) => ({
    shared: `${targetPortal}:${iqn}:${lun ?? 0}`,
    attachability: 'attachable',
  }),
  sourceText: ({ iqn, lun, targetPortal }) => `iSCSI ${iqn} LUN ${lun ?? 0} at ${targetPortal}`,
  directoryOf: iscsiDirectory,
  globals: /^iface-[^/]*\/[^/]+$/,
  // With any portal: one LUN behind two portals is one disk.
  isOf: ({ iqn, lun }, name) => name.endsWith(`-${iqn}-lun-${lun ?? 0}`),
  // With the port: the directory's name contains it, a pod's spec may lack it (R014, R019).
  uniqueName: (path) => {
    const { portals: [portal] = [], iqn, lun } = parseIscsiDirectory(path) ?? {}
    return portal && uniqueVolumeName(ISCSI_PLUGIN, `${portal}:${iqn}:${lun}`)
  },
  record: { name: ISCSI_RECORD, volumeNameIn },
  // In the kubelet's order: devices, log-out, and only then the record that the log-out needs (R837).
  release: (target) => [
    { op: 'removeIscsiDisks', target },
    { op: 'iscsiLogout', target, detail: 'unless another LUN of the session is in use' },
    { op: 'unlink', target: `${target}/${ISCSI_RECORD}` },
  ],
  session: (target) => {
    const disk = parseIscsiDirectory(target)
    return disk && `target ${disk.iqn}`
  },
})

function volumeNameIn(text: string): string | undefined {
  const { VolName } = fieldsIn(text)
  return typeof VolName === 'string' ? VolName : undefined
}

/** None: it is no JSON object. */
function fieldsIn(text: string): Readonly<Record<string, unknown>> {
  try {
    return { ...JSON.parse(text) }
  } catch {
    return {}
  }
}
