/** Who may do what: RBAC, and for a kubelet's credential the Node authorizer (N29 to N31). */
import { type ResourceType, type Store, type StoredObject, typeOfPlural } from './objects.ts'
import { StatusError } from './status.ts'

/** A request's attributes, in the words of authorisation. */
export interface RequestInfo {
  readonly verb: string
  readonly group: string
  /** With the subresource. */
  readonly resource: string
  readonly namespace?: string | undefined
  readonly name?: string | undefined
  readonly type?: ResourceType | undefined
  readonly query?: URLSearchParams
}

const VERBS: Readonly<Record<string, string>> = {
  ...{ GET: 'list', POST: 'create' },
  ...{ 'GET name': 'get', 'DELETE name': 'delete', 'PUT name': 'update', 'PATCH name': 'patch' },
  'POST name serviceaccounts/token': 'create',
  'PATCH name persistentvolumeclaims/status': 'patch',
}

/** Reads method and path as the API server does; a single `metadata.name` in a selector names the object (N50). */
export function requestInfo(method: string, { pathname, searchParams: query }: URL): RequestInfo {
  const [, , group = '', version = '', path = ''] = /^\/(api|apis\/([^/]+))\/([^/]+)\/(.+)$/.exec(pathname) ?? []
  const [, namespace, rest = ''] = /^(?:namespaces\/([^/]+)\/)?(.+)$/.exec(path) ?? []
  const [plural = '', named, subresource] = rest.split('/').map(decodeURIComponent)
  const type = version === 'v1' ? typeOfPlural(group, plural) : undefined
  const resource = subresource === undefined ? plural : `${plural}/${subresource}`
  const verb = VERBS[[method, named && 'name', subresource && resource].filter(Boolean).join(' ')]
  if (verb === undefined || (type === undefined && !/^selfsubject(access)?reviews$/.test(resource)))
    throw new StatusError(404, 'NotFound', 'the server could not find the requested resource')
  const name = named ?? /^metadata\.name=([^,]+)$/.exec(query.get('fieldSelector') ?? '')?.[1]
  return { verb, group, resource, namespace, name, type, query }
}

export interface ClusterRole {
  readonly rules: readonly {
    readonly apiGroups?: readonly string[]
    readonly resources?: readonly string[]
    readonly verbs: readonly string[]
    readonly resourceNames?: readonly string[]
  }[]
}

/** Who asks. */
export interface Asker {
  readonly name: string
  readonly groups: readonly string[]
  readonly roles: readonly ClusterRole[]
}

/** Modes Node,RBAC: the first that allows wins. Undefined: allowed; otherwise why not, in Kubernetes' words. */
export function refusal(store: Store, { name: user, groups, roles }: Asker, asked: RequestInfo): string | undefined {
  const { verb, group, resource, namespace, name } = asked
  const has = (list: readonly string[] | undefined, value: string): boolean =>
    list?.some((each) => each === '*' || each === value) ?? false
  const rules = roles.flatMap((role) => role.rules)
  const allows = (rule: ClusterRole['rules'][number]): boolean =>
    has(rule.verbs, verb) &&
    has(rule.apiGroups, group) &&
    has(rule.resources, resource) &&
    has(rule.resourceNames ?? ['*'], name ?? '')
  if (rules.some(allows)) return undefined
  const node = groups.includes('system:nodes') ? user.replace('system:node:', '') : undefined
  if (node !== undefined && new NodeAuthorizer(store, node).allows(asked)) return undefined
  const where = namespace === undefined ? 'at the cluster scope' : `in the namespace "${namespace}"`
  const why = node === undefined ? '' : `: no relationship found between node '${node}' and this object`
  const object = name === undefined ? resource : `${resource} "${name}"`
  return `${object} is forbidden: User "${user}" cannot ${verb} resource "${resource}" in API group "${group}" ${where}${why}`
}

interface Named {
  readonly name?: string
  readonly namespace?: string
}

interface Volume extends Named {
  readonly secret?: { readonly secretName?: string }
  readonly configMap?: Named
  readonly persistentVolumeClaim?: { readonly claimName?: string }
  readonly ephemeral?: object
  readonly csi?: { readonly nodePublishSecretRef?: Named }
  readonly projected?: { readonly sources?: readonly { readonly secret?: Named; readonly configMap?: Named }[] }
}

/** What a kubelet's credential may do: it sees what the graph of its node's pods leads to. */
class NodeAuthorizer {
  readonly #store: Store
  readonly #node: string

  constructor(store: Store, node: string) {
    this.#store = store
    this.#node = node
  }

  allows({ verb, resource, namespace, name = '', query }: RequestInfo): boolean {
    switch (`${verb} ${resource}`) {
      case 'list pods':
        return query?.get('fieldSelector') === `spec.nodeName=${this.#node}`
      case 'get pods':
        return this.#pods(namespace).some(({ metadata }) => metadata.name === name)
      case 'get nodes':
      case 'get csinodes':
      case 'get leases':
        return name === this.#node
      case 'get clustertrustbundles':
      case 'list clustertrustbundles':
      case 'get csidrivers':
      case 'list csidrivers':
        return true
      case 'create serviceaccounts/token':
        return this.#pods(namespace).some(({ spec }) => spec?.serviceAccountName === name)
      case 'patch persistentvolumeclaims/status':
        return this.#isNamed('persistentvolumeclaims', namespace, name)
      case 'get volumeattachments':
        return this.#store.get('VolumeAttachment', undefined, name)?.spec?.nodeName === this.#node
      case 'get persistentvolumes':
        return this.#isBound(this.#store.get('PersistentVolume', undefined, name))
      case 'get secrets':
        return this.#isNamed(resource, namespace, name) || this.#isOfVolume(namespace, name)
      case 'get configmaps':
      case 'get persistentvolumeclaims':
        return this.#isNamed(resource, namespace, name)
      default:
        return false
    }
  }

  /** Mirror pods relate to nothing. */
  #pods(namespace: string | undefined): StoredObject[] {
    return this.#store
      .all('Pod')
      .filter(
        ({ metadata, spec }) =>
          spec?.nodeName === this.#node &&
          metadata.namespace === namespace &&
          !metadata.annotations?.['kubernetes.io/config.mirror'],
      )
  }

  /** Whether a pod of the node names the object. */
  #isNamed(resource: string, namespace: string | undefined, name: string): boolean {
    return this.#pods(namespace).some(({ metadata, spec }) =>
      ((spec?.volumes ?? []) as Volume[]).some((volume) => namesOf(volume, metadata.name, resource).includes(name)),
    )
  }

  #isBound(volume: StoredObject | undefined): boolean {
    const claim = volume?.spec?.claimRef as Named | undefined
    return claim?.name !== undefined && this.#isNamed('persistentvolumeclaims', claim.namespace, claim.name)
  }

  /** Secrets that a volume names for the kubelet, without the controller's own. */
  #isOfVolume(namespace: string | undefined, name: string): boolean {
    return this.#store.all('PersistentVolume').some((volume) => {
      const csi = (volume.spec?.csi ?? {}) as Record<string, Named | undefined>
      const refs = [csi.nodeStageSecretRef, csi.nodePublishSecretRef, csi.nodeExpandSecretRef]
      return refs.some((ref) => ref?.name === name && ref.namespace === namespace) && this.#isBound(volume)
    })
  }
}

function namesOf(volume: Volume, pod: string, resource: string): (string | undefined)[] {
  const sources = volume.projected?.sources ?? []
  switch (resource) {
    case 'secrets':
      return [
        ...[volume.secret?.secretName, volume.csi?.nodePublishSecretRef?.name],
        ...sources.map(({ secret }) => secret?.name),
      ]
    case 'configmaps':
      return [volume.configMap?.name, ...sources.map(({ configMap }) => configMap?.name)]
    default:
      return [volume.persistentVolumeClaim?.claimName, volume.ephemeral && `${pod}-${volume.name}`]
  }
}
