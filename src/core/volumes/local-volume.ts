/** local: a directory of this node, or a device, which has a global mount (P66-P71, P83). */

import { posix } from 'node:path'
import { said } from '../messages/findings.ts'
import { podVolumeDir, type VolumeToMount } from './desired-state.ts'
import type { Obstacle } from './finding.ts'
import { mapSteps } from './map-steps.ts'
import { joinMountOptions, mountOptions, ownershipOf } from './mount-options.ts'
import type { ActualInputs } from './on-disk/actual-inputs.ts'
import { specNameOf, type VolumePlugin } from './plugin.ts'
import type { Step } from './steps.ts'

export const localVolume: VolumePlugin<{ readonly path: string }> = {
  name: 'kubernetes.io/local-volume',
  source: 'local',
  about: {
    tearDown: 'unmounted, the global mount of a device as well; raw block is unmapped',
    setUp: 'a directory is bound; a device is checked and mounted, never formatted; raw block is mapped',
  },
  block: true,
  // Its reconstruction fails for a directory (P70, O32), and volctl cannot distinguish that from a device.
  tearDown: 'mount',
  device: {
    base: 'plugins/kubernetes.io/local-volume',
    globals: /^mounts\/[^/]+$/,
    // A directory without a mount has no session and no state, and the kubelet creates it again.
    depths: [],
    maps: { base: 'plugins/kubernetes.io~local-volume/volumeDevices', depth: 1, namedAfter: 'volume' },
  },
  facts: (_, spec) => ({ shared: specNameOf(spec) }),
  sourceText: ({ path }) => `local ${path}`,
  globalPath,
  setUp: ({ inputs }, volume, first) => {
    const path = volume.persistentVolume?.spec.local?.path ?? ''
    const blocked = pathObstacle(volume, path)
    const steps =
      volume.mode === 'Block'
        ? // By text alone, as the kubelet does: `/dev/./sdb` is /dev/sdb (P83).
          mapSteps(inputs, volume, globalPath(volume), posix.normalize(path))
        : fileSystemSteps(inputs, volume, path, first)
    return { steps, blocked }
  },
}

function globalPath({ specName, mode }: VolumeToMount): string {
  return mode === 'Block'
    ? `plugins/kubernetes.io~local-volume/volumeDevices/${specName}`
    : `plugins/kubernetes.io/local-volume/mounts/${specName}`
}

/** P68, and P161: a relative path would be looked up below volctl's own working directory. */
function pathObstacle({ specName }: VolumeToMount, path: string): Obstacle | undefined {
  if (path.startsWith('/') && !path.split('/').includes('..')) return undefined
  return said('InvalidPath.volume', { specName, fault: path === '' ? 'no path' : `an unusable path: ${path}` })
}

/**
 * Whether the path is a directory or a device is known only when apply looks at it (P66). So every pod's operation has the step
 * that looks, and mounts the device unless it is mounted.
 */
function fileSystemSteps(inputs: ActualInputs, volume: VolumeToMount, path: string, first: boolean): Step[] {
  const target = inputs.absolute(podVolumeDir(volume))
  const readOnly = volume.readOnly ? ['ro'] : []
  const fsType = volume.persistentVolume?.spec.local?.fsType ?? ''
  const options = mountOptions(volume, readOnly)
  return [
    {
      op: 'mountDevice',
      target: inputs.absolute(globalPath(volume)),
      detail: 'unless it is a directory',
      source: path,
      fsType: fsType || undefined,
      options: options.length === 0 ? undefined : options,
    },
    { op: 'mkdir', target, mode: '0750' },
    // Always sorted (P68).
    { op: 'mount', target, options: joinMountOptions(mountOptions(volume), ['bind', ...readOnly]) },
    // Only the first pod's group counts (P68).
    ...(first && !volume.readOnly && !isMountedForAnyPod(inputs, volume) ? ownershipOf(volume, target) : []),
  ]
}

function isMountedForAnyPod(inputs: ActualInputs, volume: VolumeToMount): boolean {
  return inputs.podsWithMounts().some((podUid) => inputs.top(podVolumeDir({ ...volume, podUid })) !== undefined)
}
