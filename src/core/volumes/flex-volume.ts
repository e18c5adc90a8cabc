/** flexVolume: a program on the host for each driver (P85-P88). The volume's plugin name is the driver's name. */

import type { SharedSources } from '../kube/api/objects.ts'
import { volumesInStatus } from './node-affinity.ts'
import { specNameOf, type VolumePlugin } from './plugin.ts'
import { uniqueVolumeName } from './volume-names.ts'

export const flexVolume: VolumePlugin<NonNullable<SharedSources['flexVolume']>> = {
  name: 'flexVolume',
  source: 'flexVolume',
  about: { tearDown: "by the driver's program", setUp: 'left to the kubelet' },
  tearDown: 'mount',
  device: {
    base: 'plugins/kubernetes.io/flexvolume',
    // VENDOR/DRIVER/mounts/NAME, or DRIVER/mounts/NAME for a driver without a vendor (P85, P86).
    globals: /^([^/]+(?:\/[^/]+)?)\/mounts\/[^/]+$/,
    depths: [3, 4],
  },
  refusesMountOptions: true,
  /**
   * Only the driver knows whether it attaches, and the unique name depends on that (P7). A name that the Node lists proves
   * that the driver attaches.
   */
  facts: ({ driver: plugin }, spec, { node }) => {
    const shared = specNameOf(spec)
    const isListed = volumesInStatus(node).includes(uniqueVolumeName(plugin, shared))
    return isListed ? { plugin, shared, attachability: 'attachable' } : { plugin, attachability: 'unknown' }
  },
  sourceText: ({ driver }) => `flexVolume driver ${driver}`,
  globalPath: ({ plugin, specName }) => `plugins/kubernetes.io/flexvolume/${plugin}/mounts/${specName}`,
  setUp: 'flexVolume',
}
