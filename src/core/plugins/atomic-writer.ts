/**
 * What configMap, secret, downwardAPI and projected volumes have in common: the kubelet's atomic writer fills a directory
 * or a tmpfs, an inner emptyDir called wrapped_NAME (P22, section 2.5 of the plugin rules).
 */
import type { PodVolumeSource } from '../model/objects.ts'
import type { TreeEntry } from '../model/snapshot.ts'
import { isGeneration } from '../names.ts'
import { notSupportedYet } from '../reconcile/draft.ts'
import { emptyDirSteps } from './empty-dir-steps.ts'
import { directoryEvidence, fsTypeEvidence } from './evidence.ts'
import { inlineOf, perPodFacts } from './facts.ts'
import { podVolumeDir } from './paths.ts'
import type { VolumePlugin } from './plugin.ts'
import { tmpfsOptions } from './tmpfs-options.ts'

export interface AtomicKind {
  readonly name: string
  readonly source: 'configMap' | 'secret' | 'downwardAPI' | 'projected'
  /** On disk, or in a tmpfs (P22). */
  readonly medium: 'disk' | 'memory'
  /** What it is filled with, for the manual. */
  readonly content: string
}

export function atomicPlugin({ name, source, medium, content }: AtomicKind): VolumePlugin {
  return {
    name,
    about: {
      tearDown: `${medium === 'memory' ? 'unmounted; ' : ''}what the kubelet wrote is removed, a file of anybody else stops it`,
      setUp: `${content}, written atomically; written anew with --remount where it differs from the API`,
    },
    attachability: 'notAttachable',
    deviceMountable: false,
    block: false,
    refreshes: true,
    reconstructs: true,
    tearDown: 'projected',
    facts: (spec, context) => {
      const inline: PodVolumeSource | undefined = inlineOf(spec)
      return inline?.[source] == null ? undefined : perPodFacts(name, inline.name, context)
    },
    podPath: podVolumeDir,
    globalPath: () => undefined,
    mountsOver: () => medium === 'memory',
    evidence: (inputs, volume) =>
      medium === 'disk'
        ? directoryEvidence(inputs, volume, `wrapped_${volume.specName}`)
        : fsTypeEvidence(inputs, volume, 'tmpfs'),
    setUp: (context, volume) => ({
      steps: emptyDirSteps(
        context,
        volume,
        {
          mount: medium === 'disk' ? undefined : { fsType: 'tmpfs', options: tmpfsOptions(context, volume) },
          marker: `wrapped_${volume.specName}`,
        },
        [{ op: 'write', target: `${context.inputs.absolute(podVolumeDir(volume))}/..data` }],
      ),
      blocked: notSupportedYet('Start the kubelet: it mounts the volume.'),
    }),
  }
}

/**
 * Is this entry of a projected volume one that the kubelet's atomic writer makes (section 2.5 of the plugin rules)?
 * Generations with what is in them, `..data`, links through it, and directories for nested mounts (P26).
 * @param name path relative to the volume's directory
 */
export function madeByAtomicWriter(entry: TreeEntry, name: string): boolean {
  const [top = '', ...rest] = name.split('/')
  if (top === '..data' || top === '..data_tmp') return entry.type === 'link' && rest.length === 0
  if (isGeneration(top)) return entry.type === 'dir' || (rest.length > 0 && entry.type === 'file')
  if (entry.type === 'dir') return true
  return entry.type === 'link' && (entry.target ?? '').startsWith('..data/')
}
