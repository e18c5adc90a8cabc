/** In-tree volumes as the CSI volumes that the kubelet translates them to, always and on every node (R150, R151). */
import { defined } from '../../lang/defined.ts'
import type {
  CsiPersistentVolumeSource,
  InTreeSources,
  PersistentVolume,
  PodVolumeSource,
} from '../../model/objects.ts'
import { awsEbs } from './aws-ebs.ts'
import { azureDisk } from './azure-disk.ts'
import { azureFile } from './azure-file.ts'
import { cinder } from './cinder.ts'
import { gcePd } from './gce-pd.ts'
import type { InTreePlugin, TranslatedPersistentVolume, Untranslatable } from './in-tree-plugin.ts'
import { portworx } from './portworx.ts'
import { vsphere } from './vsphere.ts'

export type Translation = { readonly persistentVolume: PersistentVolume } | Untranslatable

const PLUGINS = [
  bound(awsEbs),
  bound(gcePd),
  bound(azureDisk),
  bound(azureFile),
  bound(cinder),
  bound(vsphere),
  bound(portworx),
]

/** Undefined if the PersistentVolume has no in-tree source. */
export function translatePersistentVolume(pv: PersistentVolume): Translation | undefined {
  return firstOf((plugin) => plugin.translatePv(pv))
}

/** Gives a synthetic PersistentVolume without claim, capacity, mount options and node affinity (R153). */
export function translateInlineVolume(volume: PodVolumeSource, podNamespace: string): Translation | undefined {
  return firstOf((plugin) => plugin.translateInline(volume, podNamespace))
}

interface BoundPlugin {
  translatePv(pv: PersistentVolume): Translation | undefined
  translateInline(volume: PodVolumeSource, podNamespace: string): Translation | undefined
}

/** The plugin without the type of its source, so that all of them fit into one list. */
function bound<Key extends keyof InTreeSources>(plugin: InTreePlugin<Key>): BoundPlugin {
  return {
    translatePv: (pv) => translatePv(plugin, pv),
    translateInline: (volume, podNamespace) => translateInline(plugin, volume, podNamespace),
  }
}

function firstOf(translate: (plugin: BoundPlugin) => Translation | undefined): Translation | undefined {
  for (const plugin of PLUGINS) {
    const translation = translate(plugin)
    if (translation !== undefined) return translation
  }
  return undefined
}

function translatePv<Key extends keyof InTreeSources>(
  plugin: InTreePlugin<Key>,
  pv: PersistentVolume,
): Translation | undefined {
  const source: InTreeSources[Key] = pv.spec[plugin.source]
  if (!source) return undefined
  const translated = plugin.translatePersistentVolume(source, pv)
  return 'error' in translated ? translated : { persistentVolume: withCsi(pv, plugin.source, translated) }
}

function withCsi(
  pv: PersistentVolume,
  inTreeSource: keyof InTreeSources,
  { csi, accessModes, nodeSelectorTerms }: TranslatedPersistentVolume,
): PersistentVolume {
  const { [inTreeSource]: _translated, ...rest } = pv.spec
  return {
    ...pv,
    spec: {
      ...rest,
      csi,
      ...defined({ accessModes }),
      ...(nodeSelectorTerms?.length ? { nodeAffinity: { required: { nodeSelectorTerms } } } : {}),
    },
  }
}

function translateInline<Key extends keyof InTreeSources>(
  plugin: InTreePlugin<Key>,
  volume: PodVolumeSource,
  podNamespace: string,
): Translation | undefined {
  const source: InTreeSources[Key] = volume[plugin.source]
  if (!source) return undefined
  const translated = plugin.translateInline(source, volume, podNamespace)
  if ('error' in translated) return translated
  const { name, csi, accessModes } = translated
  return { persistentVolume: { metadata: { name, uid: '' }, spec: { csi, accessModes, volumeMode: 'Filesystem' } } }
}

/** The CSI source of a PersistentVolume, translated if its source is in-tree (R150); undefined for other sources. */
export function csiSourceOf(volume: PersistentVolume): CsiPersistentVolumeSource | undefined {
  if (volume.spec.csi !== undefined) return volume.spec.csi
  const translation = translatePersistentVolume(volume)
  return translation !== undefined && 'persistentVolume' in translation
    ? translation.persistentVolume.spec.csi
    : undefined
}
