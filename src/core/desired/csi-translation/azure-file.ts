/** `kubernetes.io/azure-file` to `file.csi.azure.com` (R155, R161). */
import type { CsiPersistentVolumeSource, InTreeSources } from '../../model/objects.ts'
import { copied, type InTreePlugin } from './in-tree-plugin.ts'

const DRIVER = 'file.csi.azure.com'
const RESOURCE_GROUP_ANNOTATION = 'kubernetes.io/azure-file-resource-group'

type Source = NonNullable<InTreeSources['azureFile']>

export const azureFile: InTreePlugin<'azureFile'> = {
  source: 'azureFile',
  translatePersistentVolume(source, pv) {
    const namespace = source.secretNamespace ?? pv.spec.claimRef?.namespace
    if (!namespace) return { error: `the namespace of its secret ${source.secretName} is not known` }
    const group = pv.metadata.annotations?.[RESOURCE_GROUP_ANNOTATION] ?? ''
    return { csi: csiSource(source, group, pv.metadata.name, namespace) }
  },
  translateInline(source, volume, podNamespace) {
    const csi = csiSource(source, '', volume.name, podNamespace || 'default')
    return { name: csi.volumeHandle, csi, accessModes: ['ReadWriteMany'] }
  },
}

function csiSource(source: Source, group: string, volumeName: string, namespace: string): CsiPersistentVolumeSource {
  const { secretName, shareName } = source
  return {
    driver: DRIVER,
    volumeHandle: [group, accountName(secretName), shareName, volumeName, namespace].join('#'),
    volumeAttributes: { sharename: shareName },
    nodeStageSecretRef: { name: secretName, namespace },
    ...copied(source),
  }
}

function accountName(secretName: string): string {
  return /azure-storage-account-(.+)-secret/.exec(secretName)?.[1] ?? secretName
}
