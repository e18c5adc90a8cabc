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
  /** What is made on top of it. */
  readonly holders: readonly string[]
  /** What it is made of. */
  readonly slaves: readonly string[]
  readonly isMultipath: boolean
  /** Of a device-mapper map, what made it: LVM-…, CRYPT-LUKS2-…, mpath-…, part1-mpath-… */
  readonly dmUuid?: string
  /** It has the file that takes a SCSI device away. */
  readonly isScsi: boolean
  /** HOST:CHANNEL:ID:LUN */
  readonly scsiAddress?: string
  /** Of a SCSI disk, as "char major:minor": the generic ones, through which it is read and written as well. */
  readonly characters: readonly string[]
  /** PID of the process that a network block device is served by on this node, which has it open for that (nbd). */
  readonly servedBy?: number
  /** The kernel is recovering its SCSI host: to open it would be to wait for that. */
  readonly isRecovering: boolean
}

export interface IscsiLun {
  readonly lun: string
  /** HOST:CHANNEL:ID:LUN */
  readonly address: string
  readonly disks: readonly string[]
  /** Its character devices, as "char major:minor": generic, tape, changer. */
  readonly characters: readonly string[]
  /** That made devices of it: sd, st. */
  readonly driver?: string
}

/** One session of the kernel's initiator. */
export interface IscsiSession {
  /** As the kernel calls it: session1. */
  readonly name: string
  /** Its SCSI host: host3. */
  readonly host: string
  readonly iqn: string
  /** ADDRESS:PORT, as asked for and as it came out; IPv6 in brackets. */
  readonly portals: readonly string[]
  readonly iface?: string
  readonly luns: readonly IscsiLun[]
}

export interface BlockTree {
  iscsiSessions(): readonly IscsiSession[]
  /** Undefined: no such device (any more). */
  node(name: string): BlockNode | undefined
  /** Of every block device and partition the kernel's name. */
  names(): readonly string[]
  /** The kernel's name of a device number. */
  nameOf(dev: string): string | undefined
  /** The kernel's name of a device file, links followed. */
  nameOfFile(path: string): string | undefined
  /** The other devices of the same file system, where it is one of several (btrfs, bcachefs). */
  devicesBeside(name: string): readonly string[]
  /** udev's links and the kernel's names of what they lead to. */
  links(directory: 'by-path' | 'by-id'): readonly { readonly link: string; readonly name: string }[]
  /** Of every SCSI disk the kernel's name. */
  scsiDisks(): readonly string[]
  /** The kernel's identifier of a disk's LUN, as naa.600508b400105e21; undefined: it gives none. */
  wwid(name: string): string | undefined
  /** The WWN of the Fibre Channel port that a SCSI address is behind; undefined: it is behind none. */
  fcPort(scsiAddress: string): string | undefined
  /** The file that takes a SCSI disk away when "1" is written to it. */
  deletePath(name: string): string
  /** Every SCSI host: host3. */
  scsiHosts(): readonly string[]
  /** Those of them that are Fibre Channel adapters. */
  fcHosts(): readonly string[]
  /** The file that makes a SCSI host look for LUNs when "CHANNEL TARGET LUN" is written to it, `-` for any. */
  scanPath(host: string): string
}
