/** The target of an iSCSI volume in a pod or PersistentVolume, and its names on disk (P72-P74). Pure. */

import type { SharedSources } from '../model/objects.ts'
import { isDirectoryOf, isIfaceName, parseIscsiJson } from './iscsi-disk.ts'
import type { VolumeMode } from './volume-names.ts'

/** One LUN, with what is needed to log in to it. */
export interface IscsiTarget {
  readonly volumeName: string
  /** With their ports; duplicates in the source are kept. */
  readonly portals: readonly [string, ...string[]]
  readonly iqn: string
  readonly lun: string
  /** The interface that the source names: its settings are used. */
  readonly initIface: string
  /** The interface that is used: the same, or, if the source has an initiator name, the volume's own clone of it. */
  readonly iface: string
  readonly initiatorName: string
}

type IscsiSource = NonNullable<SharedSources['iscsi']>

/**
 * @param volumeName the spec name
 * @returns an error where a name must not be passed to a program or become part of a path
 */
export function iscsiTargetOf(volumeName: string, source: IscsiSource): IscsiTarget | { readonly error: string } {
  const { targetPortal, portals = [], iqn, lun, iscsiInterface, initiatorName = '' } = source
  const first = withDefaultPort(targetPortal)
  const initIface = iscsiInterface || 'default'
  const target: IscsiTarget = {
    volumeName,
    portals: [first, ...portals.map(withDefaultPort)],
    iqn,
    lun: String(lun ?? 0),
    initIface,
    iface: initiatorName === '' ? initIface : `${first}:${volumeName}`,
    initiatorName,
  }
  if (!isIfaceName(initIface)) return { error: `iscsiInterface ${JSON.stringify(initIface)} is invalid` }
  if (initiatorName !== '' && !/^(?:iqn|eui|naa)\.\S+$/.test(initiatorName))
    return { error: `initiatorName ${JSON.stringify(initiatorName)} is invalid` }
  // A record that could not be read again could not be torn down.
  const record = parseIscsiJson(iscsiRecordOf(target))
  if ('corrupt' in record) return { error: `its iscsi source: ${record.corrupt}` }
  return isDirectoryOf(record.disk, nameOf(target)) ? target : { error: 'its iscsi source has no LUN' }
}

/** The global directory, relative to the root directory (P72). */
export function iscsiDirectory(target: IscsiTarget, mode: VolumeMode): string {
  const maps = mode === 'Block' ? 'volumeDevices/' : ''
  return `plugins/kubernetes.io/iscsi/${maps}iface-${target.iface}/${nameOf(target)}`
}

function nameOf({ portals, iqn, lun }: IscsiTarget): string {
  return `${portals[0]}-${iqn}-lun-${lun}`
}

/** The text of iscsi.json, byte for byte as the kubelet writes it; it contains no secret (P73). */
export function iscsiRecordOf({ volumeName, portals, iqn, lun, initIface, iface, initiatorName }: IscsiTarget): string {
  const record = {
    VolName: volumeName,
    Portals: portals,
    Iqn: iqn,
    Lun: lun,
    InitIface: initIface,
    Iface: iface,
    InitiatorName: initiatorName,
    MetricsProvider: null,
  }
  return `${JSON.stringify(record)}\n`
}

/**
 * True for udev's links to the LUN through one of the portals. The whole name must match (P74; S25):
 * `ip-PORTAL-iscsi-IQN-lun-LUN`, after the adapter's address for transports other than TCP; IPv6 without brackets.
 */
export function isIscsiLink(
  link: string,
  portals: readonly string[],
  { iqn, lun }: Pick<IscsiTarget, 'iqn' | 'lun'>,
): boolean {
  const [, name] = /^(?:pci-.+?-)?(ip-.*)$/.exec(link) ?? []
  return portals.some((portal) => name === `ip-${portal.replaceAll(/[[\]]/g, '')}-iscsi-${iqn}-lun-${lun}`)
}

function withDefaultPort(portal: string): string {
  return portal.includes(':') ? portal : `${portal}:3260`
}
