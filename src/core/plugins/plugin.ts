/**
 * What volctl asks of a volume plugin: one small interface, a file for each plugin, all of them in the registry.
 *
 * A plugin is pure: it gives a volume its names, finds out from the snapshot whether it is mounted, and gives the steps that set it
 * up. Only apply carries steps out. Tear-down is shared by families (`TeardownFamily`), since most plugins do the same.
 */
import type { ActualInputs } from '../actual/actual-inputs.ts'
import type { StagedVolume } from '../actual/staged-volumes.ts'
import type { ApiLookup } from '../desired/api-lookup.ts'
import type { VolumeToMount } from '../desired/desired-state.ts'
import type { VolumeSpec } from '../desired/volume-spec.ts'
import type { Node, PersistentVolume, PodVolumeSource } from '../model/objects.ts'
import type { Obstacle } from '../plan/draft.ts'
import type { ExpectedMount, PlanOptions, Step } from '../plan/plan.ts'
import type { TeardownFamily } from './teardown-family.ts'

/** A pod's inline volume, or a PersistentVolume, translated to CSI if it was in-tree (P5). */
export type SpecSource = { readonly inline: PodVolumeSource } | { readonly persistentVolume: PersistentVolume }

/** What naming a volume needs besides the volume itself. */
export interface SpecContext {
  readonly podUid: string
  readonly lookup: ApiLookup
  readonly node: Node | null
}

export type VolumeSourceField = Exclude<keyof PodVolumeSource | keyof PersistentVolume['spec'], 'name'>

export type SpecFacts = Pick<
  VolumeSpec,
  'plugin' | 'uniqueName' | 'attachability' | 'deviceMountable' | 'driver' | 'handle'
>

export interface SpecFailure {
  readonly error: string
}

export type MountEvidence =
  /** `stateFileLost`: mounted, but a state file that tear-down needs is missing. */
  | { readonly state: 'mounted'; readonly stateFileLost?: string }
  /** Nothing is to be mounted for this plugin (O33). */
  | { readonly state: 'satisfied' }
  | { readonly state: 'notMounted'; readonly why: string }

/** What the set-up of a volume depends on. */
export interface SetUpContext {
  readonly inputs: ActualInputs
  readonly options: PlanOptions
  readonly staged: readonly StagedVolume[]
  /** SELinux label that the volume is mounted with; empty: none. */
  readonly label: string
}

/** The steps that set a volume up, or why that is not possible. */
export interface SetUp {
  readonly steps: readonly Step[]
  /** Mounts that exist, and stay. */
  readonly expects?: readonly ExpectedMount[]
  readonly blocked?: Obstacle
}

/** A volume that somebody wants, as far as its device goes. */
export type DeviceSource = Pick<VolumeSpec, 'plugin' | 'specName' | 'source' | 'persistentVolume'>

/**
 * A plugin's global directories: mounts of its own on the node, that pods share, or maps of a device. Of CSI the driver is
 * asked instead, and its directories have state files.
 */
export interface PluginDevice {
  /** Of all its global mounts, relative to the root directory: plugins/kubernetes.io/fc */
  readonly base: string
  /** The plugin (of a flexVolume the driver) whose global mount lies at this path below `base`; undefined: no place for one. */
  ownerOf(parts: readonly string[]): string | undefined
  /** How many levels below `base` a directory without a mount is what a tear-down has left; none: it means nothing. */
  readonly depths: readonly number[]
  /** Where raw block volumes have their maps, relative to the root directory, and whose name the maps have. */
  readonly maps?: { readonly base: string; readonly depth: number; readonly namedAfter: 'volume' | 'device' }
  /** May the device of a global directory of this name be the volume's; absent: where they have one name. */
  isOf?(volume: DeviceSource, name: string): boolean
  /** What a global directory's path says of the unique name; absent: it ends with the volume's own name. */
  uniqueName?(path: string): string | undefined
  /** The kubelet's own file in a global directory; it is below the mount. */
  readonly record?: {
    readonly name: string
    /** The spec name in it. */
    volumeNameIn(text: string): string | undefined
  }
  /**
   * What takes the device from the node once nothing of it is mounted or mapped, given the global directory; absent: nothing
   * does. These steps ask by themselves who else uses the device (S25).
   */
  release?(target: string): readonly Step[]
  /** What devices share that no two operations may begin or end at a time, by a global directory; absent: nothing (P74). */
  session?(target: string): string | undefined
}

export interface VolumePlugin {
  /** e.g. kubernetes.io/nfs; "flexVolume" stands for all flexVolume drivers, whose names their volumes have instead. */
  readonly name: string
  /** The field of a pod's volume, or of a PersistentVolume's spec, that says that it is this plugin's; absent: none does. */
  readonly source?: VolumeSourceField
  /** What volctl does with such volumes, a line each, for the manual. */
  readonly about: { readonly tearDown: string; readonly setUp: string }
  /**
   * Unique name of a volume that this plugin supports, and whether it attaches and has a device mount, which a driver or
   * the source decides (P4, P6, P7); undefined: the volume belongs to another plugin.
   */
  facts(spec: SpecSource, context: SpecContext): SpecFacts | SpecFailure | undefined
  /** What a PersistentVolume of it is, in words without a secret; undefined: the volume belongs to another plugin. */
  sourceText?(spec: PersistentVolume['spec']): string | undefined
  /** Can a container have the volume as a device (volumeMode Block)? */
  readonly block: boolean
  /** Is the content written again when the API objects change (P7, --remount)? */
  readonly refreshes: boolean
  /** Can the kubelet reconstruct the volume from its directory (R507)? The others are handled as in R514. */
  readonly reconstructs: boolean
  readonly tearDown: TeardownFamily
  /** Absent: it has no global directories, or is CSI. */
  readonly device?: PluginDevice
  /** A PersistentVolume with mount options is not mounted (P14). Inline volumes never have any. */
  readonly refusesMountOptions?: true
  /** Is this volume mounted with a label if the node has SELinux (R010)? Absent: no volume of the plugin is. */
  takesLabel?(inputs: ActualInputs, volume: VolumeToMount): boolean
  /** Relative path of the directory on which a pod's volume is mounted, or of the pod's link to the device (R021). */
  podPath(volume: VolumeToMount): string
  /** Relative path of the node's own mount or map of the volume, shared by pods (R022); undefined: there is none. */
  globalPath(volume: VolumeToMount): string | undefined
  /** Is the volume mounted on the directory? Then the directory has to be empty (S22). */
  mountsOver(volume: VolumeToMount): boolean
  /** Is a wanted volume there, by the evidence on disk and in the mount table (O1, R805)? */
  evidence(inputs: ActualInputs, volume: VolumeToMount): MountEvidence
  /** @param first whether this operation includes the steps for all pods of the volume (staging, device mount) */
  setUp(context: SetUpContext, volume: VolumeToMount, first: boolean): SetUp
}
