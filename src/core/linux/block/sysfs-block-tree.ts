/**
 * Block devices, their multipath maps and their iSCSI sessions, as sysfs and udev's links show them (P76, P80, P81): of this host, or of
 * a test's sysfs. A missing file means absence; any other failure is thrown (S3).
 */
import { readdirSync, readlinkSync, realpathSync, statSync } from 'node:fs'
import { posix } from 'node:path'
import { compareText } from '../../base/text.ts'
import { allowing } from '../../messages/findings.ts'
import { kernelText } from '../../trust/kernel.ts'
import type { MountTable } from '../mount-table.ts'

/** A disk, a partition or a device-mapper map. */
export interface BlockNode {
  /** As the kernel calls it: sdb, sdb1, dm-0. */
  readonly name: string
  /** "major:minor" */
  readonly dev: string
  /** The disk, where this is a partition. */
  readonly disk?: string
  readonly partitions: readonly string[]
  /** Devices that are built on it. */
  readonly holders: readonly string[]
  /** Devices that it is built on. */
  readonly slaves: readonly string[]
  readonly isMultipath: boolean
  /** For a device-mapper map, shows what created it: LVM-…, CRYPT-LUKS2-…, mpath-…, part1-mpath-… */
  readonly dmUuid?: string
  /** It has the sysfs file that removes a SCSI device. */
  readonly isScsi: boolean
  /** HOST:CHANNEL:ID:LUN */
  readonly scsiAddress?: string
  /** A SCSI disk's generic character devices, as "char major:minor": it can be read and written through these too. */
  readonly characters: readonly string[]
  /** PID of the process on this node that serves a network block device, and has it open for that (nbd). */
  readonly servedBy?: number
  /** The kernel is recovering its SCSI host: an open would wait for that. */
  readonly isRecovering: boolean
}

export interface IscsiLun {
  readonly lun: string
  /** HOST:CHANNEL:ID:LUN */
  readonly address: string
  readonly disks: readonly string[]
  /** Its character devices, as "char major:minor": generic, tape, changer. */
  readonly characters: readonly string[]
  /** The driver that made devices for it: sd, st. */
  readonly driver?: string
}

/** One session of the kernel's initiator. */
export interface IscsiSession {
  /** As the kernel calls it: session1. */
  readonly name: string
  readonly iqn: string
  /** ADDRESS:PORT, as configured and as connected; IPv6 in brackets. */
  readonly portals: readonly string[]
  readonly iface?: string
  readonly luns: readonly IscsiLun[]
}

const NOT_CONNECTED = ['ENOTCONN', 'ENOSYS']
const CHARACTER_CLASSES = ['scsi_generic', 'scsi_tape', 'scsi_changer', 'bsg']

/** @param sys @param dev of this host, or of a test */
export function sysfsBlockTree(sys = '/sys', dev = '/dev') {
  const scsiAddressOf = (name: string): string | undefined => {
    const found = unlessGone('', () => posix.basename(realpathSync(`${sys}/block/${name}/device`)))
    return /^\d+(?::\d+){3}$/.test(found) ? found : undefined
  }
  /** The file that takes a SCSI disk away when "1" is written to it. */
  const deletePath = (name: string): string => `${sys}/block/${name}/device/delete`
  /** Undefined: no such device (any more). */
  const node = (name: string): BlockNode | undefined => {
    const own = `${sys}/block/${name}`
    // Partitions have no directory directly below /sys/block.
    const at = isThere(own) ? own : `${sys}/class/block/${name}`
    const number = textIn(`${at}/dev`)
    if (number === undefined) return undefined
    const scsiAddress = scsiAddressOf(name)
    const dmUuid = textIn(`${at}/dm/uuid`)
    const server = Number(textIn(`${at}/pid`) ?? 0)
    const disk = isThere(`${at}/partition`) ? posix.basename(posix.dirname(realpathSync(at))) : undefined
    return {
      name,
      dev: number,
      disk,
      // Their names begin with the disk's.
      partitions: namesIn(at).filter((each) => each.startsWith(name) && isThere(`${at}/${each}/partition`)),
      holders: namesIn(`${at}/holders`),
      slaves: namesIn(`${at}/slaves`),
      isMultipath: dmUuid?.startsWith('mpath-') === true,
      dmUuid,
      isScsi: isThere(deletePath(name)),
      ...(Number.isInteger(server) && server > 0 && { servedBy: server }),
      scsiAddress,
      characters: charactersOf(`${at}/device`),
      isRecovering: isRecovering(disk ?? name),
    }
  }
  /** True for a map if one of its paths is recovering. */
  const isRecovering = (name: string): boolean => {
    const host = scsiAddressOf(name)?.split(':')[0]
    if (host !== undefined && textIn(`${sys}/class/scsi_host/host${host}/state`) === 'recovery') return true
    return namesIn(`${sys}/block/${name}/slaves`).some((slave) => isRecovering(node(slave)?.disk ?? slave))
  }
  const bcachefsDevices = (at: string): string[] =>
    namesIn(at).flatMap((name) => (name.startsWith('dev-') ? (nameBehind(`${at}/${name}/block`) ?? []) : []))
  return {
    node,
    deletePath,
    iscsiSessions: (): readonly IscsiSession[] => {
      const hosts = `${sys}/class/iscsi_host`
      return namesIn(hosts).flatMap((host) =>
        namesIn(`${hosts}/${host}/device`)
          .filter((name) => /^session\d+$/.test(name))
          .flatMap((name) => session(`${hosts}/${host}/device/${name}`, name) ?? []),
      )
    },
    /** Kernel names of all block devices and partitions. */
    names: (): readonly string[] => namesIn(`${sys}/class/block`),
    /** The kernel's name of a device number. */
    nameOf: (number: string): string | undefined => nameBehind(`${sys}/dev/block/${number}`),
    /** The kernel's name of a device file, links followed. */
    nameOfFile: (path: string): string | undefined => {
      if (!path.startsWith('/dev/')) return undefined
      return unlessGone(undefined, () => posix.basename(realpathSync(`${dev}${path.slice('/dev'.length)}`)))
    },
    /** The other devices of a file system that spans several (btrfs, bcachefs). */
    devicesBeside: (name: string): readonly string[] => {
      const together = [
        ...namesIn(`${sys}/fs/btrfs`).map((id) => namesIn(`${sys}/fs/btrfs/${id}/devices`)),
        ...namesIn(`${sys}/fs/bcachefs`).map((id) => bcachefsDevices(`${sys}/fs/bcachefs/${id}`)),
      ]
      return together.filter((names) => names.includes(name)).flatMap((names) => names.filter((each) => each !== name))
    },
    /** udev's links and the kernel's names of what they lead to. */
    links: (directory: 'by-path' | 'by-id') => {
      const at = `${dev}/disk/${directory}`
      return namesIn(at).flatMap((link) => {
        const name = nameBehind(`${at}/${link}`)
        return name === undefined ? [] : [{ link, name }]
      })
    },
    /** Kernel names of all SCSI disks. */
    scsiDisks: (): readonly string[] => namesIn(`${sys}/block`).filter((name) => scsiAddressOf(name) !== undefined),
    /** The kernel's identifier of a disk's LUN, as naa.600508b400105e21; undefined: the kernel shows none. */
    wwid: (name: string): string | undefined => textIn(`${sys}/block/${name}/device/wwid`, 'EINVAL'),
    /** The WWN of the Fibre Channel port that a SCSI address belongs to; undefined: it belongs to none. */
    fcPort: (scsiAddress: string): string | undefined => {
      const target = scsiAddress.split(':').slice(0, 3).join(':')
      return textIn(`${sys}/class/fc_transport/target${target}/port_name`)
    },
  }
}

/** A host's, or a test's. */
export type BlockTree = ReturnType<typeof sysfsBlockTree>

/** Undefined where the session ended while it was read. */
function session(at: string, name: string): IscsiSession | undefined {
  const facts = `${at}/iscsi_session/${name}`
  const iqn = textIn(`${facts}/targetname`)
  if (iqn === undefined) return undefined
  const iface = textIn(`${facts}/ifacename`)
  const portals = namesIn(at)
    .filter((each) => /^connection\d+:\d+$/.test(each))
    .flatMap((each) => {
      const connection = `${at}/${each}/iscsi_connection/${each}`
      return ['persistent_', ''].flatMap((kind) => portalOf(connection, kind) ?? [])
    })
  const luns = lunsOf(at)
  return { name, iqn, portals: [...new Set(portals)], iface, luns }
}

/** A session that is reconnecting shows no current address, but still shows the configured one. */
function portalOf(connection: string, kind: string): string | undefined {
  const address = textIn(`${connection}/${kind}address`, ...NOT_CONNECTED)
  const port = textIn(`${connection}/${kind}port`, ...NOT_CONNECTED)
  if (!address || address === '<NULL>' || !port) return undefined
  return `${address.includes(':') && !address.startsWith('[') ? `[${address}]` : address}:${port}`
}

/** sessionN/targetHOST:CHANNEL:ID/HOST:CHANNEL:ID:LUN/block/NAME */
function lunsOf(at: string): IscsiLun[] {
  return namesIn(at)
    .filter((name) => /^target\d+:\d+:\d+$/.test(name))
    .flatMap((target) =>
      namesIn(`${at}/${target}`).flatMap((device) => {
        const lun = /^\d+:\d+:\d+:(\d+)$/.exec(device)?.[1]
        if (lun === undefined) return []
        const path = `${at}/${target}/${device}`
        const driver = nameBehind(`${path}/driver`)
        return {
          lun,
          address: device,
          disks: namesIn(`${path}/block`),
          characters: charactersOf(path),
          driver,
        }
      }),
    )
}

function charactersOf(device: string): string[] {
  return CHARACTER_CLASSES.flatMap((kind) =>
    namesIn(`${device}/${kind}`).flatMap((name) => {
      const dev = textIn(`${device}/${kind}/${name}/dev`)
      return dev === undefined ? [] : `char ${dev}`
    }),
  )
}

/** Whether sysfs has this. @throws any failure but absence (S3) */
export function isThere(path: string): boolean {
  return unlessGone(false, () => statSync(path, { throwIfNoEntry: false }) !== undefined)
}

/** Sorted names in a directory of sysfs; none where there is no such directory. @throws any other failure (S3) */
export function namesIn(directory: string): string[] {
  return unlessGone([], () => readdirSync(directory).toSorted(compareText))
}

/**
 * The trimmed text of a file of sysfs; undefined where there is no such file.
 *
 * @param none error codes that mean here that the value does not exist
 * @throws any other failure (S3)
 */
export function textIn(file: string, ...none: readonly string[]): string | undefined {
  return unlessGone(undefined, () => kernelText(file).trim(), ...none)
}

/** The last name of a link's target. EINVAL: the link was replaced by something else. */
function nameBehind(link: string): string | undefined {
  return unlessGone(undefined, () => posix.basename(readlinkSync(link)), 'EINVAL')
}

/** If a device disappears while its attributes are read, the read fails with one of several errors that all mean "gone". */
const GONE = ['ENOENT', 'ENOTDIR', 'ENODEV', 'ENXIO']

/** @param none other errors that mean the same here @throws any other failure (S3) */
function unlessGone<T>(absent: T, read: () => T, ...none: readonly string[]): T {
  return allowing([...GONE, ...none], absent, read)
}

// File systems that are still alive on a device although no mount table has them.

/** With the block device's name in sysfs ("sdb1", "dm-3") and its "major:minor". */
export type HiddenFileSystem = ReturnType<typeof hiddenFileSystems>[number]

/** Types that sysfs lists by device name. (btrfs and bcachefs are listed by id, others not at all.) */
const LISTED = ['ext4', 'xfs', 'f2fs']

/** @param tables of all mount namespaces @throws what cannot be read may hide one (S3) */
export function hiddenFileSystems(tables: readonly MountTable[], sys = '/sys') {
  return LISTED.flatMap((fsType) =>
    namesIn(`${sys}/fs/${fsType}`).flatMap((device) => {
      // Other directories in it belong to the file system type ("features", "stats").
      const dev = textIn(`${sys}/class/block/${device}/dev`)
      const isShown = dev === undefined || tables.some((table) => table.ofDevice(dev).length > 0)
      return isShown ? [] : [{ device, dev, fsType }]
    }),
  )
}
