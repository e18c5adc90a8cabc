/** How a volume is mounted: options of its PersistentVolume (P14, P19), which an inline volume lacks, and the group that gets its files. */

import { said } from '../messages/findings.ts'
import type { VolumeToMount } from './desired-state.ts'
import type { Obstacle } from './finding.ts'
import type { Step } from './steps.ts'

/** Takes precedence over spec.mountOptions, even if empty. */
const ANNOTATION = 'volume.beta.kubernetes.io/mount-options'

/**
 * The PersistentVolume's options and the plugin's own, as the kubelet hands them to mount(8).
 *
 * @param own what the plugin adds, e.g. `ro`; alone, they keep their order
 * @returns a sorted set if the PersistentVolume has options
 */
export function mountOptions({ persistentVolume }: VolumeToMount, own: readonly string[] = []): string[] {
  const annotation = persistentVolume?.metadata.annotations?.[ANNOTATION]
  const given = annotation?.split(',') ?? persistentVolume?.spec.mountOptions ?? []
  return given.length === 0 ? [...own] : joinMountOptions(given, own)
}

/** A sorted set of both; empty ones of the first are dropped (P19). */
export function joinMountOptions(given: readonly string[], own: readonly string[]): string[] {
  return [...new Set([...given.filter((option) => option !== ''), ...own])].toSorted()
}

/** Why a plugin that supports no mount options does not mount this volume (P14). */
export function mountOptionsObstacle(volume: VolumeToMount): Obstacle | undefined {
  const options = mountOptions(volume)
  if (options.length === 0) return undefined
  return {
    ...said('PluginUnsupported.options', {
      name: volume.persistentVolume?.metadata.name,
      options: options.join(', '),
      plugin: volume.plugin,
    }),
    hint: `Remove mountOptions, or the annotation ${ANNOTATION}, from the PersistentVolume.`,
  }
}

// fsGroup of a pod, as the step that gives a volume to it (P15, P31, P32, P34).

/**
 * @param target absolute path of the volume's directory
 * @param isEmptyDir its plugin passes no policy, and always walks (P32); the volume counts as set up even if the walk fails (P34)
 * @returns one step, or none if the pod asks for no group
 */
export function ownershipOf({ pod }: VolumeToMount, target: string, isEmptyDir = false): readonly Step[] {
  const { fsGroup, fsGroupChangePolicy } = pod.spec.securityContext ?? {}
  if (fsGroup == null) return []
  // Any other policy always walks; without a policy, the walk is done, too.
  const policy = !isEmptyDir && fsGroupChangePolicy === 'OnRootMismatch' ? 'OnRootMismatch' : 'Always'
  return [
    { op: 'setOwnership', target, ownership: { gid: fsGroup, policy, readOnly: false, ignoreErrors: isEmptyDir } },
  ]
}
