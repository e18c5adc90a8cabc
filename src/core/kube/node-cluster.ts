/** What an apply asks of the API server about its node, and changes there. */

import { VolctlError } from '../base/errors.ts'
import type { ClaimStatusPatch } from '../volumes/expansion.ts'
import type { ApiObject, Node, Pod, VolumeAttachment } from './api/objects.ts'
import { ATTACHMENTS, CLAIMS, CONFIG_MAPS, PODS, type Resource, SECRETS } from './api/resources.ts'
import { type Asking, getNode, podLists } from './node-objects.ts'
import { type BundleSource, clusterTrustBundles, requestToken, type TokenSource } from './volume-content.ts'
import { deleteVolumeAttachment, patchClaimStatus } from './writes.ts'

export type Cluster = ReturnType<typeof nodeCluster>

/** The pods of the node as each of the two credentials is shown them, now; `its` is empty where there is one only. */
export async function podsByEach(asking: Asking): Promise<Record<'mine' | 'its', readonly Pod[]>> {
  const [mine, its] = await Promise.all(podLists(asking))
  return { mine: mine.items, its: its?.items ?? [] }
}

/** Undefined only if the server showed that there is no such object (S3); every other failure rejects. */
export function nodeCluster(asking: Asking) {
  const { client, nodeName } = asking
  const find =
    <T extends ApiObject>(resource: Resource<T>, settings?: { readonly whole: true }) =>
    (namespace: string, name: string): Promise<T | undefined> =>
      client.find(resource, { namespace, name }, settings)
  return {
    /** With preconditions; a conflict rejects with status 409 or code `Conflict`. */
    deleteVolumeAttachment: async (
      name: string,
      { uid, resourceVersion }: { uid: string; resourceVersion?: string },
    ): Promise<void> => {
      if (resourceVersion === undefined)
        throw new VolctlError('Conflict', `${name} was read without its resourceVersion`)
      await deleteVolumeAttachment(client, { name, uid, resourceVersion })
    },
    getVolumeAttachment: (name: string) => client.find(ATTACHMENTS, { name }),
    /** Every node's; rejects if the credential may not list them (S30). */
    listVolumeAttachments: async (): Promise<readonly VolumeAttachment[]> => (await client.list(ATTACHMENTS)).items,
    getNode: (): Promise<Node | undefined> => getNode(client, nodeName),
    /** A pod that either of the two credentials is shown may want a volume (S2). */
    listNodePods: async (): Promise<readonly Pod[]> => {
      const { mine, its } = await podsByEach(asking)
      return [...mine, ...its]
    },
    getClaim: find(CLAIMS),
    /** @returns the patched claim; rejects with status 403 if the credential lacks the right */
    patchClaimStatus: (namespace: string, name: string, patch: ClaimStatusPatch) =>
      patchClaimStatus(client, { namespace, name }, patch),
    /** With all of its annotations. */
    getPod: find(PODS, { whole: true }),
    getConfigMap: find(CONFIG_MAPS),
    /** With its values. */
    getSecret: find(SECRETS),
    /** Undefined: the service account, or the pod, does not exist. */
    requestToken: (pod: Pod, source: TokenSource) => requestToken(client, pod, source),
    /** Undefined: there is none of this name. */
    clusterTrustBundles: (source: BundleSource) => clusterTrustBundles(client, source),
  }
}
