/** The rights that volctl's operations need, as the ClusterRoles in deploy/ have them. */
import { referencedObjects } from '../../api/referenced-objects.ts'
import type { Pod } from '../../model/objects.ts'
import type { ObjectKey } from '../../model/resources.ts'
import type { Right } from '../facts.ts'

const LIST_PODS: Right = { purpose: 'plan', required: true, verb: 'list', resource: 'pods' }
const STORAGE = 'storage.k8s.io'

/**
 * @param isNode the identity of a kubelet, which is never asked about lists: the API server confines it to the objects that the pods of
 * its node use (N29), so that only these are asked about
 */
export function neededRights(nodeName: string, pods: readonly Pod[], isNode: boolean): readonly Right[] {
  const common: Right[] = [
    { purpose: 'plan', required: true, verb: 'get', resource: 'nodes', name: nodeName },
    { purpose: 'plan', verb: 'get', group: STORAGE, resource: 'csinodes', name: nodeName },
    { purpose: 'plan', verb: 'list', group: STORAGE, resource: 'csidrivers' },
    {
      ...{ purpose: 'plan', verb: 'get', group: 'coordination.k8s.io', resource: 'leases' },
      ...{ namespace: 'kube-node-lease', name: nodeName },
    },
    { purpose: 'DetachVolume', verb: 'delete', group: STORAGE, resource: 'volumeattachments' },
  ]
  return isNode ? [...common, ...rightsOfNode(pods)] : [LIST_PODS, ...common, ...rightsOfOthers()]
}

function rightsOfOthers(): Right[] {
  return [
    { purpose: 'plan', verb: 'list', resource: 'nodes' },
    { purpose: 'plan', verb: 'list', resource: 'persistentvolumeclaims' },
    { purpose: 'plan', verb: 'list', resource: 'persistentvolumes' },
    { purpose: 'plan', verb: 'list', group: STORAGE, resource: 'volumeattachments' },
    { purpose: 'DetachVolume', verb: 'get', group: STORAGE, resource: 'volumeattachments' },
    { purpose: 'MountVolume', verb: 'get', resource: 'pods' },
    { purpose: 'MountVolume', verb: 'get', resource: 'configmaps' },
    { purpose: 'MountVolume', verb: 'get', resource: 'secrets' },
    { purpose: 'MountVolume', verb: 'create', resource: 'serviceaccounts', subresource: 'token' },
    { purpose: 'ExpandVolume', verb: 'patch', resource: 'persistentvolumeclaims', subresource: 'status' },
  ]
}

/** One object of each kind stands for all of the kind. */
function rightsOfNode(pods: readonly Pod[]): Right[] {
  const { claims, configMaps, secrets } = referencedObjects(pods)
  const [claim] = claims
  const [pod] = pods
  const namespace = pod?.metadata.namespace ?? 'default'
  const account = (pod?.spec as { readonly serviceAccountName?: string } | undefined)?.serviceAccountName
  return [
    ...ofOne(claim, { purpose: 'plan', verb: 'get', resource: 'persistentvolumeclaims' }),
    ...ofOne(configMaps[0], { purpose: 'MountVolume', verb: 'get', resource: 'configmaps' }),
    ...ofOne(secrets[0], { purpose: 'MountVolume', verb: 'get', resource: 'secrets' }),
    ...ofOne(account === undefined ? undefined : { namespace, name: account }, {
      ...{ purpose: 'MountVolume', verb: 'create', resource: 'serviceaccounts', subresource: 'token' },
    }),
    ...ofOne(claim, {
      purpose: 'ExpandVolume',
      verb: 'patch',
      resource: 'persistentvolumeclaims',
      subresource: 'status',
    }),
  ]
}

function ofOne(key: ObjectKey | undefined, right: Right): Right[] {
  if (key === undefined) return []
  return [{ ...right, name: key.name, ...(key.namespace !== undefined && { namespace: key.namespace }) }]
}
