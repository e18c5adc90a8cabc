/** `kubernetes.io/aws-ebs` to `ebs.csi.aws.com` (R155, R158). */
import type { CsiPersistentVolumeSource, InTreeSources } from '../../model/objects.ts'
import { copied, type InTreePlugin, type Untranslatable } from './in-tree-plugin.ts'
import { translateZone } from './topology.ts'

const DRIVER = 'ebs.csi.aws.com'

type Source = NonNullable<InTreeSources['awsElasticBlockStore']>

export const awsEbs: InTreePlugin<'awsElasticBlockStore'> = {
  source: 'awsElasticBlockStore',
  translatePersistentVolume(source, pv) {
    const csi = csiSource(source)
    if ('error' in csi) return csi
    const topology = translateZone(pv, 'topology.ebs.csi.aws.com/zone')
    return 'error' in topology ? topology : { csi, ...topology }
  },
  translateInline(source) {
    const csi = csiSource(source)
    if ('error' in csi) return csi
    return { name: `${DRIVER}-${csi.volumeHandle}`, csi, accessModes: ['ReadWriteOnce'] }
  },
}

function csiSource(source: Source): CsiPersistentVolumeSource | Untranslatable {
  const volumeHandle = ebsVolumeId(source.volumeID)
  if (volumeHandle === undefined) return { error: `${source.volumeID} is not an EBS volume ID` }
  const volumeAttributes = { partition: String(source.partition ?? 0) }
  return { driver: DRIVER, volumeHandle, volumeAttributes, ...copied(source) }
}

/** `aws://zone/vol-1` to `vol-1`; without the prefix an ID is taken unchecked. */
function ebsVolumeId(volumeId: string): string | undefined {
  if (!volumeId.startsWith('aws://')) return volumeId
  const [, path = ''] = /^aws:\/\/[^/?#]*([^?#]*)/.exec(volumeId) ?? []
  const id = path.replace(/^\/+|\/+$/g, '')
  return /^vol-[^/]*$/.test(id) ? id : undefined
}
