/** flexVolume: a program on the host for each driver (P85-P88). Its plugin name is the driver's. */

import { uniqueVolumeName } from '../names.ts'
import { notSupportedYet } from '../reconcile/draft.ts'
import { mountEvidence } from './evidence.ts'
import { perPodFacts, sharedNameFacts, sharedSources, specNameOf } from './facts.ts'
import { podVolumeDir } from './paths.ts'
import type { VolumePlugin } from './plugin.ts'

export const flexVolume: VolumePlugin = {
  name: 'flexVolume',
  about: { tearDown: "by the driver's program", setUp: "by the driver's program" },
  attachability: 'driver',
  deviceMountable: false,
  block: false,
  refreshes: false,
  reconstructs: false,
  tearDown: 'mount',
  refusesMountOptions: true,
  /**
   * Whether a flex driver attaches only the driver could say, and with it goes the name (P7). A name that the Node lists
   * proves that it does.
   */
  facts: (spec, context) => {
    const driver = sharedSources(spec).flexVolume?.driver
    if (driver === undefined) return undefined
    const name = specNameOf(spec)
    const shared = uniqueVolumeName(driver, name)
    const { volumesAttached, volumesInUse } = context.node?.status ?? {}
    const listed = volumesInUse?.includes(shared) || volumesAttached?.some((volume) => volume.name === shared)
    if (listed) return sharedNameFacts(driver, name, 'attachable')
    return { ...perPodFacts(driver, name, context), attachability: 'unknown' }
  },
  podPath: podVolumeDir,
  globalPath: ({ plugin, specName }) => `plugins/kubernetes.io/flexvolume/${plugin}/mounts/${specName}`,
  mountsOver: () => true,
  evidence: mountEvidence,
  setUp: (context, volume) => ({
    steps: [{ op: 'mount', target: context.inputs.absolute(podVolumeDir(volume)) }],
    blocked: notSupportedYet('Start the kubelet: it mounts the volume.'),
  }),
}
