/**
 * What refers to a volume on this node: one table, by the volume's names. A pod that must not be disturbed uses the volume: it wants it,
 * or has it on disk (R815, R817). All else is a trace of the volume, which an operation has to remove before the volume is detached
 * (S21): of a pod that has ended, of a map, of a staging directory.
 */

import { append } from '../../base/collections.ts'
import type { Ledger } from '../../facts/ledger.ts'
import { identityOfObject, uniqueNameOf } from '../../facts/row.ts'
import type { MountInfo } from '../../linux/mount-table.ts'
import { type Handle, isSameVolume } from '../../volumes/api-objects.ts'
import type { MayBe } from '../../volumes/desired-state.ts'
import { localVolume } from '../../volumes/local-volume.ts'
import type { ActualInputs } from '../../volumes/on-disk/actual-inputs.ts'
import type { BlockVolume } from '../../volumes/on-disk/block-volume.ts'
import type { PodVolume, SubPaths } from '../../volumes/on-disk/pod-volumes.ts'
import { isSetUp, type StagedVolume } from '../../volumes/on-disk/staged-volumes.ts'
import { baseName } from '../../volumes/on-disk/tree.ts'
import { pluginNamed } from '../../volumes/registry.ts'
import { stagedFor } from '../../volumes/same-volume.ts'
import {
  CSI_PLUGIN,
  escapeQualifiedName,
  type StateFile,
  unescapeQualifiedName,
  uniqueVolumeName,
} from '../../volumes/volume-names.ts'
import { isLiving, type PodClass, type PodClasses } from './pod-classes.ts'

interface VolumeUser {
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

/** A part of a volume on disk: a directory of a pod's volume, a sub-path, a block map of a pod, or what all pods share. */
interface Part {
  /** Undefined: of no pod that is known. */
  readonly pod?: PodClass
  readonly plugin: string
  /** Of the directory: the PersistentVolume's, or the pod volume's if that is inline (C9). */
  readonly name: string
  /** By the directory's name; absent: another pod may have another volume under it. */
  readonly uniqueName?: string
  readonly record?: StateFile
  /** Relative: the target, a mounted sub-path, or the files of a map; those that are undefined do not exist. */
  readonly paths: readonly (string | undefined)[]
  /** What it is without a record, in words; absent: a sub-path, beside a volume. */
  readonly what?: string
  /** Not only empty directories. */
  readonly setUp: boolean
  /** What the part is of; absent: nothing of it is mounted or mapped. */
  readonly mounted?: Mounted
}

type Mounted = PodVolume | StagedVolume | BlockVolume

export type VolumeUses = ReturnType<typeof volumeUses>

/** Made once per plan: attachments and directories may be thousands. */
export function volumeUses(ledger: Ledger, classes: PodClasses) {
  const { desired, blocks, staged, inputs, objects, onDisk } = ledger.sources
  const unidentified: UnidentifiedVolume[] = []
  const mounted: { readonly pod?: PodClass; readonly identity: Handle; readonly thing: Mounted }[] = []
  /** By unique name, and by the name of the volume's directory. */
  const users = new Map<string, VolumeUser[]>()
  /** By the name of the volume's directory. */
  const traces = new Map<string, { readonly record: StateFile | undefined; readonly trace: VolumeTrace }[]>()
  /** "uid/name" of every volume that a listed pod's spec asks for, and "uid/plugin/name". */
  const wanted = new Set(
    desired.volumes.flatMap(({ podUid, plugin, specName }) => {
      const name = escapeQualifiedName(specName)
      return [`${podUid}/${name}`, `${podUid}/${plugin}/${name}`]
    }),
  )

  const noteWanted = (podUid: string, name: string): void => {
    const pod = classes.of(podUid)
    if (pod !== undefined) append(users, name, { pod, how: 'wants it' })
  }

  const note = (part: Part): void => {
    const { pod, plugin, name, uniqueName, record, paths, what, setUp, mounted: thing } = part
    if (record?.data !== undefined && thing !== undefined) mounted.push({ pod, identity: record.data, thing })
    if (pod === undefined || !isLiving(pod)) {
      const [path, ...more] = paths.filter((each) => each !== undefined)
      if (plugin === CSI_PLUGIN && setUp && path !== undefined) append(traces, name, { record, trace: [path, ...more] })
      return
    }
    const noteHad = (volume: string): void => append(users, volume, { pod, how: 'has it on disk' })
    if (record?.data !== undefined) {
      noteHad(uniqueNameOf(record.data))
      return
    }
    if (uniqueName !== undefined) noteHad(uniqueName)
    const isWanted = wanted.has(`${pod.uid}/${what === undefined ? '' : `${plugin}/`}${name}`)
    // Containers of a pod that the API does not list keep a volume even after the kubelet has emptied its directory (O2).
    const mayRun = pod.pod === undefined && (pod.alive || pod.why?.is === 'perhapsRunning')
    if (plugin !== CSI_PLUGIN || isWanted || !(setUp || mayRun)) return
    // The directory's name proves nothing (S17): it is reason enough to count the volume as used, but not to count any other volume as
    // free.
    noteHad(name)
    const identity = identityOfObject(objects.persistentVolume(unescapeQualifiedName(name)))
    if (identity !== undefined) noteHad(uniqueNameOf(identity))
    if (what !== undefined) unidentified.push({ pod, what, mayBe: csiOf(identity?.driver) })
  }

  for (const { podUid, uniqueName } of desired.volumes) noteWanted(podUid, uniqueName)
  for (const { podUid, volume, persistentVolumeName: name } of desired.unresolved) {
    if (volume === undefined) continue
    // S4: this volume holds back only itself, under each of its names.
    noteWanted(podUid, volume.uniqueName)
    if (name !== undefined) noteWanted(podUid, escapeQualifiedName(name))
  }
  const mapped = new Set(blocks.flatMap(({ mappings }) => mappings.map(({ podUid }) => podUid)))
  for (const pod of classes.all) {
    const parts = partsOfPod(ledger, pod)
    for (const part of parts) note(part)
    const hasCsiTraces = mapped.has(pod.uid) || parts.some(({ plugin }) => plugin === CSI_PLUGIN)
    if (isLiving(pod)) unidentified.push(...unidentifiedVolumes(inputs, pod, hasCsiTraces))
  }
  for (const block of blocks) for (const part of partsOfBlock(inputs, classes, block)) note(part)
  // The layout before 1.24 is by PersistentVolume (C11), that of today by a hash.
  for (const each of staged) {
    const { key: name, stateFile: record, target } = each
    note({ plugin: CSI_PLUGIN, name, record, paths: [target], setUp: isSetUp(each), mounted: ifAny(each.layers, each) })
  }

  return {
    /** Volumes of Desired and Frozen pods that could not be identified. */
    unidentified: unidentified as readonly UnidentifiedVolume[],
    /** What is mounted or mapped here of CSI volumes, by their records: of all pods, then of devices. */
    mounted: mounted as Readonly<typeof mounted>,
    /**
     * Pods that are Desired or Frozen and use this unique name; or that have on disk, under this PersistentVolume's name, a CSI volume
     * whose vol_data.json is lost, or whose claim is bound to it, although it cannot be used.
     */
    of: (uniqueName = '', persistentVolume = ''): readonly VolumeUser[] => [
      ...(users.get(uniqueName) ?? []),
      ...(users.get(escapeQualifiedName(persistentVolume)) ?? []),
    ],
    /**
     * Traces of an attached CSI volume, apart from those of its users: by its state files, by the staging directory of its handle, and
     * by the name of its PersistentVolume, which still names the directory of a volume whose records are lost (S21, O5, O7, O22). The
     * name may belong to another volume by now (S17): then one trace too many is found, which is safe.
     */
    traces: (identity: Handle | undefined, persistentVolume = ''): VolumeTrace[] => {
      const named = traces.get(escapeQualifiedName(persistentVolume)) ?? []
      if (identity === undefined) return named.map(({ trace }) => trace)
      const ofName = named.flatMap(({ record, trace }) =>
        record?.data === undefined || isSameVolume(record.data, identity) ? [trace] : [],
      )
      const records = onDisk.of(uniqueNameOf(identity))
      return [
        ...records.map(({ path }): VolumeTrace => [`${path}/vol_data.json`]),
        ...stagedFor(inputs, identity).flatMap((each): VolumeTrace[] => (isSetUp(each) ? [[each.target]] : [])),
        ...ofName,
      ]
    },
  }
}

function partsOfPod({ sources: { inputs }, podVolumes, leakedSubPaths }: Ledger, pod: PodClass): Part[] {
  const all = podVolumes(pod.uid)
  const local = all.filter(({ plugin }) => plugin === localVolume.name)
  const volumes = all.filter(({ plugin }) => plugin === CSI_PLUGIN)
  return [
    ...local.map(({ plugin, name, target }) => ({
      ...{ pod, plugin, name, uniqueName: uniqueVolumeName(plugin, name), paths: [target], setUp: true },
    })),
    ...volumes.flatMap((volume): Part[] => {
      const { plugin, name, target, stateFile: record, layers, foreign, subPaths } = volume
      const published = inputs.tree.get(target)
      // A driver may publish a link or a device, too (C17).
      const isPublished = published !== undefined && published.type !== 'dir'
      const setUp = record !== undefined || layers.length + foreign.length > 0 || isPublished
      const what = `${inputs.absolute(target)} has no readable vol_data.json`
      const own = { pod, plugin, name, record, paths: [target], what, setUp, mounted: ifAny(layers, volume) }
      return [own, ...subPathPart(inputs, pod, subPaths)]
    }),
    ...leakedSubPaths(pod.uid).flatMap((subPaths) => subPathPart(inputs, pod, subPaths)),
  ]
}

/** A sub-path that is mounted still shows a volume whose directory is gone (O17). */
function subPathPart(inputs: ActualInputs, pod: PodClass, subPaths: SubPaths | undefined): Part[] {
  if (subPaths === undefined) return []
  const { volumeName: name, leaves, foreign } = subPaths
  const mounted = leaves.find(({ layers }) => layers.length > 0)?.path
  const path = mounted ?? (foreign[0] && inputs.pathOf(foreign[0]))
  return path === undefined ? [] : [{ pod, plugin: CSI_PLUGIN, name, paths: [path], setUp: true }]
}

function partsOfBlock(inputs: ActualInputs, classes: PodClasses, block: BlockVolume): Part[] {
  const { plugin, stateFile: record, dir, mapDir, stagingPath, publishDir } = block
  const about = { plugin, name: escapeQualifiedName(block.name), record, setUp: true }
  return [
    ...block.mappings.map(({ podUid, mapFile, mapLayers, publishPath, publishLayers, symlink }) => ({
      ...about,
      pod: classes.of(podUid),
      uniqueName: uniqueVolumeName(plugin, block.name),
      paths: [mapFile, publishPath, symlink],
      what: `block map ${inputs.absolute(mapFile ?? publishPath ?? symlink ?? dir)} has no readable state file`,
      mounted: ifAny([...mapLayers, ...publishLayers], block),
    })),
    {
      ...about,
      paths: [dir, mapDir, stagingPath, publishDir].filter((path = '') => inputs.tree.has(path)),
      mounted: ifAny(block.staging.mounts, block),
    },
  ]
}

function ifAny(mounts: readonly MountInfo[], thing: Mounted): Mounted | undefined {
  return mounts.length > 0 ? thing : undefined
}

/** @param driver undefined: any */
function csiOf(driver?: string): MayBe {
  return [{ plugin: CSI_PLUGIN, driver }]
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
  if (unread !== undefined) return [{ pod, what: `${unread.path} could not be read (${unread.error})`, mayBe: 'any' }]
  if (pod.pod !== undefined || !pod.alive) return []
  if (!tree.isDir(volumes)) return [{ pod, what: 'its volumes directory does not exist', mayBe: 'any' }]
  return plugins.flatMap(({ path }): UnidentifiedVolume[] => {
    const family = pluginNamed(unescapeQualifiedName(baseName(path))).tearDown
    if ((family === 'csi' ? hasCsiTraces : family !== 'mount') || tree.children(path).length > 0) return []
    const what = `${path} is empty, so which volumes it held is not known`
    return [{ pod, what, mayBe: family === 'csi' ? csiOf() : 'any' }]
  })
}
