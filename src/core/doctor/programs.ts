/** The programs of the host that volctl runs, and for what. */
import type { NodeSnapshot } from '../model/snapshot.ts'
import { NAMESPACE_PROGRAM } from '../trust/enter-namespace.ts'

export interface NeededProgram {
  readonly name: string
  /** To follow "needed to". */
  readonly use: string
  readonly isNeeded: (here: Here) => boolean
}

/** What decides whether a program is needed here. */
export interface Here {
  readonly hasSystemd: boolean
  /** Fields of volume sources that pods or PersistentVolumes here have: nfs, iscsi, local. */
  readonly sources: ReadonlySet<string>
}

const always = (): boolean => true
const withAny =
  (...names: readonly string[]) =>
  ({ sources }: Here): boolean =>
    names.some((name) => sources.has(name))

export const PROGRAMS: readonly NeededProgram[] = [
  { name: 'mount', use: 'mount volumes', isNeeded: always },
  { name: 'umount', use: 'unmount volumes', isNeeded: always },
  { name: 'losetup', use: 'find and release loop devices of raw block volumes', isNeeded: always },
  { name: 'lsns', use: 'find mount namespaces in which a volume is still mounted', isNeeded: always },
  { name: NAMESPACE_PROGRAM, use: "enter the kubelet's mount namespace", isNeeded: always },
  { name: 'stat', use: 'look at mounts that may hang', isNeeded: always },
  { name: 'systemctl', use: 'find out whether a kubelet may start again', isNeeded: ({ hasSystemd }) => hasSystemd },
  { name: 'blkid', use: 'look at a device before it is mounted', isNeeded: withAny('local') },
  { name: 'fsck', use: 'check a file system before it is mounted', isNeeded: withAny('local') },
  { name: 'blockdev', use: 'flush and examine devices', isNeeded: withAny('local', 'iscsi', 'fc') },
  { name: 'mount.nfs', use: 'mount NFS volumes', isNeeded: withAny('nfs') },
  { name: 'iscsiadm', use: 'log out of iSCSI targets', isNeeded: withAny('iscsi') },
  { name: 'resize2fs', use: 'grow ext file systems (--expand)', isNeeded: withAny('local') },
  { name: 'xfs_growfs', use: 'grow xfs file systems (--expand)', isNeeded: withAny('local') },
]

/** Which sources the volumes of a node's pods have. */
export function sourcesIn({ api }: Pick<NodeSnapshot, 'api'>): ReadonlySet<string> {
  const inPods = (api?.pods ?? []).flatMap(({ spec }) => (spec.volumes ?? []).flatMap(fieldsOf))
  const inVolumes = (api?.persistentVolumes ?? []).flatMap(({ spec }) => fieldsOf(spec))
  return new Set([...inPods, ...inVolumes])
}

function fieldsOf(source: object): string[] {
  return Object.entries(source).flatMap(([name, value]) => (value == null ? [] : [name]))
}
