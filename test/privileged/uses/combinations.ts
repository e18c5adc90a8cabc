/**
 * What may be taken away of a node's volumes, and every way in which somebody may be using it meanwhile: as tables, and
 * the combinations of both as a list. Those without meaning say why.
 */
import { randomFrom } from '../../helpers/random-from.ts'

/** By kind of volume: the operations that take it away, in their order. A trial begins with each of them as the first. */
export const KINDS = {
  'CSI file system': ['UnmountVolume', 'UnmountDevice', 'DetachVolume'],
  'CSI raw block': ['UnmapVolume', 'UnmapDevice', 'DetachVolume'],
  'CSI directory': ['UnmountVolume', 'UnmountDevice', 'DetachVolume'],
  'local device': ['CleanOrphanVolume', 'UnmountDevice'],
  'emptyDir on disk': ['UnmountVolume'],
  'emptyDir in memory': ['UnmountVolume'],
  'subPath of a hostPath': ['UnmountVolume'],
  'subPath of a CSI volume': ['UnmountVolume'],
  'pod directory': ['RemoveOrphanPodDir'],
} as const satisfies Readonly<Record<string, readonly string[]>>

export type Kind = keyof typeof KINDS
export type OperationName = (typeof KINDS)[Kind][number]

/** What is used: a directory, a file in it, the file system by a mount of one's own, the disk by its node, another part of it. */
type Used = 'nothing' | 'directory' | 'file' | 'file system' | 'node' | 'partition'

/** Whoever uses it is where volctl is, unless it says that he has a mount namespace of his own. */
export const USES = {
  none: 'nothing',
  'mount of the device': 'file system',
  'mount of the device in a namespace': 'file system',
  'mounted, detached lazily, file open': 'file system',
  'bind on the host': 'directory',
  'bind of a directory in it': 'directory',
  'bind in a namespace': 'directory',
  'bind of a directory in it, in a namespace': 'directory',
  'copy of its mount in a namespace': 'directory',
  'nested kubelet': 'directory',
  'working directory': 'directory',
  'working directory in a namespace': 'directory',
  'root directory': 'directory',
  'directory open': 'directory',
  'overlay, lower': 'directory',
  'overlay, upper': 'directory',
  'overlay, work': 'directory',
  'overlay in a namespace': 'directory',
  'bind of a file in it': 'file',
  'bind of a file in it, in a namespace': 'file',
  'file open read-only': 'file',
  'file open for write': 'file',
  'mapped, descriptor closed': 'file',
  'file named as if deleted, detached lazily': 'file',
  'working directory, hidden by a mount of its own': 'directory',
  'loop device on a file': 'file',
  'loop device on a file, made in a namespace': 'file',
  'swap file': 'file',
  'device open read-only': 'node',
  'device open for write': 'node',
  'device open in a namespace': 'node',
  'device open, hidden by a mount of its own': 'node',
  'device open, under the name of a trusted program': 'node',
  'device open in a table of one thread': 'node',
  'device mapped, descriptor closed': 'node',
  'device mapped among many mappings': 'node',
  'bind of the device node': 'node',
  'bind of the device node in a namespace': 'node',
  'device open, its node deleted': 'node',
  'loop device on the disk': 'node',
  'loop device on a device node on a disk': 'node',
  'loop device on a device node on a disk, made in a namespace': 'node',
  'loop device on a device node on a disk, deleted': 'node',
  'device mapper on the disk': 'node',
  'swap on the disk': 'node',
  'another partition mounted': 'partition',
  'another partition open': 'partition',
} as const satisfies Readonly<Record<string, Used>>

export type Use = keyof typeof USES

export interface Combination {
  readonly kind: Kind
  /** The first that meets the use; those after it follow in the same apply. */
  readonly operation: OperationName
  readonly use: Use
}

type State = Pick<Combination, 'kind' | 'operation'>

/** Its disk is of this machine for as long as it is attached. */
const onAttachedDisk = ({ kind }: State): boolean =>
  kind === 'CSI file system' || kind === 'CSI raw block' || kind === 'subPath of a CSI volume'

/** Nothing of it is mounted by the kubelet: who uses its file system has mounted the disk himself. */
export const isBare = ({ kind, operation }: State): boolean =>
  kind === 'CSI raw block' || (kind === 'CSI file system' && operation === 'DetachVolume')

/** What is taken away is a directory of a file system that has others. */
export const isPlainDirectory = ({ kind }: State): boolean => kind === 'emptyDir on disk' || kind === 'pod directory'

const isMountPoint = (each: State): boolean =>
  !isPlainDirectory(each) && !isBare(each) && !(each.kind === 'CSI directory' && each.operation === 'DetachVolume')

/** A loop device whose file nobody finds may be on any disk of its size. */
const MAY_BE_ON_ANY: ReadonlySet<Use> = new Set([
  'loop device on a device node on a disk, made in a namespace',
  'loop device on a device node on a disk, deleted',
])

/** Of a mount that its user has detached lazily nothing is left to be seen but what he holds. */
const isHidden = (each: Combination): boolean =>
  each.use === 'mounted, detached lazily, file open' ||
  MAY_BE_ON_ANY.has(each.use) ||
  (isBare(each) && ((USES[each.use] === 'file' && !BINDS.has(each.use)) || STAYS_HIDDEN.has(each.use)))

const STAYS_HIDDEN: ReadonlySet<Use> = new Set([
  'working directory',
  'root directory',
  'directory open',
  'overlay, lower',
  'overlay, upper',
  'overlay in a namespace',
])

/** Whatever it is a bind of, it is one more mount of the file system. */
const BINDS: ReadonlySet<Use> = new Set(['bind of a file in it', 'bind of a file in it, in a namespace'])

/** The user's own mount of a bare disk, in his namespace alone. */
const OF_NAMESPACE: ReadonlySet<Use> = new Set([
  'nested kubelet',
  'working directory in a namespace',
  'working directory, hidden by a mount of its own',
])

/** The user mounts a bare disk himself first; of that mount only what he holds stays. */
export const mountsFirst = (each: Combination): boolean =>
  each.use !== 'mounted, detached lazily, file open' && (isHidden(each) || (isBare(each) && OF_NAMESPACE.has(each.use)))

/** Why there is no such thing; undefined: there is. */
export function meaningless(each: Combination): string | undefined {
  const { kind, operation, use } = each
  const used: Used = USES[use]
  const hasDisk = onAttachedDisk(each) || kind === 'local device'
  if (!hasDisk && (used === 'node' || used === 'partition' || used === 'file system'))
    return 'it has no disk of its own'
  if (use !== 'none' && kind === 'CSI directory' && operation === 'DetachVolume') {
    return 'nothing here tells which directory it is, and a detach leaves it where it is'
  }
  if (isBare(each) && (used === 'directory' || BINDS.has(use)) && !mountsFirst(each))
    return 'of a bare disk, one more mount of it'
  if (use === 'copy of its mount in a namespace' && !isMountPoint(each)) return 'it is no mount point'
  if (use === 'overlay, work' && !isPlainDirectory(each)) return 'it lies in one mount with the upper directory'
  if (use === 'swap on the disk' && !isBare(each)) return 'swapon takes no disk that is mounted'
  if (used === 'file' && kind === 'pod directory') return "its files are the kubelet's; another one stops the removal"
  if (use === 'file named as if deleted, detached lazily' && !isPlainDirectory(each))
    return 'of a file system that is unmounted, as any file that was detached lazily'
  if (use === 'swap file' && kind === 'emptyDir in memory') return 'tmpfs has no swap files'
  return undefined
}

/** Why it may be taken away all the same; undefined: never. */
export function negligible({ kind, use }: Combination): string | undefined {
  if (kind === 'pod directory' && STANDS_IN.has(use))
    return 'whoever stands in it loses an empty directory of the kubelet'
  if (use === 'copy of its mount in a namespace' && kind !== 'emptyDir in memory') {
    return 'it goes with the directory that it is mounted on, as the kernel means it; all that it shows is still there'
  }
  return undefined
}

const STANDS_IN: ReadonlySet<Use> = new Set([
  'working directory',
  'working directory, hidden by a mount of its own',
  'root directory',
  'directory open',
])

export function meaningful(): readonly Combination[] {
  return allCombinations().filter((each) => meaningless(each) === undefined)
}

export function allCombinations(): readonly Combination[] {
  return (Object.entries(KINDS) as [Kind, readonly OperationName[]][]).flatMap(([kind, operations]) =>
    operations.flatMap((operation) =>
      (Object.keys(USES) as Use[]).map((use): Combination => ({ kind, operation, use })),
    ),
  )
}

/**
 * So many of them, every state and every use among them, and all without a use; the same for the same seed. Of those that
 * need a node to themselves, at most so many.
 */
export function chosenCombinations(count: number, atMostHidden: number, seed: number): readonly Combination[] {
  const random = randomFrom(seed)
  const shuffled = meaningful()
    .map((each) => ({ each, at: random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ each }) => each)
  const seen = shuffled.filter((each) => !isHidden(each))
  const alwaysHidden = (Object.keys(USES) as Use[]).filter((use) => !seen.some((each) => each.use === use))
  const ofEachHidden = alwaysHidden.flatMap((use) => shuffled.find((each) => each.use === use) ?? [])
  const hidden = [...new Set([...ofEachHidden, ...shuffled.filter(isHidden)])].slice(0, atMostHidden)
  const control = seen.filter(({ use }) => use === 'none')
  const ofEachUse = (Object.keys(USES) as Use[]).flatMap((use) => seen.find((each) => each.use === use) ?? [])
  const ofEachState = control.flatMap(({ kind, operation }) =>
    seen.filter((each) => each.kind === kind && each.operation === operation && each.use !== 'none').slice(0, 1),
  )
  const first = new Set([...control, ...hidden, ...ofEachUse, ...ofEachState])
  return [...new Set([...first, ...seen])].slice(0, Math.max(count, first.size))
}

/** On one node at once. A file system that is mounted nowhere may be any volume's: it has a node to itself. */
export function grouped(combinations: readonly Combination[]): readonly (readonly Combination[])[] {
  const seen = combinations.filter((each) => !isHidden(each))
  const groups = Array.from({ length: Math.ceil(seen.length / AT_ONCE) }, (_, index) =>
    seen.slice(index * AT_ONCE, (index + 1) * AT_ONCE),
  )
  return [...groups, ...combinations.filter(isHidden).map((each) => [each])]
}

const AT_ONCE = 24
