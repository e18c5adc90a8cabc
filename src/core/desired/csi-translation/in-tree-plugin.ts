/** How each in-tree volume type is translated to CSI (R150-R164). */
import { defined } from '../../lang/defined.ts'
import type {
  ApiObject,
  CsiPersistentVolumeSource,
  InTreeSources,
  NodeSelectorTerm,
  PersistentVolume,
  PodVolumeSource,
} from '../../model/objects.ts'

/** The plugin of each source, as CSINode lists the plugins that the kubelet migrates. */
export const IN_TREE_PLUGINS: Readonly<Record<keyof InTreeSources, string>> = {
  awsElasticBlockStore: 'kubernetes.io/aws-ebs',
  gcePersistentDisk: 'kubernetes.io/gce-pd',
  azureDisk: 'kubernetes.io/azure-disk',
  azureFile: 'kubernetes.io/azure-file',
  cinder: 'kubernetes.io/cinder',
  vsphereVolume: 'kubernetes.io/vsphere-volume',
  portworxVolume: 'kubernetes.io/portworx-volume',
}

/** Of the one source that a volume has, in the spec of a pod or of its PersistentVolume. */
export function inTreePluginOf(sources: InTreeSources | undefined): string | undefined {
  return Object.entries(IN_TREE_PLUGINS).find(([key]) => sources?.[key as keyof InTreeSources] != null)?.[1]
}

/** The in-tree plugins that a node's kubelet leaves to CSI drivers; undefined if its CSINode does not say (R150). */
export function migratedPlugins(
  csiNode: Pick<ApiObject, 'metadata'> | null | undefined,
): readonly string[] | undefined {
  const listed = csiNode?.metadata.annotations?.['storage.alpha.kubernetes.io/migrated-plugins']
  return listed
    ?.split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '')
}

/** A volume that the kubelet cannot translate, and so cannot mount. The message completes "cannot be translated to CSI: …". */
export interface Untranslatable {
  readonly error: string
}

/** What replaces the in-tree source of a PersistentVolume; absent fields stay as they are. */
export interface TranslatedPersistentVolume {
  readonly csi: CsiPersistentVolumeSource
  readonly accessModes?: readonly string[]
  readonly nodeSelectorTerms?: readonly NodeSelectorTerm[]
}

/** The synthetic PersistentVolume of an inline source; its name is the volume's spec name and directory (R005). */
export interface TranslatedInlineVolume {
  readonly name: string
  readonly csi: CsiPersistentVolumeSource
  readonly accessModes: readonly string[]
}

export interface InTreePlugin<Key extends keyof InTreeSources> {
  readonly source: Key
  translatePersistentVolume(
    source: NonNullable<InTreeSources[Key]>,
    pv: PersistentVolume,
  ): TranslatedPersistentVolume | Untranslatable
  translateInline(
    source: NonNullable<InTreeSources[Key]>,
    volume: PodVolumeSource,
    podNamespace: string,
  ): TranslatedInlineVolume | Untranslatable
}

/** `readOnly` and `fsType`, if the in-tree source has them. */
export function copied(source: { readonly readOnly?: boolean; readonly fsType?: string }) {
  return {
    ...defined({ readOnly: source.readOnly, fsType: source.fsType }),
  }
}
