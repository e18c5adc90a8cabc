/** flexVolume: a program on the host for each driver (P85-P88). The volume's plugin name is the driver's name. */

import type { ActualInputs } from '../actual/actual-inputs.ts'
import type { VolumeToMount } from '../desired/desired-state.ts'
import { defined } from '../lang/defined.ts'
import { uniqueVolumeName } from '../names/volume-names.ts'
import type { Obstacle } from '../plan/draft.ts'
import type { Step } from '../plan/plan.ts'
import { mountEvidence } from './evidence.ts'
import { perPodFacts, sharedNameFacts, sharedSources, specNameOf } from './facts.ts'
import { flexSourceOf, isFlexReadOnly } from './flex-options.ts'
import { flexProgram } from './flex-program.ts'
import { ownershipOf } from './ownership.ts'
import { podVolumeDir } from './paths.ts'
import type { SetUpContext, VolumePlugin } from './plugin.ts'

export const flexVolume: VolumePlugin = {
  name: 'flexVolume',
  source: 'flexVolume',
  about: { tearDown: "by the driver's program", setUp: "by the driver's program" },
  block: false,
  refreshes: false,
  reconstructs: false,
  tearDown: 'mount',
  device: {
    base: 'plugins/kubernetes.io/flexvolume',
    // VENDOR/DRIVER/mounts/NAME, or DRIVER/mounts/NAME for a driver without a vendor (P85, P86).
    ownerOf: (parts) =>
      parts.at(-2) === 'mounts' && (parts.length === 3 || parts.length === 4)
        ? parts.slice(0, -2).join('/')
        : undefined,
    depths: [3, 4],
  },
  refusesMountOptions: true,
  /**
   * Only the driver knows whether it attaches, and the unique name depends on that (P7). A name that the Node lists proves
   * that the driver attaches.
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
  sourceText: ({ flexVolume: source }) => (source == null ? undefined : `flexVolume driver ${source.driver}`),
  podPath: podVolumeDir,
  globalPath: globalPathOf,
  mountsOver: () => true,
  evidence: mountEvidence,
  setUp: (context, volume, first) => {
    const program = flexProgram(context.inputs.snapshot, volume.plugin)
    if ('why' in program) return { steps: [], blocked: driverMissing(volume.plugin, program.why) }
    const steps = flexSteps(context, volume, program.executable, first)
    const blocked = secretObstacle(volume)
    return blocked === undefined ? { steps } : { steps, blocked }
  },
}

/** A driver mounts a device only if it attaches (P87, P88). */
function flexSteps({ inputs }: SetUpContext, volume: VolumeToMount, detail: string, first: boolean): Step[] {
  const target = inputs.absolute(podVolumeDir(volume))
  const global = globalPathOf(volume)
  const withDevice = volume.attachability === 'attachable' && first && inputs.top(global) === undefined
  return [
    ...(withDevice ? deviceSteps(inputs, volume, inputs.absolute(global), detail) : []),
    { op: 'mkdir', target, mode: '0750' },
    { op: 'flexMount', target, source: inputs.absolute(global), detail },
    ...(isFlexReadOnly(volume) ? [] : ownershipOf(volume, target, { ignoreErrors: true })),
  ]
}

function deviceSteps({ snapshot }: ActualInputs, volume: VolumeToMount, target: string, detail: string): Step[] {
  const attached = snapshot.api?.node?.status?.volumesAttached?.find(({ name }) => name === volume.uniqueName)
  const fsType = flexSourceOf(volume)?.fsType
  return [
    { op: 'mkdir', target, mode: '0750' },
    {
      op: 'flexMountDevice',
      target,
      detail,
      ...defined({ source: attached?.devicePath || undefined, fsType: fsType || undefined }),
      options: [isFlexReadOnly(volume) ? 'ro' : 'rw'],
    },
  ]
}

function globalPathOf({ plugin, specName }: Pick<VolumeToMount, 'plugin' | 'specName'>): string {
  return `plugins/kubernetes.io/flexvolume/${plugin}/mounts/${specName}`
}

function driverMissing(plugin: string, why: string): Obstacle {
  return {
    code: 'DriverUnavailable',
    message: `flexVolume driver ${plugin} ${why}`,
    hint: 'Install the driver where the kubelet looks for drivers (volumePluginDir); then plan again.',
  }
}

function secretObstacle(volume: VolumeToMount): Obstacle | undefined {
  if (flexSourceOf(volume)?.secretRef == null) return undefined
  return {
    code: 'LeftToKubelet',
    message: `driver ${volume.plugin} would be given a secret on its command line, where every process of the host can read it`,
    hint: 'Start the kubelet: it mounts the volume.',
  }
}
