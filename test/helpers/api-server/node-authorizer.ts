/** What a kubelet's credential may do with the resources the test server has (N30), by the graph of N31. */
import type { Attributes } from './authorize.ts'
import { type StoredObject, typeOfPlural } from './resource-types.ts'
import type { Store } from './store.ts'

const NO_RELATION = (node: string): string => `no relationship found between node '${node}' and this object`

/** True: allowed; a text: why the Node authorizer has no opinion. */
export function nodeMay(store: Store, node: string, attributes: Attributes): true | string {
  const { verb, resource, name } = attributes
  switch (resource) {
    case 'pods':
      return podAccess(store, node, attributes)
    case 'nodes':
    case 'csinodes':
    case 'leases':
      return verb === 'get' && name === node
        ? true
        : `can only access ${resource} with the same name as the requesting node`
    case 'serviceaccounts/token':
      return usesAccount(store, node, attributes) ? true : NO_RELATION(node)
    case 'persistentvolumeclaims/status':
      return verb === 'patch' && mentions(store, node, 'persistentvolumeclaims', attributes.namespace ?? '', name ?? '')
        ? true
        : NO_RELATION(node)
    case 'clustertrustbundles':
    case 'csidrivers':
      return verb === 'get' || verb === 'list' ? true : 'can only read resources of this type'
    case 'secrets':
    case 'configmaps':
    case 'persistentvolumeclaims':
    case 'persistentvolumes':
    case 'volumeattachments':
      if (verb !== 'get') return 'can only read individual resources of this type'
      return isRelated(store, node, attributes) ? true : NO_RELATION(node)
    default:
      return 'unknown resource'
  }
}

function podAccess(store: Store, node: string, { verb, namespace, name, fieldSelector }: Attributes): true | string {
  if (verb === 'list') {
    const own = (fieldSelector ?? '')
      .split(',')
      .some((part) => /^spec\.nodeName==?/.test(part) && part.endsWith(`=${node}`))
    return own ? true : 'can only list/watch pods with spec.nodeName field selector'
  }
  const pod = podsOf(store, node).find(({ metadata }) => metadata.name === name && metadata.namespace === namespace)
  return verb === 'get' && pod ? true : NO_RELATION(node)
}

function podsOf(store: Store, node: string): StoredObject[] {
  const type = typeOfPlural('', 'pods')
  return type ? store.all(type).filter((pod) => pod.spec?.nodeName === node) : []
}

function usesAccount(store: Store, node: string, { namespace, name }: Attributes): boolean {
  return podsOf(store, node).some(
    ({ metadata, spec }) =>
      metadata.namespace === namespace &&
      spec?.serviceAccountName === name &&
      !metadata.annotations?.['kubernetes.io/config.mirror'],
  )
}

function isRelated(store: Store, node: string, { resource, namespace = '', name = '' }: Attributes): boolean {
  switch (resource) {
    case 'volumeattachments': {
      const type = typeOfPlural('storage.k8s.io', resource)
      return type !== undefined && store.get(type, undefined, name)?.spec?.nodeName === node
    }
    case 'persistentvolumes':
      return claimOfVolume(store, name, (claimNamespace, claim) =>
        mentions(store, node, 'persistentvolumeclaims', claimNamespace, claim),
      )
    case 'secrets':
      return mentions(store, node, resource, namespace, name) || isNodeSecret(store, node, namespace, name)
    default:
      return mentions(store, node, resource, namespace, name)
  }
}

function claimOfVolume(store: Store, name: string, related: (namespace: string, name: string) => boolean): boolean {
  const type = typeOfPlural('', 'persistentvolumes')
  const claim =
    type && (store.get(type, undefined, name)?.spec?.claimRef as { namespace?: string; name?: string } | undefined)
  return claim?.namespace !== undefined && claim.name !== undefined && related(claim.namespace, claim.name)
}

/** Secrets that a related volume names for the kubelet, without the controller's own. */
function isNodeSecret(store: Store, node: string, namespace: string, name: string): boolean {
  const type = typeOfPlural('', 'persistentvolumes')
  const volumes = type ? store.all(type) : []
  return volumes.some((volume) => {
    const csi = (volume.spec?.csi ?? {}) as Record<string, { name?: string; namespace?: string } | undefined>
    const refs = [csi.nodeStageSecretRef, csi.nodePublishSecretRef, csi.nodeExpandSecretRef]
    return (
      refs.some((ref) => ref?.name === name && ref.namespace === namespace) &&
      isRelated(store, node, { verb: 'get', group: '', resource: 'persistentvolumes', name: volume.metadata.name })
    )
  })
}

interface Volume {
  readonly name: string
  readonly secret?: { readonly secretName?: string }
  readonly configMap?: { readonly name?: string }
  readonly persistentVolumeClaim?: { readonly claimName?: string }
  readonly ephemeral?: object
  readonly csi?: { readonly nodePublishSecretRef?: { readonly name?: string } }
  readonly projected?: { readonly sources?: readonly { secret?: { name?: string }; configMap?: { name?: string } }[] }
}

/** Whether a pod of the node names the object. Mirror pods relate to nothing. */
function mentions(store: Store, node: string, resource: string, namespace: string, name: string): boolean {
  return podsOf(store, node).some((pod) => {
    if (pod.metadata.namespace !== namespace || pod.metadata.annotations?.['kubernetes.io/config.mirror']) return false
    return ((pod.spec?.volumes ?? []) as Volume[]).some((volume) =>
      namesOf(volume, pod.metadata.name, resource).includes(name),
    )
  })
}

function namesOf(volume: Volume, pod: string, resource: string): (string | undefined)[] {
  const sources = volume.projected?.sources ?? []
  switch (resource) {
    case 'secrets':
      return [
        volume.secret?.secretName,
        volume.csi?.nodePublishSecretRef?.name,
        ...sources.map((source) => source.secret?.name),
      ]
    case 'configmaps':
      return [volume.configMap?.name, ...sources.map((source) => source.configMap?.name)]
    default:
      return [volume.persistentVolumeClaim?.claimName, volume.ephemeral ? `${pod}-${volume.name}` : undefined]
  }
}
