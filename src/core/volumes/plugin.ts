/**
 * What volctl asks of a volume plugin: one small interface, a file for each plugin, all of them in the registry.
 *
 * A plugin is pure: it gives a volume its names, finds out from the snapshot whether it is mounted, and gives the steps that set it
 * up, unless it leaves that to the kubelet. Only apply carries steps out. Tear-down is shared by families (`TeardownFamily`), since most plugins do the same.
 */
import type { CsiDriver, Node, PersistentVolume, PodVolumeSource } from '../kube/api/objects.ts'
import type { Lookup } from './api-lookup.ts'
import type { SpecFailure, SpecSource, VolumeSpec, VolumeToMount } from './desired-state.ts'
import type { Obstacle } from './finding.ts'
import type { ActualInputs } from './on-disk/actual-inputs.ts'
import type { OtherVolume } from './same-volume.ts'
import type { ExpectedMount, Step } from './steps.ts'

/** What naming a volume needs besides the volume itself. */
export interface SpecContext {
  readonly podUid: string
  readonly lookup: { csiDriver(name: string): Lookup<Pick<CsiDriver, 'spec'>> }
  readonly node: Node | null
}

type VolumeSourceField = Exclude<keyof PodVolumeSource | keyof PersistentVolume['spec'], 'name'>

/** What a plugin says of a volume. */
interface PluginFacts extends Partial<Pick<VolumeSpec, 'attachability' | 'driver' | 'handle'>> {
  /** A flexVolume's driver; absent: the plugin's own name. */
  readonly plugin?: string
  /** Device-mountable: the name by which all pods of the node share it. Absent: every pod has its own volume (R019, P6). */
  readonly shared?: string
}

export type MountEvidence =
  /** `stateFileLost`: mounted, but a state file that tear-down needs is missing. `other`: it is not this volume (S38). */
  | { readonly state: 'mounted'; readonly stateFileLost?: string; readonly other?: OtherVolume }
  /** Nothing is to be mounted for this plugin (O33). */
  | { readonly state: 'satisfied' }
  | { readonly state: 'notMounted'; readonly why: string }

/** What the set-up of a volume depends on. */
export interface SetUpContext {
  readonly inputs: ActualInputs
  /** Of the plan. */
  readonly options: { readonly remount: boolean; readonly handles: Readonly<Record<string, string>> }
  /** SELinux label that the volume is mounted with; absent: none. */
  readonly label?: string
}

/** The steps that set a volume up, or why that is not possible. */
export interface SetUp {
  readonly steps: readonly Step[]
  /** Mounts that exist, and stay. */
  readonly expects?: readonly ExpectedMount[]
  readonly blocked?: Obstacle
}

/** What identifies the device of a wanted volume. */
export type DeviceSource = Pick<VolumeSpec, 'plugin' | 'specName' | 'source' | 'persistentVolume'>

/**
 * A plugin's global directories: mounts on the node that pods share, or maps of a device. CSI has none of these: its driver is
 * called instead, and its directories have state files.
 */
export interface PluginDevice {
  /** The directory of all its global mounts, relative to the root directory: plugins/kubernetes.io/fc */
  readonly base: string
  /** The paths below `base` at which a global mount can be; of a flexVolume with its driver. */
  readonly globals: RegExp
  /** Levels below `base` at which a directory without a mount is the leftover of a tear-down; empty: none. */
  readonly depths: readonly number[]
  /** The directory of the maps of raw block volumes, relative to the root directory, and what the maps are named after. */
  readonly maps?: { readonly base: string; readonly depth: number; readonly namedAfter: 'volume' | 'device' }
  /** True if a global directory of this name may belong to the volume's device. Absent: it does if the names are equal. */
  isOf?(volume: DeviceSource, name: string): boolean
  /** The unique name from a global directory's path; absent: the unique name ends with the volume's own name. */
  uniqueName?(path: string): string | undefined
  /** The kubelet's own file in a global directory, which the mount hides. */
  readonly record?: {
    readonly name: string
    /** The spec name in the file. */
    volumeNameIn(text: string): string | undefined
  }
  /**
   * Steps that remove the device from the node once it is neither mounted nor mapped, for a global directory; absent: none. Each
   * step checks who else uses the device (S25).
   */
  release?(target: string): readonly Step[]
  /** What devices share, so that only one operation at a time may end it, for a global directory; absent: nothing (P76). */
  session?(target: string): string | undefined
}

/** @template Source what its volumes have in the field of their source */
export interface VolumePlugin<Source = never> {
  /** e.g. kubernetes.io/nfs; "flexVolume" stands for all flexVolume drivers, whose names their volumes have instead. */
  readonly name: string
  /** The field of this plugin in a pod's volume or a PersistentVolume's spec; absent: there is none. */
  readonly source?: VolumeSourceField
  /** What volctl does with such volumes, a line each, for the manual. */
  readonly about: { readonly tearDown: string; readonly setUp: string }
  /**
   * Under which name a volume of this plugin is shared, and whether it attaches, which a driver or the source decides (P4, P6, P7). Absent:
   * nothing of it is attached or shared.
   */
  facts?(source: Source, spec: SpecSource, context: SpecContext): PluginFacts | SpecFailure
  /** The source of a PersistentVolume, in words and without a secret. */
  sourceText?(source: Source): string
  /** Can a container have the volume as a device (volumeMode Block)? */
  readonly block?: true
  /** Can the kubelet reconstruct the volume from its directory (R507)? The others are handled as in R514. */
  readonly reconstructs?: true
  readonly tearDown: TeardownFamily
  /** Absent: the plugin has no global directories, or is CSI. */
  readonly device?: PluginDevice
  /** A PersistentVolume with mount options is not mounted (P14). Inline volumes never have any. */
  readonly refusesMountOptions?: true
  /** Is this volume mounted with a label if the node has SELinux (R010)? Absent: no volume of the plugin is; undefined: not known. */
  takesLabel?(inputs: ActualInputs, volume: VolumeToMount): boolean | undefined
  /** Relative path of the node's own mount or map of the volume, shared by pods (R022); undefined, or absent: there is none. */
  globalPath?(volume: VolumeToMount): string | undefined
  /** Is a file system mounted on the directory? Then the directory has to be empty (S22). Absent: yes. */
  mountsOver?(volume: VolumeToMount): boolean
  /**
   * Why nothing is there for a wanted file system, by disk and mount table (O1, R805); undefined: something is. Whether that is the volume:
   * `evidenceOf`. Absent: a mount on its directory is asked for.
   */
  whyMissing?(inputs: ActualInputs, volume: VolumeToMount): string | undefined
  /**
   * A text: only a kubelet sets such volumes up, of a kind in words: "iSCSI".
   *
   * @param first whether this operation includes the steps for all pods of the volume (staging, device mount)
   */
  readonly setUp: ((context: SetUpContext, volume: VolumeToMount, first: boolean) => SetUp) | string
}

/**
 * How volumes are torn down, as far as plans differ (R437, P22, P42).
 *
 * csi: by the driver; emptyDir: the content is data, deleted only with --orphans (S13); projected: the kubelet made the content, and
 * writes it again when the API's objects change (P7, --remount); mount: unmounted, by a driver if there is one, and removed when empty;
 * nothing: the kubelet sets nothing up.
 */
export type TeardownFamily = 'csi' | 'emptyDir' | 'projected' | 'mount' | 'nothing'

/** Types that the kubelet mounts on a directory of these families; any other mount there is foreign. */
export function allowedFsTypes(family: TeardownFamily): readonly string[] | undefined {
  if (family === 'emptyDir') return ['tmpfs', 'hugetlbfs']
  return family === 'projected' ? ['tmpfs'] : undefined
}

/** The volume's name on disk (R005). */
export function specNameOf({ persistentVolume, source }: SpecSource): string {
  return persistentVolume?.metadata.name ?? source?.name ?? ''
}
