/**
 * What configMap, secret, downwardAPI and projected volumes have in common: the kubelet's atomic writer fills a directory
 * or a tmpfs, which is an inner emptyDir named wrapped_NAME (P22, P28).
 */

import { contentDifference, volumeObstacle } from './atomic-content.ts'
import { podVolumeDir, type VolumeToMount, wrappedName } from './desired-state.ts'
import { emptyDirSteps, foreignMount, whyNotReady, whyNotThere } from './empty-dir-steps.ts'
import { notAsked, type Obstacle } from './finding.ts'
import type { ActualInputs } from './on-disk/actual-inputs.ts'
import type { SetUp, SetUpContext, VolumePlugin } from './plugin.ts'
import type { TreeEntry } from './snapshot.ts'
import type { Step } from './steps.ts'
import { expectedMount } from './steps.ts'
import { isGeneration } from './volume-names.ts'

/** On disk, or in a tmpfs (P22). */
type Medium = 'none' | 'tmpfs'

/** @param content what fills the volume, for the manual */
function atomicPlugin(
  name: string,
  source: 'configMap' | 'secret' | 'downwardAPI' | 'projected',
  content: string,
  fsType: Medium = 'tmpfs',
): VolumePlugin {
  return {
    name: `kubernetes.io/${name}`,
    source,
    about: {
      tearDown: `${fsType === 'tmpfs' ? 'unmounted; ' : ''}the files that the kubelet wrote are removed; any other file blocks`,
      setUp: `${content}, written atomically; written again with --remount where they differ from the API`,
    },
    reconstructs: true,
    tearDown: 'projected',
    mountsOver: () => fsType === 'tmpfs',
    whyMissing: (inputs, volume) => whyNotThere(inputs, volume, fsType) ?? whyNotFilled(inputs, volume, fsType),
    setUp: (context, volume) => setUp(context, volume, fsType),
  }
}

/**
 * Without `..data` the volume was not filled, even if the marker is there: after a boot, or a set-up that was killed half-way. For a tmpfs
 * the mount and `..data` are enough (R805). A directory that was not read is taken as filled.
 */
function whyNotFilled(inputs: ActualInputs, volume: VolumeToMount, fsType: Medium): string | undefined {
  const dir = podVolumeDir(volume)
  const read = inputs.tree.get(dir)
  const isFilled = read === undefined || read.error !== undefined || inputs.tree.has(`${dir}/..data`)
  const marker = fsType === 'none' ? whyNotReady(inputs, volume.podUid, wrappedName(volume.specName)) : undefined
  return marker ?? (isFilled ? undefined : 'its content was never written')
}

/** P22, P46. A tmpfs that is mounted already is filled as it is, as the kubelet does. */
function setUp(context: SetUpContext, volume: VolumeToMount, fsType: Medium): SetUp {
  const { inputs } = context
  const path = podVolumeDir(volume)
  const content: Step = { op: 'writeContent', target: `${inputs.absolute(path)}/..data` }
  const blocked =
    foreignMount(context, volume, fsType) ?? volumeObstacle(volume, inputs.snapshot) ?? unasked(context, volume)
  return {
    steps: emptyDirSteps(context, volume, { fsType, marker: wrappedName(volume.specName) }, [content]),
    expects: inputs.top(path) === undefined ? [] : [expectedMount(inputs.absolute(path), inputs.at(path))],
    blocked,
  }
}

/** S23: content that containers may have seen is changed only with --remount, whether or not the ready marker is there. */
function unasked({ inputs, options }: SetUpContext, volume: VolumeToMount): Obstacle | undefined {
  if (options.remount || !inputs.tree.has(`${podVolumeDir(volume)}/..data`)) return undefined
  return contentDifference(inputs, volume) === undefined ? undefined : notAsked('--remount')
}

/**
 * Does the kubelet's atomic writer make this entry of a projected volume (P26, P28)? It makes generations with their content,
 * `..data`, links through it, and directories for nested mounts (P26).
 * @param name path relative to the volume's directory
 */
export function madeByAtomicWriter(entry: TreeEntry, name: string): boolean {
  const [top = '', ...rest] = name.split('/')
  if (top === '..data' || top === '..data_tmp') return entry.type === 'link' && rest.length === 0
  if (isGeneration(top)) return entry.type === 'dir' || (rest.length > 0 && entry.type === 'file')
  if (entry.type === 'dir') return true
  return entry.type === 'link' && (entry.target ?? '').startsWith('..data/')
}

/** Files in a tmpfs (P48, P49). */
export const secret = atomicPlugin('secret', 'secret', 'the keys of a Secret')

/** Files on the kubelet's own disk (P46, P47). */
export const configMap = atomicPlugin('configmap', 'configMap', 'the keys of a ConfigMap', 'none')

/** Fields and resources of the pod, in a tmpfs (P50). */
export const downwardApi = atomicPlugin('downward-api', 'downwardAPI', "the pod's own fields and resources")

/** Several sources, tokens and trust bundles among them, in one tmpfs (P51-P56). */
export const projected = atomicPlugin(
  'projected',
  'projected',
  'config maps, secrets, fields of the pod, service account tokens and trust bundles',
)
