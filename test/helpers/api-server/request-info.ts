import { apiVersion, REVIEWS, type ResourceType, typeOfPlural } from './resource-types.ts'
import { StatusError } from './status.ts'

/** A request's attributes, in the words of authorisation. */
export interface RequestInfo {
  readonly verb: 'get' | 'list' | 'delete' | 'create' | 'patch' | 'update'
  readonly group: string
  readonly resource: string
  readonly type?: ResourceType
  readonly namespace?: string
  readonly name?: string
  readonly query: URLSearchParams
}

/** Reads method and path as the API server does; a single `metadata.name` in a selector names the object (N50). */
export function requestInfo(method: string, url: URL): RequestInfo {
  const parts = url.pathname
    .split('/')
    .filter((part) => part !== '')
    .map(decodeURIComponent)
  const core = parts[0] === 'api' && parts[1] === 'v1'
  const rest = core ? parts.slice(2) : parts.slice(3)
  const group = core ? '' : (parts[1] ?? '')
  const namespace = rest[0] === 'namespaces' && rest.length > 2 ? rest[1] : undefined
  const [resource = '', named, subresource] = namespace === undefined ? rest : rest.slice(2)
  const found = typeOfPlural(group, resource)
  const type = found !== undefined && apiVersion(found) === parts.slice(1, core ? 2 : 3).join('/') ? found : undefined
  if (type?.plural === 'serviceaccounts' && subresource === 'token' && method === 'POST') {
    const about = { ...(namespace !== undefined && { namespace }), ...(named !== undefined && { name: named }) }
    return { verb: 'create', group, resource: 'serviceaccounts/token', type, ...about, query: url.searchParams }
  }
  if (type?.plural === 'persistentvolumeclaims' && subresource === 'status' && method === 'PATCH') {
    const about = { ...(namespace !== undefined && { namespace }), ...(named !== undefined && { name: named }) }
    return { verb: 'patch', group, resource: 'persistentvolumeclaims/status', type, ...about, query: url.searchParams }
  }
  const review = (REVIEWS as readonly string[]).includes(resource)
  if ((!core && parts[0] !== 'apis') || (!type && !review) || subresource !== undefined) {
    throw new StatusError(404, 'NotFound', 'the server could not find the requested resource', {})
  }
  const name = named ?? selectedName(url.searchParams)
  return {
    verb: verbOf(method, named),
    group,
    resource,
    ...(type && { type }),
    ...(namespace !== undefined && { namespace }),
    ...(name !== undefined && { name }),
    query: url.searchParams,
  }
}

function verbOf(method: string, name: string | undefined): RequestInfo['verb'] {
  if (method === 'GET') return name === undefined ? 'list' : 'get'
  if (method === 'DELETE' && name !== undefined) return 'delete'
  if (method === 'POST' && name === undefined) return 'create'
  if (method === 'PUT' && name !== undefined) return 'update'
  if (method === 'PATCH' && name !== undefined) return 'patch'
  throw new StatusError(405, 'MethodNotAllowed', `the server does not allow this method on the requested resource`, {})
}

function selectedName(query: URLSearchParams): string | undefined {
  return /^metadata\.name==?([^,]+)$/.exec(query.get('fieldSelector') ?? '')?.[1]
}
