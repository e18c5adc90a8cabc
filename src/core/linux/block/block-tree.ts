/** Block devices, their multipath maps and their iSCSI sessions, as sysfs and udev's links show them (P76, P80, P81). */

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

export interface BlockTree {
  iscsiSessions(): readonly IscsiSession[]
  /** Undefined: no such device (any more). */
  node(name: string): BlockNode | undefined
  /** Kernel names of all block devices and partitions. */
  names(): readonly string[]
  /** The kernel's name of a device number. */
  nameOf(dev: string): string | undefined
  /** The kernel's name of a device file, links followed. */
  nameOfFile(path: string): string | undefined
  /** The other devices of a file system that spans several (btrfs, bcachefs). */
  devicesBeside(name: string): readonly string[]
  /** udev's links and the kernel's names of what they lead to. */
  links(directory: 'by-path' | 'by-id'): readonly { readonly link: string; readonly name: string }[]
  /** Kernel names of all SCSI disks. */
  scsiDisks(): readonly string[]
  /** The kernel's identifier of a disk's LUN, as naa.600508b400105e21; undefined: the kernel shows none. */
  wwid(name: string): string | undefined
  /** The WWN of the Fibre Channel port that a SCSI address belongs to; undefined: it belongs to none. */
  fcPort(scsiAddress: string): string | undefined
  /** The file that takes a SCSI disk away when "1" is written to it. */
  deletePath(name: string): string
}
