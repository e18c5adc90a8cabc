/** In-tree volumes as the CSI volumes the kubelet makes of them, always and on every node (R150, R151). */
import type { InTreeSources, PersistentVolume, PodVolumeSource } from '../../model/objects.ts'
import { awsEbs } from './aws-ebs.ts'
import { azureDisk } from './azure-disk.ts'
import { azureFile } from './azure-file.ts'
import { cinder } from './cinder.ts'
import { gcePd } from './gce-pd.ts'
import type { InTreePlugin, TranslatedPersistentVolume, Untranslatable } from './in-tree-plugin.ts'
import { portworx } from './portworx.ts'
import { vsphere } from './vsphere.ts'

export type Translation = { readonly persistentVolume: PersistentVolume } | Untranslatable

/** Undefined when the PersistentVolume is not of an in-tree type and stays as it is. */
export function translatePersistentVolume(pv: PersistentVolume): Translation | undefined {
  return (
    translatePv(awsEbs, pv) ??
    translatePv(gcePd, pv) ??
    translatePv(azureDisk, pv) ??
    translatePv(azureFile, pv) ??
    translatePv(cinder, pv) ??
    translatePv(vsphere, pv) ??
    translatePv(portworx, pv)
  )
}

/** Gives a synthetic PersistentVolume without claim, capacity, mount options and node affinity (R153). */
export function translateInlineVolume(volume: PodVolumeSource, podNamespace: string): Translation | undefined {
  return (
    translateInline(awsEbs, volume, podNamespace) ??
    translateInline(gcePd, volume, podNamespace) ??
    translateInline(azureDisk, volume, podNamespace) ??
    translateInline(azureFile, volume, podNamespace) ??
    translateInline(cinder, volume, podNamespace) ??
    translateInline(vsphere, volume, podNamespace) ??
    translateInline(portworx, volume, podNamespace)
  )
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
      ...(accessModes === undefined ? {} : { accessModes }),
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
