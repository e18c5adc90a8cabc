/**
 * What refers to a volume on this node: one table, by the volume's names. A pod that must not be disturbed uses the volume: it wants it,
 * or has it on disk (R815, R817). All else is a trace of the volume, which an operation has to remove before the volume is detached
 * (S21): of a pod that has ended, of a map, of a staging directory.
 */

import { append } from '../../base/append.ts'
import type { ActualInputs } from '../../facts/actual/actual-inputs.ts'
import type { BlockMapping, BlockVolume } from '../../facts/actual/block-volume.ts'
import type { PodVolume, SubPaths } from '../../facts/actual/pod-volumes.ts'
import { isOld, isSetUp } from '../../facts/actual/staged-volumes.ts'
import type { StateFile } from '../../facts/actual/state-file.ts'
import { baseName } from '../../facts/actual/tree.ts'
import {
  CSI_PLUGIN,
  csiUniqueName,
  escapeQualifiedName,
  unescapeQualifiedName,
  uniqueVolumeName,
} from '../../facts/actual/volume-names.ts'
import type { Ledger } from '../../facts/ledger.ts'
import { uniqueNameOf } from '../../facts/sources.ts'
import type { Handle } from '../../volumes/api-objects.ts'
import { ANY, type MayBe } from '../../volumes/desired-state.ts'
import { localVolume } from '../../volumes/local-volume.ts'
import { pluginNamed } from '../../volumes/registry.ts'
import { stagedFor } from '../../volumes/same-volume.ts'
import { isLiving, type PodClass, type PodClasses } from './pod-classes.ts'

export interface VolumeUser {
  readonly pod: PodClass
  readonly how: 'wants it' | 'has it on disk'
}

/** Relative to the root directory: an operation that removes the trace has one of these paths. */
export type VolumeTrace = readonly [path: string, ...more: string[]]

/** A volume of a pod that must not be disturbed, which could not be identified. */
interface UnidentifiedVolume {
  readonly pod: PodClass
  /** What is known about the volume, in words. */
  readonly what: string
  readonly mayBe: MayBe
}

/** What shows a CSI file system volume of a pod. */
interface CsiPart {
  /** Of the directory: the PersistentVolume's, or the pod volume's if that is inline (C9). */
  readonly name: string
  readonly record: StateFile | undefined
  /** Relative: the target, or a mounted sub-path. */
  readonly path: string
  readonly isSubPath: boolean
  /** Not only empty directories. */
  readonly setUp: boolean
}

/** Made once per plan: attachments and directories may be thousands. */
export class VolumeUses {
  /** Volumes of Desired and Frozen pods that could not be identified. */
  readonly unidentified: UnidentifiedVolume[] = []
  readonly #ledger: Ledger
  readonly #classes: PodClasses
  /** By unique name, and by the name of the volume's directory. */
  readonly #users = new Map<string, VolumeUser[]>()
  /** By the name of the volume's directory. */
  readonly #traces = new Map<string, { readonly record: StateFile | undefined; readonly trace: VolumeTrace }[]>()
  /** "uid/name" of every volume that a listed pod's spec asks for, and "uid/plugin/name". */
  readonly #wanted: ReadonlySet<string>

  constructor(ledger: Ledger, classes: PodClasses) {
    this.#ledger = ledger
    this.#classes = classes
    const { desired, blocks, staged } = ledger.sources
    this.#wanted = new Set(
      desired.volumes.flatMap(({ podUid, plugin, specName }) => {
        const name = escapeQualifiedName(specName)
        return [`${podUid}/${name}`, `${podUid}/${plugin}/${name}`]
      }),
    )
    for (const { podUid, uniqueName } of desired.volumes) this.#noteWanted(podUid, uniqueName)
    for (const { podUid, mayBe, persistentVolumeName: name } of desired.unresolved) {
      if (mayBe.of !== 'itself') continue
      // S4: this volume holds back only itself, under each of its names.
      this.#noteWanted(podUid, mayBe.volume.uniqueName)
      if (name !== undefined) this.#noteWanted(podUid, escapeQualifiedName(name))
    }
    const mapped = new Set(blocks.flatMap(({ mappings }) => mappings.map(({ podUid }) => podUid)))
    for (const pod of classes.all) this.#noteFound(pod, mapped.has(pod.uid))
    for (const block of blocks) this.#noteBlock(block)
    // The layout before 1.24 is by PersistentVolume (C11).
    for (const each of staged) if (isOld(each) && isSetUp(each)) this.#trace(each.key, each.stateFile, [each.target])
  }

  /** Pods that are Desired or Frozen and use this unique name. */
  of(uniqueName: string): readonly VolumeUser[] {
    return this.#users.get(uniqueName) ?? []
  }

  /**
   * Pods that are Desired or Frozen and have on disk, under this PersistentVolume's name, a CSI volume whose vol_data.json is lost; or
   * whose claim is bound to it, although it cannot be used.
   */
  ofPersistentVolume(name: string): readonly VolumeUser[] {
    return this.of(escapeQualifiedName(name))
  }

  /**
   * Traces of an attached CSI volume, apart from those of its users: by its state files, by the staging directory of its handle, and by
   * the name of its PersistentVolume, which still names the directory of a volume whose records are lost (S21, O5, O7, O22). The name
   * may belong to another volume by now (S17): then one trace too many is found, which is safe.
   */
  traces(identity: Handle | undefined, persistentVolume = ''): VolumeTrace[] {
    const { onDisk, inputs } = this.#ledger.sources
    const named = this.#traces.get(escapeQualifiedName(persistentVolume)) ?? []
    const ofName = named.flatMap(({ record, trace }) => (namesAnother(record, identity) ? [] : [trace]))
    if (identity === undefined) return ofName
    const records = onDisk.of(uniqueNameOf(identity))
    return [
      ...records.map(({ path }): VolumeTrace => [`${path}/vol_data.json`]),
      ...stagedFor(inputs, identity).flatMap((each): VolumeTrace[] => (isSetUp(each) ? [[each.target]] : [])),
      ...ofName,
    ]
  }

  #noteWanted(podUid: string, name: string): void {
    const pod = this.#classes.of(podUid)
    if (pod !== undefined) append(this.#users, name, { pod, how: 'wants it' })
  }

  #noteHad(pod: PodClass, name: string): void {
    append(this.#users, name, { pod, how: 'has it on disk' })
  }

  #trace(name: string, record: StateFile | undefined, paths: readonly (string | undefined)[]): void {
    const [path, ...more] = paths.filter((each) => each !== undefined)
    if (path !== undefined) append(this.#traces, name, { record, trace: [path, ...more] })
  }

  #noteFound(pod: PodClass, hasMaps: boolean): void {
    const { inputs } = this.#ledger.sources
    const volumes = this.#ledger.podVolumes(pod.uid)
    const leaked = this.#ledger.leakedSubPaths(pod.uid)
    const parts = [
      ...volumes.flatMap((volume) => (volume.plugin === CSI_PLUGIN ? partsOf(inputs, volume) : [])),
      ...leaked.flatMap((subPaths) => subPathPart(inputs, subPaths)),
    ]
    if (!isLiving(pod)) {
      for (const { name, record, path, setUp } of parts) if (setUp) this.#trace(name, record, [path])
      return
    }
    for (const { plugin, name } of volumes)
      if (plugin === localVolume.name) this.#noteHad(pod, uniqueVolumeName(plugin, name))
    for (const { name, record, path, isSubPath, setUp } of parts) {
      const asked = isSubPath ? name : `${CSI_PLUGIN}/${name}`
      if (this.#noteRecord(pod, record) || this.#wanted.has(`${pod.uid}/${asked}`)) continue
      if (isSubPath) this.#noteLost(pod, name)
      // Containers keep a volume even after the kubelet has emptied its directory (O2).
      else if (setUp || mayRunUnlisted(pod))
        this.#noteLost(pod, name, `${inputs.absolute(path)} has no readable vol_data.json`)
    }
    this.unidentified.push(...unidentifiedVolumes(inputs, pod, parts.length > 0 || hasMaps))
  }

  #noteBlock(block: BlockVolume): void {
    const { inputs } = this.#ledger.sources
    const { plugin, name, stateFile, dir, mapDir, stagingPath, publishDir } = block
    const key = escapeQualifiedName(name)
    for (const mapping of block.mappings) {
      const pod = this.#classes.of(mapping.podUid)
      const { mapFile, publishPath, symlink } = mapping
      if (pod !== undefined && isLiving(pod)) this.#noteMapping(pod, block, mapping)
      else if (plugin === CSI_PLUGIN) this.#trace(key, stateFile, [mapFile, publishPath, symlink])
    }
    if (plugin !== CSI_PLUGIN) return
    const own = [dir, mapDir, stagingPath, publishDir].filter((path) => path !== undefined && inputs.tree.has(path))
    this.#trace(key, stateFile, own)
  }

  #noteMapping(pod: PodClass, { plugin, name, stateFile, dir }: BlockVolume, mapping: BlockMapping): void {
    if (this.#noteRecord(pod, stateFile)) return
    this.#noteHad(pod, uniqueVolumeName(plugin, name))
    if (plugin !== CSI_PLUGIN || this.#wanted.has(`${pod.uid}/${plugin}/${name}`)) return
    const path = mapping.mapFile ?? mapping.publishPath ?? mapping.symlink ?? dir
    this.#noteLost(pod, name, `block map ${this.#ledger.sources.inputs.absolute(path)} has no readable state file`)
  }

  /** @returns whether the record names the volume */
  #noteRecord(pod: PodClass, record: StateFile | undefined): boolean {
    if (record?.data === undefined) return false
    this.#noteHad(pod, uniqueNameOf(record.data))
    return true
  }

  /**
   * A volume without a record. Its directory's name proves nothing (S17): it is reason enough to count the volume as used, but not to
   * count any other volume as free.
   *
   * @param what it is, in words; absent: a sub-path, beside a volume
   */
  #noteLost(pod: PodClass, directory: string, what?: string): void {
    this.#noteHad(pod, directory)
    const csi = this.#ledger.sources.objects.csiSourceOf(unescapeQualifiedName(directory))
    if (csi !== undefined) this.#noteHad(pod, csiUniqueName(csi.driver, csi.volumeHandle))
    if (what !== undefined) this.unidentified.push({ pod, what, mayBe: csiOf(csi?.driver) })
  }
}

function partsOf(inputs: ActualInputs, { name, target, stateFile, layers, foreign, subPaths }: PodVolume): CsiPart[] {
  const published = inputs.tree.get(target)
  // A driver may publish a link or a device, too (C17).
  const setUp =
    stateFile !== undefined ||
    layers.length + foreign.length > 0 ||
    (published !== undefined && published.type !== 'dir')
  const volume = { name, record: stateFile, path: target, isSubPath: false, setUp }
  return [volume, ...(subPaths === undefined ? [] : subPathPart(inputs, subPaths))]
}

/** A sub-path that is mounted still shows a volume whose directory is gone (O17). */
function subPathPart(inputs: ActualInputs, { volumeName: name, leaves, foreign: [foreign] }: SubPaths): CsiPart[] {
  const mounted = leaves.find(({ layers }) => layers.length > 0)?.path
  const path = mounted ?? (foreign && inputs.relative(inputs.plain(foreign.mountPoint)))
  return path === undefined ? [] : [{ name, record: undefined, path, isSubPath: true, setUp: true }]
}

function namesAnother(record: StateFile | undefined, identity: Handle | undefined): boolean {
  const data = record?.data
  if (data === undefined || identity === undefined) return false
  return data.driver !== identity.driver || data.handle !== identity.handle
}

/** @param driver undefined: any */
function csiOf(driver?: string): MayBe {
  return { of: 'kinds', kinds: [{ plugin: CSI_PLUGIN, driver }] }
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
  if (unread !== undefined) return [{ pod, what: `${unread.path} could not be read (${unread.error})`, mayBe: ANY }]
  if (pod.pod !== undefined || !pod.alive) return []
  if (!tree.isDir(volumes)) return [{ pod, what: 'its volumes directory does not exist', mayBe: ANY }]
  return plugins.flatMap(({ path }): UnidentifiedVolume[] => {
    const family = pluginNamed(unescapeQualifiedName(baseName(path))).tearDown
    if ((family === 'csi' ? hasCsiTraces : family !== 'mount') || tree.children(path).length > 0) return []
    const what = `${path} is empty, so which volumes it held is not known`
    return [{ pod, what, mayBe: family === 'csi' ? csiOf() : ANY }]
  })
}

/** True if containers of a pod that the API does not list may still use volumes whose directories are already empty (O2). */
function mayRunUnlisted(pod: PodClass): boolean {
  return pod.pod === undefined && (pod.alive || pod.why?.is === 'perhapsRunning')
}
