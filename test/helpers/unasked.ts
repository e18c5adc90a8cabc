/** Ports that a scenario does not use: every call fails. */
import type { CsiNode } from '../../src/core/apply/operation/step.ts'
import type { Cluster } from '../../src/core/node/api/node-objects.ts'

const nothing = async (): Promise<never> => {
  throw new Error('not asked in this scenario')
}

export const UNASKED_CLUSTER: Cluster = {
  deleteVolumeAttachment: nothing,
  getVolumeAttachment: nothing,
  getNode: nothing,
  listNodePods: nothing,
  listVolumeAttachments: nothing,
  getClaim: nothing,
  patchClaimStatus: nothing,
  getPod: nothing,
  getConfigMap: nothing,
  getSecret: nothing,
  requestToken: nothing,
  clusterTrustBundles: nothing,
}

export const UNASKED_DRIVER: CsiNode = {
  nodeGetCapabilities: nothing,
  nodeStageVolume: nothing,
  nodePublishVolume: nothing,
  nodeExpandVolume: nothing,
  nodeUnpublishVolume: nothing,
  nodeUnstageVolume: nothing,
}
