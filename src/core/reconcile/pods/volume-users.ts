/** Which pods that must not be disturbed use a volume: they want it, or have it on disk. */

import { append } from '../../base/append.ts'
import type { ActualInputs } from '../../facts/actual/actual-inputs.ts'
import type { BlockMapping, BlockVolume } from '../../facts/actual/block-volume.ts'
import { type CsiTrace, csiTraces } from '../../facts/actual/csi-traces.ts'
import { baseName } from '../../facts/actual/tree.ts'
import {
  CSI_PLUGIN,
  csiUniqueName,
  escapeQualifiedName,
  unescapeQualifiedName,
} from '../../facts/actual/volume-names.ts'
import type { ApiObjects } from '../../volumes/api-objects.ts'
import type { DesiredState } from '../../volumes/desired-state.ts'
import { pluginNamed } from '../../volumes/registry.ts'
import type { PodClass, PodClasses } from './pod-classes.ts'

export interface VolumeUser {
  readonly pod: PodClass
  readonly how: 'wants it' | 'has it on disk'
}

export interface VolumeUsers {
  /** Pods that are Desired or Frozen and use this unique name. */
  of(uniqueName: string): readonly VolumeUser[]
  /**
   * Pods that are Desired or Frozen and have on disk, under this PV's name, a CSI volume whose vol_data.json is lost; or
   * whose claim is bound to this PV, although it cannot be used.
   */
  ofPersistentVolume(name: string): readonly VolumeUser[]
  /** Pods that are Desired or Frozen and have any volume of this plugin, wanted or on disk. */
  ofPlugin(plugin: string): readonly VolumeUser[]
  /** Volumes of Desired and Frozen pods that could not be identified. */
  readonly unidentified: readonly UnidentifiedVolume[]
}

/** @see R815, R817: a volume is matched by the pod's spec, and by the pod's directories and maps. */
export function findVolumeUsers(
  inputs: ActualInputs,
  objects: ApiObjects,
  classes: PodClasses,
  desired: DesiredState,
  blocks: readonly BlockVolume[],
): VolumeUsers {
  const living = classes.all.filter(isLiving)
  const mapping = new Set(blocks.flatMap(({ mappings }) => mappings.map(({ podUid }) => podUid)))
  const found = new FoundUsers(objects, desired)
  for (const volume of desired.volumes) {
    const pod = classes.of(volume.podUid)
    if (pod === undefined || !isLiving(pod)) continue
    found.noteName(volume.uniqueName, { pod, how: 'wants it' })
    found.notePlugin(volume.plugin, { pod, how: 'wants it' })
  }
  for (const { podUid, mayBe, persistentVolumeName } of desired.unresolved) {
    const pod = classes.of(podUid)
    if (pod === undefined || !isLiving(pod) || mayBe.of !== 'itself') continue
    // S4: this volume holds back only itself, under each of its names.
    const user: VolumeUser = { pod, how: 'wants it' }
    found.noteName(mayBe.volume.uniqueName, user)
    found.notePlugin(mayBe.volume.plugin, user)
    if (persistentVolumeName !== undefined) found.notePersistentVolume(persistentVolumeName, user)
  }
  for (const pod of living) {
    notePlugins(inputs, found, pod)
    const traces = csiTraces(inputs, pod.uid)
    for (const trace of traces) found.noteTrace(pod, trace, inputs.absolute(trace.path))
    found.unidentified.push(...unidentifiedVolumes(inputs, pod, traces.length > 0 || mapping.has(pod.uid)))
  }
  for (const block of blocks) {
    for (const mapping of block.mappings) {
      const pod = classes.of(mapping.podUid)
      if (pod !== undefined && isLiving(pod)) found.noteMapping(pod, block, mapping, inputs)
    }
  }
  return found
}

/** Desired and Frozen pods keep the volumes that they have (S5). */
export function isLiving(pod: PodClass): boolean {
  return pod.class === 'Desired' || pod.class === 'Frozen'
}

class FoundUsers implements VolumeUsers {
  readonly unidentified: UnidentifiedVolume[] = []
  readonly #byName = new Map<string, VolumeUser[]>()
  readonly #byPersistentVolume = new Map<string, VolumeUser[]>()
  readonly #byPlugin = new Map<string, VolumeUser[]>()
  readonly #objects: ApiObjects
  /** "uid/name" of every volume directory that a listed pod's spec asks for, and of the CSI volumes among them. */
  readonly #wanted: ReadonlySet<string>
  readonly #wantedCsi: ReadonlySet<string>

  constructor(objects: ApiObjects, { volumes }: DesiredState) {
    this.#objects = objects
    const keyOf = ({ podUid, specName }: DesiredState['volumes'][number]): string =>
      `${podUid}/${escapeQualifiedName(specName)}`
    this.#wanted = new Set(volumes.map(keyOf))
    this.#wantedCsi = new Set(volumes.filter(({ plugin }) => plugin === CSI_PLUGIN).map(keyOf))
  }

  of(uniqueName: string): readonly VolumeUser[] {
    return this.#byName.get(uniqueName) ?? []
  }

  ofPersistentVolume(name: string): readonly VolumeUser[] {
    return this.#byPersistentVolume.get(name) ?? []
  }

  ofPlugin(plugin: string): readonly VolumeUser[] {
    return this.#byPlugin.get(plugin) ?? []
  }

  noteName(uniqueName: string, user: VolumeUser): void {
    append(this.#byName, uniqueName, user)
  }

  notePlugin(plugin: string, user: VolumeUser): void {
    append(this.#byPlugin, plugin, user)
  }

  notePersistentVolume(name: string, user: VolumeUser): void {
    append(this.#byPersistentVolume, name, user)
  }

  noteTrace(pod: PodClass, { name, kind, stateFile, setUp }: CsiTrace, path: string): void {
    if (stateFile?.data !== undefined) {
      const { driverName, volumeHandle } = stateFile.data
      this.noteName(csiUniqueName(driverName, volumeHandle), { pod, how: 'has it on disk' })
      return
    }
    if ((kind === 'volume' ? this.#wantedCsi : this.#wanted).has(`${pod.uid}/${name}`)) return
    // Containers keep a volume even after the kubelet has emptied its directory (O2).
    if (kind === 'volume' && !(setUp || mayRunUnlisted(pod))) return
    const driver = this.#noteByPersistentVolume(pod, name)
    if (kind !== 'volume') return
    this.unidentified.push({ pod, what: `${path} has no readable vol_data.json`, of: driver ?? 'csi' })
  }

  noteMapping(pod: PodClass, block: BlockVolume, mapping: BlockMapping, inputs: ActualInputs): void {
    const { plugin, name, stateFile, dir } = block
    const user: VolumeUser = { pod, how: 'has it on disk' }
    if (stateFile?.data !== undefined) {
      this.noteName(csiUniqueName(stateFile.data.driverName, stateFile.data.volumeHandle), user)
      return
    }
    this.noteName(`${plugin}/${name}`, user)
    if (plugin !== CSI_PLUGIN || this.#wantedCsi.has(`${pod.uid}/${name}`)) return
    const path = mapping.mapFile ?? mapping.publishPath ?? mapping.symlink ?? dir
    const driver = this.#noteByPersistentVolume(pod, name)
    this.unidentified.push({
      pod,
      what: `block map ${inputs.absolute(path)} has no readable state file`,
      of: driver ?? 'csi',
    })
  }

  /**
   * A name proves nothing (S17): it is reason enough to count the volume as used, but not to count any other volume as free.
   */
  #noteByPersistentVolume(pod: PodClass, dirName: string): { driver: string } | undefined {
    const user: VolumeUser = { pod, how: 'has it on disk' }
    const name = unescapeQualifiedName(dirName)
    this.notePersistentVolume(name, user)
    const csi = this.#objects.csiSourceOf(name)
    if (csi === undefined) return undefined
    this.noteName(csiUniqueName(csi.driver, csi.volumeHandle), user)
    return { driver: csi.driver }
  }
}

function notePlugins({ tree }: ActualInputs, found: FoundUsers, pod: PodClass): void {
  const user: VolumeUser = { pod, how: 'has it on disk' }
  for (const plugin of tree.children(`pods/${pod.uid}/volumes`)) {
    const name = unescapeQualifiedName(baseName(plugin.path))
    const dirs = tree.children(plugin.path)
    if (dirs.length > 0) found.notePlugin(name, user)
    if (name !== 'kubernetes.io/local-volume') continue
    for (const dir of dirs) found.noteName(`${name}/${baseName(dir.path)}`, user)
  }
}

/** A volume of a pod that must not be disturbed, which could not be identified: it may be any volume. */
interface UnidentifiedVolume {
  readonly pod: PodClass
  /** What is known about the volume, in words. */
  readonly what: string
  /** Of any plugin, of any CSI driver, or of the driver of the PersistentVolume with this name. */
  readonly of: 'any' | 'csi' | { readonly driver: string }
}

/**
 * Volumes that a running pod may still have although its directory no longer shows which (S9, O2, R827).
 * A pod whose directory could not be read may have any volume. If a running pod is not listed by the API, only its directory
 * shows the volumes. The kubelet creates `volumes` for every pod; it removes a volume's directory before the containers end,
 * and leaves the plugin's directory (O2).
 * @param hasCsiTraces whether a sub-path or a block map is left that names a CSI volume
 */
function unidentifiedVolumes({ tree }: ActualInputs, pod: PodClass, hasCsiTraces: boolean): UnidentifiedVolume[] {
  const base = `pods/${pod.uid}`
  const volumes = `${base}/volumes`
  const plugins = [...tree.children(volumes), ...tree.children(`${base}/volumeDevices`)]
  const read = [base, volumes, `${base}/volumeDevices`].map((path) => tree.get(path))
  const unread = [...read, ...plugins].find((entry) => entry?.error !== undefined)
  if (unread !== undefined) return [{ pod, what: `${unread.path} could not be read (${unread.error})`, of: 'any' }]
  if (pod.pod !== undefined || !pod.alive) return []
  if (!tree.isDir(volumes)) return [{ pod, what: 'its volumes directory does not exist', of: 'any' }]
  return plugins.flatMap(({ path }): UnidentifiedVolume[] => {
    const family = pluginNamed(unescapeQualifiedName(baseName(path))).tearDown
    if ((family === 'csi' ? hasCsiTraces : family !== 'mount') || tree.children(path).length > 0) return []
    return [
      { pod, what: `${path} is empty, so which volumes it held is not known`, of: family === 'csi' ? 'csi' : 'any' },
    ]
  })
}

/** True if containers of a pod that the API does not list may still use volumes whose directories are already empty (O2). */
function mayRunUnlisted(pod: PodClass): boolean {
  return pod.pod === undefined && (pod.alive || pod.why?.is === 'perhapsRunning')
}
