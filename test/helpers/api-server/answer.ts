/** What the API server does for each request once it knows who asks. */
import { strategicMerge } from '../strategic-merge.ts'
import { type Asker, type RequestInfo, refusal, requestInfo } from './access.ts'
import { apiVersion, now, type ResourceType, type Store, type StoredObject } from './objects.ts'
import { StatusError } from './status.ts'

export interface Settings {
  /** How long an attacher takes to detach, in ms; never when negative. */
  detachDelayMs: number
  /** Added to the Date header. */
  clockSkewMs: number
  /** Whether every attachment is attached in the moment in which it is created. */
  attachesAtOnce: boolean
  /** Whether what is detached is taken out of volumesAttached, as by a controller; false: somebody else writes that list. */
  reportsDetached: boolean
}

/** What everybody may ask for: what kubectl requests before a list of pods. */
const DISCOVERY: Readonly<Record<string, object>> = {
  '/api': { kind: 'APIVersions', versions: ['v1'] },
  '/apis': { kind: 'APIGroupList', apiVersion: 'v1', groups: [] },
  '/api/v1': {
    ...{ kind: 'APIResourceList', groupVersion: 'v1' },
    resources: [{ name: 'pods', singularName: 'pod', namespaced: true, kind: 'Pod', verbs: ['get', 'list'] }],
  },
}

/** Carries out one authenticated request and returns the answer. Failures are StatusErrors. */
export function answer(store: Store, asker: Asker, method: string, url: URL, body: string, settings: Settings): object {
  const known = DISCOVERY[url.pathname]
  if (known !== undefined) return known
  const info = requestInfo(method, url)
  const { type, verb, resource, namespace, name = '' } = info
  const given = (): never => JSON.parse(body || '{}') as never
  if (type === undefined) return review(store, asker, resource, given)
  const why = refusal(store, asker, info)
  if (why !== undefined) throw new StatusError(403, 'Forbidden', why, { name })
  if (resource === 'serviceaccounts/token') return issueToken(store, info, given())
  if (verb === 'list') return list(store, type, info)
  if (verb === 'create') return create(store, type, namespace, given(), settings)
  const object = store.get(type.kind, namespace, name)
  if (!object) throw new StatusError(404, 'NotFound', `${type.plural} "${name}" not found`, { name })
  switch (verb) {
    case 'update':
      return replace(store, type, object, given(), settings)
    case 'patch':
      return replace(store, type, object, strategicMerge({ ...object }, given()) as never, settings)
    case 'delete':
      return remove(store, type, object, given(), settings)
    default:
      return object
  }
}

function review(
  store: Store,
  asker: Asker,
  resource: string,
  given: () => { spec: { resourceAttributes: RequestInfo } },
): object {
  if (resource === 'selfsubjectreviews')
    return { status: { userInfo: { username: asker.name, groups: [...asker.groups, 'system:authenticated'] } } }
  const asked = given().spec.resourceAttributes
  return { status: { allowed: refusal(store, asker, asked) === undefined } }
}

function list(store: Store, type: ResourceType, { namespace, query = new URLSearchParams() }: RequestInfo): object {
  const selected = (query.get('fieldSelector') ?? '')
    .split(',')
    .filter(Boolean)
    .map((part) => part.split('='))
  const found = () =>
    store
      .all(type.kind)
      .filter((object) => namespace === undefined || object.metadata.namespace === namespace)
      .filter((object) => selected.every(([field = '', value]) => valueAt(object, field) === value))
  const { items, metadata } = store.page(found, Number(query.get('limit') ?? 0), query.get('continue'))
  // Items of a list come without kind and apiVersion.
  const bare = items.map(({ kind: _, apiVersion: __, ...item }) => item)
  return { kind: `${type.kind}List`, apiVersion: apiVersion(type), metadata, items: bare }
}

function valueAt(object: object, field: string): unknown {
  return field.split('.').reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], object)
}

function create(
  store: Store,
  { kind, plural }: ResourceType,
  namespace: string | undefined,
  object: StoredObject,
  { attachesAtOnce }: Settings,
): StoredObject {
  const { name } = object.metadata
  if (store.get(kind, namespace, name) !== undefined)
    throw new StatusError(409, 'AlreadyExists', `${plural} "${name}" already exists`, { name })
  const isAttached = attachesAtOnce && kind === 'VolumeAttachment'
  const metadata = { ...object.metadata, namespace }
  return store.update({ ...object, kind, metadata, ...(isAttached && { status: { attached: true } }) })
}

/** A PUT, or the result of a patch: refused if it was made of an older version. Without finalizers, a deleted object goes. */
function replace(
  store: Store,
  { kind }: ResourceType,
  object: StoredObject,
  changed: StoredObject,
  settings: Settings,
): StoredObject {
  const { name, resourceVersion = '', uid = '', deletionTimestamp } = object.metadata
  const { resourceVersion: wanted = resourceVersion } = changed.metadata
  if (wanted !== resourceVersion)
    throw new StatusError(409, 'Conflict', `the object has been modified: ${wanted}, ${resourceVersion}`, { name })
  if (deletionTimestamp !== undefined && !changed.metadata.finalizers?.length) return gone(store, object, settings)
  return store.update({ ...changed, kind, metadata: { ...changed.metadata, uid } })
}

interface DeleteOptions {
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string }
}

function remove(
  store: Store,
  { plural }: ResourceType,
  object: StoredObject,
  { preconditions }: DeleteOptions,
  settings: Settings,
): StoredObject {
  const { detachDelayMs } = settings
  const { name, uid, resourceVersion, finalizers, deletionTimestamp } = object.metadata
  for (const [field, value] of Object.entries({ uid, resourceVersion })) {
    const wanted = preconditions?.[field as 'uid' | 'resourceVersion'] ?? value
    const why = `Operation cannot be fulfilled on ${plural} "${name}": Precondition failed: ${field} in precondition: ${wanted}, ${field} in object meta: ${value}`
    if (wanted !== value) throw new StatusError(409, 'Conflict', why, { name })
  }
  // An attacher that finishes at once has removed its finalizer before anyone reads the object again.
  if (!finalizers?.length || detachDelayMs === 0) return gone(store, object, settings)
  if (detachDelayMs > 0) setTimeout(() => gone(store, object, settings), detachDelayMs).unref()
  if (deletionTimestamp !== undefined) return object
  return store.update({ ...object, metadata: { ...object.metadata, deletionTimestamp: now() } })
}

/** Removes an object; for an attachment, also removes it from the Node's status, as the controller does. @returns the object */
function gone(store: Store, object: StoredObject, { reportsDetached }: Settings): StoredObject {
  const { kind = '', metadata, spec } = object
  if (store.get(kind, metadata.namespace, metadata.name)?.metadata.uid !== metadata.uid) return object
  store.remove(kind, metadata.namespace, metadata.name)
  if (kind !== 'VolumeAttachment' || !reportsDetached) return object
  const source = spec?.source as { persistentVolumeName?: string } | undefined
  const csi = store.get('PersistentVolume', undefined, source?.persistentVolumeName)?.spec?.csi
  const uniqueName = `kubernetes.io/csi/${spec?.attacher}^${(csi as { volumeHandle?: string } | undefined)?.volumeHandle}`
  const node = store.get('Node', undefined, String(spec?.nodeName))
  const attached = node?.status?.volumesAttached as { name: string }[] | undefined
  const left = attached?.filter(({ name }) => name !== uniqueName)
  if (node && left?.length !== attached?.length)
    store.update({ ...node, status: { ...node.status, volumesAttached: left } })
  return object
}

interface TokenRequest {
  readonly spec: {
    readonly audiences?: readonly string[]
    readonly expirationSeconds?: number
    readonly boundObjectRef: { readonly name: string; readonly uid: string }
  }
}

/** A token with the claims that were requested, for a pod. */
function issueToken(store: Store, { namespace, name }: RequestInfo, { spec }: TokenRequest): object {
  const { audiences = [], expirationSeconds = 3600, boundObjectRef } = spec
  const pod = store.get('Pod', namespace, boundObjectRef.name)
  if (!pod || !store.get('ServiceAccount', namespace, name)) throw new StatusError(404, 'NotFound', 'not found')
  if (pod.metadata.uid !== boundObjectRef.uid) throw new StatusError(409, 'Conflict', 'the pod has another UID')
  const token = ['token', namespace, name, audiences.join('+'), expirationSeconds, boundObjectRef.uid].join('.')
  return { status: { token, expirationTimestamp: new Date(Date.now() + expirationSeconds * 1000).toISOString() } }
}
