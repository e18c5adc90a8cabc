/** Every plugin that the kubelet of 1.36 registers (P1), and a stand-in for the others. */

import { memoize } from '../base/collections.ts'
import type { PersistentVolume, PodVolumeSource } from '../kube/api/objects.ts'
import { said } from '../messages/findings.ts'
import { configMap, downwardApi, projected, secret } from './atomic-writer.ts'
import { csi, lostStateFile } from './csi.ts'
import { csiPlaces, podPathOf, podVolumeDir, VOLUME_DATA, type VolumeToMount } from './desired-state.ts'
import { emptyDir, gitRepo } from './empty-dir.ts'
import { fc } from './fc.ts'
import { flexVolume } from './flex-volume.ts'
import { hostPath, image } from './host-path.ts'
import { iscsi } from './iscsi.ts'
import { localVolume } from './local-volume.ts'
import { whyNotMapped } from './map-steps.ts'
import { nfs } from './nfs.ts'
import type { ActualInputs } from './on-disk/actual-inputs.ts'
import type { DeviceSource, MountEvidence, VolumePlugin } from './plugin.ts'
import { type OtherVolume, otherMapped, otherMounted, otherOnRecord } from './same-volume.ts'

/** In the kubelet's order, flexVolume last. */
export const PLUGINS: readonly VolumePlugin[] = [
  emptyDir,
  gitRepo,
  hostPath,
  nfs,
  secret,
  iscsi,
  downwardApi,
  fc,
  configMap,
  projected,
  localVolume,
  csi,
  image,
  flexVolume,
]

const BY_NAME: ReadonlyMap<string, VolumePlugin> = new Map(
  PLUGINS.filter((plugin) => plugin !== flexVolume).map((plugin) => [plugin.name, plugin]),
)

/**
 * The plugin of this name. A name that is not in-tree belongs to a flexVolume driver; if it begins with kubernetes.io/, to a
 * plugin of an older version (P2, P4).
 */
export function pluginNamed(name: string): VolumePlugin {
  return BY_NAME.get(name) ?? (name.startsWith('kubernetes.io/') ? unknown : flexVolume)
}

/** Is this an in-tree plugin? Any other name belongs to a flexVolume driver, or to a plugin of an older version (P1). */
export function isInTree(name: string): boolean {
  return BY_NAME.has(name)
}

/** With what their field of the source has: none where no plugin is for it, several where the source has more than one field (R003). */
export function pluginsFor(
  sources: PersistentVolume['spec'] | Partial<PodVolumeSource>,
): { readonly plugin: VolumePlugin; readonly source: never }[] {
  const values: Readonly<Record<string, unknown>> = { ...sources }
  return PLUGINS.flatMap((plugin) => {
    const source = values[plugin.source ?? '']
    return source == null ? [] : { plugin, source: source as never }
  })
}

/** The node's own mount or map of the volume, relative to the root directory; undefined: there is none. */
export function globalPathOf(volume: VolumeToMount): string | undefined {
  return pluginNamed(volume.plugin).globalPath?.(volume)
}

/** Is a file system mounted on the volume's directory? Then the directory has to be empty (S22). */
export function mountsOver(volume: VolumeToMount): boolean {
  return pluginNamed(volume.plugin).mountsOver?.(volume) ?? volume.mode === 'Filesystem'
}

/** Whether a wanted volume is there, and whether what is there is that volume (R805, S38); read once. */
export function evidenceOf(inputs: ActualInputs, volume: VolumeToMount): MountEvidence {
  return judged(inputs)(volume)
}

const judged = memoize((inputs: ActualInputs) => memoize((volume: VolumeToMount) => judge(inputs, volume)))

function judge(inputs: ActualInputs, volume: VolumeToMount): MountEvidence {
  const plugin = pluginNamed(volume.plugin)
  const isBlock = volume.mode === 'Block'
  if (isBlock && !plugin.block) return { state: 'notMounted', why: 'no container gets the device' }
  const global = globalPathOf(volume)
  const map = plugin === csi ? csiPlaces(volume).mapFile : global && `${global}/${volume.podUid}`
  const why = isBlock ? whyNotMapped(inputs, volume, map) : whyNoFileSystem(inputs, volume, plugin)
  if (why !== undefined) return { state: 'notMounted', why }
  if (plugin.tearDown === 'nothing') return { state: 'satisfied' }
  const stateFileLost = plugin === csi ? lostStateFile(inputs, volume) : undefined
  const other = (): OtherVolume | undefined => {
    const published = plugin === csi ? csiPlaces(volume).target : undefined
    if (isBlock) return map === undefined ? undefined : otherMapped(inputs, volume, map, published)
    const staged = global === undefined ? [] : [global]
    return otherMounted(inputs, volume, { path: podPathOf(volume), staged, isDirectory: !mountsOver(volume) })
  }
  // Without a state file it is asked first which volume it should be (S17).
  return {
    state: 'mounted',
    stateFileLost,
    other: otherOnRecord(inputs, volume) ?? (stateFileLost === undefined ? other() : undefined),
  }
}

function whyNoFileSystem(inputs: ActualInputs, volume: VolumeToMount, plugin: VolumePlugin): string | undefined {
  if (plugin.whyMissing !== undefined) return plugin.whyMissing(inputs, volume)
  return inputs.top(podVolumeDir(volume)) === undefined ? 'nothing is mounted on its directory' : undefined
}

// Stands in for a plugin that this version does not know: one of an older Kubernetes, or none at all (P3, P4, R514).

const unknown: VolumePlugin = {
  name: 'unknown',
  about: {
    tearDown: 'unmounted, and removed when empty',
    setUp: 'never: volctl does not know the plugin',
  },
  tearDown: 'mount',
  setUp: (_, { plugin }) => ({
    steps: [],
    blocked: said('PluginUnsupported.noPlugin', { plugin }),
  }),
}

// Which volume a device belongs to: sources of volumes compared with the names of global directories (R815, P93-P96).
//
// By exact names of target and LUN, of WWN and LUN, of WWID, of the volume. If a volume can be written in two ways, either
// counts, so that a wanted volume is never taken for another one.

/** @param name of the global directory: of the mount, or of the block map */
export function isDeviceOf(volume: DeviceSource, plugin: string, name: string): boolean {
  if (volume.plugin !== plugin) return false
  return pluginNamed(plugin).device?.isOf?.(volume, name) ?? volume.specName === name
}

/** Names of the files that a driver or a plugin needs to identify a volume (S14). */
export const STATE_FILES: ReadonlySet<string> = new Set([
  VOLUME_DATA,
  ...PLUGINS.flatMap(({ device }) => device?.record?.name ?? []),
])
