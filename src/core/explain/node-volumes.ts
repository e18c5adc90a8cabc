/**
 * Every volume of a node, once: what pods want, what the disk and the mount table show and what is attached, put together
 * under one name as the planner does (R815). What nothing identifies stands alone.
 */
import type { BlockMapping, BlockVolume, StagedVolume } from '../actual/devices.ts'
import { type GlobalMount, globalMounts } from '../actual/global-mounts.ts'
import { type PodVolume, podSubPaths, podVolumes, type SubPaths } from '../actual/pod-volumes.ts'
import { parentOf } from '../actual/tree.ts'
import { csiSourceOf } from '../desired/csi-translation/csi-source.ts'
import type { UnresolvedVolume, VolumeToMount } from '../desired/desired-state.ts'
import { desiredStateOfPods } from '../desired/populate.ts'
import type { PersistentVolume, VolumeAttachment } from '../model/objects.ts'
import type { MountInfo } from '../mountinfo/mount-table.ts'
import {
  CSI_PLUGIN,
  csiUniqueName,
  escapeQualifiedName,
  unescapeQualifiedName,
  uniquePodVolumeName,
  uniqueVolumeName,
} from '../names.ts'
import { onceFor } from '../once-for.ts'
import { csiPodDir } from '../plugins/csi-paths.ts'
import { pluginNamed } from '../plugins/registry.ts'
import { identifyAttachment } from '../reconcile/attachment-identity.ts'
import type { PlanContext } from '../reconcile/context.ts'
import {
  type CsiIdentity,
  type Identified,
  identifyBlock,
  identifyPodVolume,
  identifyStaged,
} from '../reconcile/csi-identity.ts'
import { globalUniqueName } from '../reconcile/unmount-other-devices.ts'

/** A map of a block volume, and the pod's part of it. */
export interface Mapped {
  readonly block: BlockVolume
  readonly mappings: readonly BlockMapping[]
}

/** All that is known of one volume. */
export class NodeVolume {
  /** What the planner calls it, where it has a name for it. */
  readonly uniqueName: string | undefined
  identity: CsiIdentity | undefined
  /** Why driver and handle are not known, though there is a CSI volume. */
  unidentified: string | undefined
  /** Of pods that are meant to run. */
  readonly wanted: VolumeToMount[] = []
  /** Of pods in the API that are not. */
  readonly ended: VolumeToMount[] = []
  readonly unresolved: UnresolvedVolume[] = []
  readonly onDisk: PodVolume[] = []
  /** Mounted sub-paths of a volume that has no directory of its own: a hostPath's, or one whose directory is gone (O17, O18). */
  readonly leaked: { readonly podUid: string; readonly subPaths: SubPaths }[] = []
  readonly staged: StagedVolume[] = []
  readonly maps: Mapped[] = []
  readonly globals: GlobalMount[] = []
  attachment: VolumeAttachment | undefined
  persistentVolume: PersistentVolume | undefined

  constructor(uniqueName?: string) {
    this.uniqueName = uniqueName
  }

  /** Of all pods that want it, or have something of it. */
  get podUids(): ReadonlySet<string> {
    return podUidsOf(this)
  }

  /** Of pods that have something of it on disk or mounted. */
  get havingUids(): ReadonlySet<string> {
    return havingUidsOf(this)
  }

  /** Names under which it goes on this node and in the API, the volume's own as well as pods' names for it. */
  get names(): ReadonlySet<string> {
    return namesOf(this)
  }

  /** Its directories and files, relative to the root directory; of pods' volumes the directory with all that is in it. */
  get directories(): readonly string[] {
    return directoriesOf(this)
  }

  /** Every mount that is its own. */
  get mounts(): readonly MountInfo[] {
    return mountsOf(this)
  }
}

// Asked once everything is put together, and then again and again.

const havingUidsOf = onceFor(
  ({ onDisk, leaked, maps }: NodeVolume): ReadonlySet<string> =>
    new Set([
      ...[...onDisk, ...leaked].map(({ podUid }) => podUid),
      ...maps.flatMap(({ mappings }) => mappings.map(({ podUid }) => podUid)),
    ]),
)

const podUidsOf = onceFor(
  (volume: NodeVolume): ReadonlySet<string> =>
    new Set([
      ...[...volume.wanted, ...volume.ended, ...volume.unresolved].map(({ podUid }) => podUid),
      ...volume.havingUids,
    ]),
)

const namesOf = onceFor((volume: NodeVolume): ReadonlySet<string> => {
  const { uniqueName, identity, persistentVolume, wanted, ended, unresolved, onDisk, leaked, globals, staged, maps } =
    volume
  const names = [
    uniqueName,
    identity?.handle,
    persistentVolume?.metadata.name,
    ...[...wanted, ...ended].flatMap(({ specName, handle, podVolumeNames }) => [specName, handle, ...podVolumeNames]),
    ...unresolved.flatMap(({ podVolumeName, persistentVolumeName }) => [podVolumeName, persistentVolumeName]),
    ...[...onDisk, ...globals].map(({ name }) => name),
    ...onDisk.map(({ name }) => unescapeQualifiedName(name)),
    ...leaked.map(({ subPaths }) => subPaths.volumeName),
    ...staged.map(({ key }) => key),
    ...maps.map(({ block }) => block.name),
  ]
  return new Set(names.filter((name) => name !== undefined && name !== '') as string[])
})

const directoriesOf = onceFor(
  ({ onDisk, wanted, ended, leaked, staged, globals, maps }: NodeVolume): readonly string[] => [
    ...new Set([
      ...onDisk.flatMap(({ dir, markers, subPaths }) => [
        dir,
        ...markers,
        ...(subPaths === undefined ? [] : [subPaths.dir]),
      ]),
      ...[...wanted, ...ended].map(podDirOf),
      ...leaked.map(({ subPaths }) => subPaths.dir),
      ...staged.map(({ dir }) => dir),
      ...globals.map(({ path }) => path),
      ...maps.flatMap(({ block, mappings }) => [
        ...(isShared(block) ? [block.mapDir, `${block.dir}/data`] : [block.dir]),
        ...[block.stagingPath, block.publishDir].filter((path) => path !== undefined),
        ...mappings.flatMap(({ symlink }) => symlink ?? []),
      ]),
    ]),
  ],
)

const mountsOf = onceFor(({ onDisk, leaked, staged, globals, maps }: NodeVolume): readonly MountInfo[] => {
  const subPaths = [...onDisk.flatMap((each) => each.subPaths ?? []), ...leaked.map((each) => each.subPaths)]
  return [
    ...[...onDisk, ...staged, ...globals].flatMap(({ layers }) => layers),
    ...subPaths.flatMap(({ leaves }) => leaves.flatMap(({ layers }) => layers)),
    ...maps.flatMap(({ block, mappings }) => [
      ...(block.staging?.mounts ?? []),
      ...mappings.flatMap(({ mapLayers, publishLayers }) => [...mapLayers, ...publishLayers]),
    ]),
  ]
})

/** A volume that bears the name of a directory that all share lies in it beside the others'. */
function isShared({ name, plugin }: BlockVolume): boolean {
  return plugin === CSI_PLUGIN && (name === 'staging' || name === 'publish')
}

/** The volume's directory, of a raw block volume the pod's link. */
export function podDirOf(volume: VolumeToMount): string {
  return volume.plugin === CSI_PLUGIN && volume.mode === 'Filesystem'
    ? csiPodDir(volume)
    : pluginNamed(volume.plugin).podPath(volume)
}

/** Made once for an explanation. */
export class NodeVolumes {
  readonly all: NodeVolume[] = []
  readonly #context: PlanContext
  readonly #byName = new Map<string, NodeVolume>()
  readonly #byDirectory = new Map<string, NodeVolume>()
  readonly #byAttachment = new Map<string, NodeVolume>()
  readonly #byPersistentVolume = new Map<string, NodeVolume>()

  constructor(context: PlanContext) {
    this.#context = context
    this.#noteDesired()
    for (const global of globalMounts(context.inputs)) this.#noteGlobal(global)
    for (const staged of context.staged) {
      const volume = this.#identified(identifyStaged(context, staged))
      volume.staged.push(staged)
    }
    for (const { uid } of context.classes.all) this.#notePod(uid)
    for (const block of context.blocks) this.#noteBlock(block)
    this.#noteApi()
  }

  ofPod(uid: string): readonly NodeVolume[] {
    return this.all.filter(({ podUids }) => podUids.has(uid))
  }

  /** The volume behind a PersistentVolume, on this node or not; undefined: the API does not know it, and nothing here bears it. */
  ofPersistentVolume(name: string): NodeVolume | undefined {
    return this.#byPersistentVolume.get(name)
  }

  ofAttachment(name: string): NodeVolume | undefined {
    return this.#byAttachment.get(name)
  }

  #named(uniqueName: string): NodeVolume {
    const known = this.#byName.get(uniqueName)
    if (known !== undefined) return known
    const made = this.#alone(uniqueName)
    this.#byName.set(uniqueName, made)
    return made
  }

  #alone(uniqueName?: string): NodeVolume {
    const made = new NodeVolume(uniqueName)
    this.all.push(made)
    return made
  }

  #identified(identified: Identified): NodeVolume {
    if (!('identity' in identified)) {
      const volume = this.#alone()
      volume.unidentified = identified.unconfirmed
      return volume
    }
    const { identity } = identified
    const volume = this.#named(csiUniqueName(identity.driver, identity.handle))
    volume.identity ??= identity
    return volume
  }

  #noteDesired(): void {
    const { inputs, classes, desired } = this.#context
    const { api } = inputs.snapshot
    const others = classes.all.flatMap((pod) => (pod.class === 'Finished' ? (pod.pod ?? []) : []))
    const ended = api === undefined ? { volumes: [], unresolved: [] } : desiredStateOfPods(others, api)
    for (const volume of [...desired.volumes, ...ended.volumes]) {
      const found = this.#named(volume.uniqueName)
      const isWanted = desired.volumes.includes(volume)
      ;(isWanted ? found.wanted : found.ended).push(volume)
      const { driver, handle, persistentVolume } = volume
      if (driver !== undefined && handle !== undefined) {
        const from = persistentVolume === undefined ? 'the pod' : `PersistentVolume ${persistentVolume.metadata.name}`
        found.identity ??= { driver, handle, from }
      }
      if (persistentVolume !== undefined) this.#noteVolumeObject(persistentVolume, found)
      this.#byDirectory.set(podDirOf(volume), found)
    }
    for (const unresolved of desired.unresolved) {
      const { persistentVolumeName: name } = unresolved
      const found = this.#alone()
      found.unresolved.push(unresolved)
      if (name !== undefined && !this.#byPersistentVolume.has(name)) this.#byPersistentVolume.set(name, found)
    }
  }

  #notePod(uid: string): void {
    const { inputs } = this.#context
    const volumes = podVolumes(inputs, uid)
    for (const volume of volumes) {
      const found = this.#byDirectory.get(volume.dir) ?? this.#ofPodVolume(volume)
      found.onDisk.push(volume)
      this.#byDirectory.set(volume.dir, found)
    }
    for (const subPaths of podSubPaths(inputs, uid).values()) {
      const { volumeName, leaves, foreign } = subPaths
      if (volumes.some(({ name }) => name === volumeName)) continue
      if (foreign.length === 0 && leaves.every(({ layers }) => layers.length === 0)) continue
      const found = this.#wantedAs(uid, volumeName) ?? this.#ofPersistentVolumeName(volumeName)
      found.leaked.push({ podUid: uid, subPaths })
    }
  }

  /** By its spec name, as its sub-paths are called. */
  #wantedAs(uid: string, name: string): NodeVolume | undefined {
    const isIt = ({ podUid, specName }: VolumeToMount): boolean =>
      podUid === uid && escapeQualifiedName(specName) === name
    return this.all.find(({ wanted, ended }) => wanted.some(isIt) || ended.some(isIt))
  }

  #ofPersistentVolumeName(name: string): NodeVolume {
    const csi = this.#context.objects.csiSourceOf(name)
    return csi === undefined ? this.#alone() : this.#named(csiUniqueName(csi.driver, csi.volumeHandle))
  }

  #ofPodVolume(volume: PodVolume): NodeVolume {
    const { plugin, podUid, name, layers, stateFile } = volume
    if (plugin === CSI_PLUGIN) {
      const data = stateFile?.data
      if (data?.volumeLifecycleMode !== 'Ephemeral') return this.#identified(identifyPodVolume(this.#context, volume))
      const found = this.#named(uniquePodVolumeName(plugin, podUid, data.specVolID ?? name))
      found.identity ??= { driver: data.driverName, handle: data.volumeHandle, from: 'vol_data.json' }
      return found
    }
    if (plugin === 'kubernetes.io/local-volume') return this.#named(uniqueVolumeName(plugin, name))
    const device = layers.at(-1)
    const global = this.all.find(({ globals }) =>
      globals.some((each) => each.plugin === plugin && each.layers.some(({ dev }) => dev === device?.dev)),
    )
    return global ?? this.#named(uniquePodVolumeName(plugin, podUid, name))
  }

  #noteGlobal(global: GlobalMount): void {
    const { plugin, path, name } = global
    const found = this.#named(globalUniqueName(plugin, this.#context.inputs.absolute(path), name))
    found.globals.push(global)
  }

  #noteBlock(block: BlockVolume): void {
    const { plugin, dir, name, mappings, mapDir } = block
    const linked = mappings.flatMap(({ symlink }) => this.#byDirectory.get(symlink ?? '') ?? [])[0]
    const found =
      linked ??
      (plugin === CSI_PLUGIN
        ? this.#identified(identifyBlock(this.#context, block))
        : this.#named(globalUniqueName(plugin, dir, name)))
    found.maps.push({ block, mappings })
    this.#byDirectory.set(mapDir, found)
  }

  #noteApi(): void {
    const { inputs } = this.#context
    const { api, nodeName } = inputs.snapshot
    for (const object of api?.persistentVolumes ?? []) {
      const name = object.metadata.name
      if (this.#byPersistentVolume.get(name)?.persistentVolume !== undefined) continue
      const csi = csiSourceOf(object)
      const found =
        csi === undefined
          ? (this.#byPersistentVolume.get(name) ?? this.#alone())
          : this.#named(csiUniqueName(csi.driver, csi.volumeHandle))
      if (csi !== undefined)
        found.identity ??= { driver: csi.driver, handle: csi.volumeHandle, from: `PersistentVolume ${name}` }
      this.#noteVolumeObject(object, found)
    }
    for (const attachment of api?.volumeAttachments ?? []) {
      if (attachment.spec.nodeName !== nodeName) continue
      const identity = identifyAttachment(this.#context, attachment)
      const { persistentVolumeName = '' } = attachment.spec.source
      const found =
        identity === undefined
          ? (this.#byPersistentVolume.get(persistentVolumeName) ?? this.#alone())
          : this.#named(csiUniqueName(identity.driver, identity.handle))
      found.identity ??= identity
      found.attachment ??= attachment
      this.#byAttachment.set(attachment.metadata.name, found)
    }
  }

  #noteVolumeObject(object: PersistentVolume, volume: NodeVolume): void {
    volume.persistentVolume ??= object
    this.#byPersistentVolume.set(object.metadata.name, volume)
  }

  /** By a path below the root directory: the volume that it lies in, or that lies below it. */
  at(relative: string): readonly NodeVolume[] {
    for (let path = relative; path !== '.'; path = parentOf(path)) {
      const found = this.all.filter(({ directories }) => directories.includes(path))
      if (found.length > 0) return found
    }
    return this.all.filter(({ directories }) =>
      directories.some((each) => relative === '.' || each.startsWith(`${relative}/`)),
    )
  }
}
