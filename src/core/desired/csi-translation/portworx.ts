/** `kubernetes.io/portworx-volume` to `pxd.portworx.com` (R155, R164); readOnly is never copied. */
import type {
  CsiPersistentVolumeSource,
  InTreeSources,
  PersistentVolume,
  SecretReference,
} from '../../model/objects.ts'
import { copied, type InTreePlugin } from './in-tree-plugin.ts'

const DRIVER = 'pxd.portworx.com'
const SECRET_NAME_ANNOTATION = 'openstorage.io/auth-secret-name'
const SECRET_NAMESPACE_ANNOTATION = 'openstorage.io/auth-secret-namespace'

export const portworx: InTreePlugin<'portworxVolume'> = {
  source: 'portworxVolume',
  translatePersistentVolume(source, pv) {
    return { csi: { ...csiSource(source), ...secretReferences(pv) } }
  },
  translateInline(source) {
    return {
      name: `${DRIVER}-${source.volumeID}`,
      csi: csiSource(source),
      accessModes: [source.readOnly ? 'ReadOnlyMany' : 'ReadWriteOnce'],
    }
  },
}

function csiSource({ volumeID, fsType }: NonNullable<InTreeSources['portworxVolume']>): CsiPersistentVolumeSource {
  return {
    driver: DRIVER,
    volumeHandle: volumeID,
    volumeAttributes: {},
    ...copied(fsType === undefined ? {} : { fsType }),
  }
}

/** One secret for all calls, if both annotations are there. */
function secretReferences(pv: PersistentVolume): Partial<CsiPersistentVolumeSource> {
  const { [SECRET_NAME_ANNOTATION]: name, [SECRET_NAMESPACE_ANNOTATION]: namespace } = pv.metadata.annotations ?? {}
  if (!name || !namespace) return {}
  const secret: SecretReference = { name, namespace }
  return {
    controllerPublishSecretRef: secret,
    nodeStageSecretRef: secret,
    nodePublishSecretRef: secret,
    controllerExpandSecretRef: secret,
    nodeExpandSecretRef: secret,
  }
}
