/** The map of a raw block volume: map file, the pod's link, loop device (P98, P99, R805); and what iSCSI and FC have in common. */
import type { SharedSources } from '../kube/api/objects.ts'
import { podDeviceLink, type SpecSource, sharedSourcesOf, type VolumeToMount } from './desired-state.ts'
import type { ActualInputs } from './on-disk/actual-inputs.ts'
import { mapFileOf } from './on-disk/block-volume.ts'
import type { PluginDevice, VolumePlugin } from './plugin.ts'
import type { Step } from './steps.ts'

/**
 * The steps of a map, in the kubelet's order. Each step leaves what exists as it is.
 *
 * @param mapDir the volume's global map directory, relative to the root directory
 * @param device its path
 */
export function mapSteps(inputs: ActualInputs, volume: VolumeToMount, mapDir: string, device: string): Step[] {
  const directory = inputs.absolute(mapDir)
  const map = `${directory}/${volume.podUid}`
  return [
    { op: 'mkdir', target: directory, mode: '0750' },
    { op: 'mapDevice', target: map, source: device },
    { op: 'symlink', target: inputs.absolute(podDeviceLink(volume)) },
    { op: 'losetup -f', target: map },
  ]
}

/**
 * Which of a map's three parts is missing, the loop device as far as that is known; undefined: none.
 *
 * @param map the map file, relative to the root directory; undefined: not known; then the pod's link is enough
 */
export function whyNotMapped(inputs: ActualInputs, volume: VolumeToMount, map: string | undefined): string | undefined {
  if (inputs.tree.get(podDeviceLink(volume))?.type !== 'link') return "the pod's link to the device is missing"
  if (map === undefined) return undefined
  const { mapLayers, loops } = mapFileOf(inputs, map)
  if (mapLayers.length === 0) return 'no device is mapped for the pod'
  // The kernel shows "/" for a backing file that is not visible in this mount namespace: that may be this map's device.
  const mayHave = inputs.snapshot.blockDevices?.some(({ backingFile }) => backingFile === '/') ?? true
  return loops.length > 0 || mayHave ? undefined : 'no loop device holds its device open'
}

// What the plugins of LUNs, iscsi and fc, have in common (P83, P98).

type LunSource<Kind extends 'iscsi' | 'fc'> = NonNullable<SharedSources[Kind]>

interface LunKind<Kind extends 'iscsi' | 'fc'>
  extends Pick<PluginDevice, 'globals' | 'uniqueName' | 'record' | 'session' | 'release'>,
    Required<Pick<VolumePlugin<LunSource<Kind>>, 'facts' | 'sourceText'>> {
  readonly source: Kind
  /** In words. */
  readonly called: string
  /** How a device is removed, in words. */
  readonly removed: string
  /** Levels of a global directory below that of the plugin. */
  readonly depth: number
  /** The global directory; undefined: a tear-down could not read the same from it. */
  directoryOf(volume: VolumeToMount, source: LunSource<Kind>): string | undefined
  /** @param name of a global directory */
  isOf(source: LunSource<Kind>, name: string): boolean
}

/** The plugin of LUNs of one kind. */
export function lunPlugin<Kind extends 'iscsi' | 'fc'>({
  source: key,
  called,
  removed,
  depth,
  facts,
  sourceText,
  directoryOf,
  isOf,
  ...device
}: LunKind<Kind>): VolumePlugin<LunSource<Kind>> {
  const name = `kubernetes.io/${key}`
  const base = `plugins/${name}`
  const sourceOf = (volume: SpecSource): LunSource<Kind> | undefined => sharedSourcesOf(volume)[key] ?? undefined
  return {
    name,
    source: key,
    about: { tearDown: `unmounted, its disks ${removed} where nothing else uses them`, setUp: 'left to the kubelet' },
    facts,
    sourceText,
    block: true,
    reconstructs: true,
    tearDown: 'mount',
    device: {
      ...device,
      base,
      depths: [depth],
      maps: { base: `${base}/volumeDevices`, depth, namedAfter: 'device' },
      isOf: (volume, directory) => {
        const source = sourceOf(volume)
        return source === undefined || isOf(source, directory)
      },
    },
    globalPath: (volume) => {
      const source = sourceOf(volume)
      return source && directoryOf(volume, source)
    },
    takesLabel: () => true,
    setUp: called,
  }
}
