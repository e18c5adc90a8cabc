/** Which pods that must not be disturbed use a volume: because they want it, or because the disk says they have it. */
import type { ActualInputs } from '../actual/actual-inputs.ts'
import type { BlockVolume } from '../actual/devices.ts'
import { readStateFile } from '../actual/state-file.ts'
import { baseName } from '../actual/tree.ts'
import type { DesiredState } from '../desired/desired-state.ts'
import { csiUniqueName } from '../names.ts'
import type { PodClass, PodClasses } from './pod-classes.ts'

export interface VolumeUser {
  readonly pod: PodClass
  readonly how: 'wants it' | 'has it on disk'
}

export interface VolumeUsers {
  /** Pods that are Desired or Frozen and use this unique name. */
  of(uniqueName: string): readonly VolumeUser[]
  /** Pods that are Desired or Frozen and have any volume of this plugin, wanted or on disk. */
  ofPlugin(plugin: string): readonly VolumeUser[]
}

/** @see R815, R817: a volume is matched by what the pod wants and by what its directories and maps say. */
export function findVolumeUsers(
  inputs: ActualInputs,
  classes: PodClasses,
  desired: DesiredState,
  blocks: readonly BlockVolume[],
): VolumeUsers {
  const byName = new Map<string, VolumeUser[]>()
  const byPlugin = new Map<string, VolumeUser[]>()
  const note = (map: Map<string, VolumeUser[]>, key: string, user: VolumeUser): void => {
    const users = map.get(key)
    if (users === undefined) map.set(key, [user])
    else users.push(user)
  }
  for (const volume of desired.volumes) {
    const pod = classes.of(volume.podUid)
    if (pod === undefined || !isLiving(pod)) continue
    note(byName, volume.uniqueName, { pod, how: 'wants it' })
    note(byPlugin, volume.plugin, { pod, how: 'wants it' })
  }
  for (const pod of classes.all) {
    if (!isLiving(pod)) continue
    const user: VolumeUser = { pod, how: 'has it on disk' }
    for (const plugin of inputs.tree.children(`pods/${pod.uid}/volumes`)) {
      const name = baseName(plugin.path).replaceAll('~', '/')
      const dirs = inputs.tree.children(plugin.path)
      if (dirs.length > 0) note(byPlugin, name, user)
      if (name === 'kubernetes.io/local-volume') {
        for (const dir of dirs) note(byName, `${name}/${baseName(dir.path)}`, user)
      }
      if (name !== 'kubernetes.io/csi') continue
      for (const dir of dirs) {
        const data = readStateFile(inputs.tree.get(`${dir.path}/vol_data.json`))?.data
        if (data !== undefined) note(byName, csiUniqueName(data.driverName, data.volumeHandle), user)
      }
    }
  }
  for (const block of blocks) {
    const data = block.stateFile?.data
    const name =
      data === undefined ? `${block.plugin}/${block.name}` : csiUniqueName(data.driverName, data.volumeHandle)
    for (const mapping of block.mappings) {
      const pod = classes.of(mapping.podUid)
      if (pod !== undefined && isLiving(pod)) note(byName, name, { pod, how: 'has it on disk' })
    }
  }
  return { of: (name) => byName.get(name) ?? [], ofPlugin: (plugin) => byPlugin.get(plugin) ?? [] }
}

/** Desired and Frozen pods keep what they have (S5). */
export function isLiving(pod: PodClass): boolean {
  return pod.class === 'Desired' || pod.class === 'Frozen'
}
