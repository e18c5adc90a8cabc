import { strategicMerge } from '../strategic-merge.ts'
import { type Attributes, type AuthenticatedUser, type ClusterRole, refusal } from './authorize.ts'
import { type RequestInfo, requestInfo } from './request-info.ts'
import { apiVersion, type ResourceType, type StoredObject, typeOfPlural } from './resource-types.ts'
import { notFound, StatusError } from './status.ts'
import type { Store } from './store.ts'
import { issueToken } from './token-request.ts'

export interface Asker {
  readonly user: AuthenticatedUser
  readonly roles: readonly ClusterRole[]
}

export interface Behaviour {
  /** How long an attacher takes to detach, in ms; never when negative. */
  readonly detachDelayMs: number
  readonly attachesAtOnce: boolean
  readonly reportsDetached: boolean
}

/** Carries out one authenticated request and returns the JSON text of the answer. Failures are StatusErrors. */
export function answer(
  store: Store,
  asker: Asker,
  method: string,
  url: URL,
  body: string,
  behaviour: Behaviour,
): string {
  const info = requestInfo(method, url)
  if (info.type === undefined) return JSON.stringify(review(store, asker, info, body))
  const selector = url.searchParams.get('fieldSelector')
  authorize(store, asker, { ...info, ...(selector !== null && { fieldSelector: selector }) })
  const { type, verb, namespace, name = '' } = info
  if (info.resource === 'serviceaccounts/token') return JSON.stringify(issueToken(store, asker.user, info, body))
  if (verb === 'list') return list(store, type, info)
  if (verb === 'create') return create(store, type, namespace, body, behaviour)
  const object = store.get(type, namespace, name)
  if (!object) throw notFound(type.plural, name)
  if (verb === 'update') return replace(store, type, object, JSON.parse(body) as StoredObject, behaviour)
  if (info.resource === 'persistentvolumeclaims/status') return patchStatus(store, asker.user, object, body)
  if (verb === 'patch')
    return replace(store, type, object, mergePatched(object, JSON.parse(body)) as StoredObject, behaviour)
  if (verb === 'get') return text(object)
  return remove(store, type, object, info, body, behaviour)
}

function authorize(store: Store, { user, roles }: Asker, attributes: Attributes): void {
  const why = refusal(store, user, roles, attributes)
  if (why !== undefined)
    throw new StatusError(403, 'Forbidden', why, { name: attributes.name, kind: attributes.resource })
}

const NOTHING = { verb: 'get', group: '', resource: '' } as const

function review(store: Store, { user, roles }: Asker, info: RequestInfo, body: string): object {
  if (info.resource === 'selfsubjectreviews') {
    const userInfo = { username: user.name, groups: [...user.groups, 'system:authenticated'] }
    return { kind: 'SelfSubjectReview', apiVersion: 'authentication.k8s.io/v1', status: { userInfo } }
  }
  const { spec } = JSON.parse(body) as { spec: { resourceAttributes: Attributes & { subresource?: string } } }
  const { subresource, ...asked } = { ...NOTHING, ...spec.resourceAttributes }
  const resource = subresource === undefined ? asked.resource : `${asked.resource}/${subresource}`
  const why = refusal(store, user, roles, { ...asked, resource })
  const status = { allowed: why === undefined, ...(why !== undefined && { reason: why }) }
  return { kind: 'SelfSubjectAccessReview', apiVersion: 'authorization.k8s.io/v1', spec, status }
}

function list(store: Store, type: ResourceType, { namespace, query }: RequestInfo): string {
  const limit = Number(query.get('limit') ?? 0)
  const token = query.get('continue')
  const page = token
    ? store.nextPage(token, limit)
    : store.firstPage(
        store.all(type).filter((object) => matches(object, namespace, query.get('fieldSelector'))),
        limit,
      )
  if (!page) throw new StatusError(410, 'Expired', 'The provided continue parameter is too old', {})
  const metadata = {
    resourceVersion: page.resourceVersion,
    ...(page.continue !== undefined && { continue: page.continue, remainingItemCount: page.remaining }),
  }
  const head = JSON.stringify({ kind: `${type.kind}List`, apiVersion: apiVersion(type), metadata })
  return `${head.slice(0, -1)},"items":[${page.items.map(itemText).join(',')}]}`
}

function matches(object: StoredObject, namespace: string | undefined, selector: string | null): boolean {
  if (namespace !== undefined && object.metadata.namespace !== namespace) return false
  return (selector ?? '')
    .split(',')
    .filter(Boolean)
    .every((part) => {
      const [field, value] = part.split(/==?/)
      switch (field) {
        case 'metadata.name':
          return object.metadata.name === value
        case 'metadata.namespace':
          return object.metadata.namespace === value
        case 'spec.nodeName':
          return object.spec?.nodeName === value
        case 'spec.signerName':
          return object.spec?.signerName === value
        default:
          throw new StatusError(400, 'BadRequest', `field label not supported: ${field}`)
      }
    })
}

/** Objects are replaced, never changed, so that their text can be kept. */
const texts = new WeakMap<StoredObject, string>()

function text(object: StoredObject): string {
  const known = texts.get(object)
  if (known !== undefined) return known
  const made = JSON.stringify(object)
  texts.set(object, made)
  return made
}

const itemTexts = new WeakMap<StoredObject, string>()

/** Items of a list come without kind and apiVersion. */
function itemText(object: StoredObject): string {
  const known = itemTexts.get(object)
  if (known !== undefined) return known
  const { kind: _kind, apiVersion: _version, ...rest } = object
  const made = JSON.stringify(rest)
  itemTexts.set(object, made)
  return made
}

function create(
  store: Store,
  type: ResourceType,
  namespace: string | undefined,
  body: string,
  { attachesAtOnce }: Behaviour,
): string {
  const object = JSON.parse(body) as StoredObject
  const { name } = object.metadata
  if (store.get(type, namespace, name) !== undefined)
    throw new StatusError(409, 'AlreadyExists', `${type.plural} "${name}" already exists`, { name, kind: type.plural })
  const { resourceVersion: _, ...metadata } = object.metadata
  const isAttached = attachesAtOnce && type.kind === 'VolumeAttachment'
  store.put({
    ...object,
    kind: type.kind,
    metadata: { ...metadata, ...(namespace !== undefined && { namespace }) },
    ...(isAttached && { status: { attached: true } }),
  })
  return text(store.get(type, namespace, name) as StoredObject)
}

/** A PUT, or the result of a patch: refused if it was made of an older version. Without finalizers, a deleted object goes. */
function replace(
  store: Store,
  type: ResourceType,
  object: StoredObject,
  changed: StoredObject,
  behaviour: Behaviour,
): string {
  const { name, namespace, resourceVersion, uid } = object.metadata
  const wanted = changed.metadata.resourceVersion
  if (wanted !== undefined && wanted !== resourceVersion)
    throw new StatusError(409, 'Conflict', `the object has been modified: ${wanted}, ${resourceVersion}`, { name })
  if (object.metadata.deletionTimestamp !== undefined && !changed.metadata.finalizers?.length) {
    gone(store, type, object, behaviour)
    return text(object)
  }
  store.update({ ...changed, kind: type.kind, metadata: { ...changed.metadata, ...(uid !== undefined && { uid }) } })
  return text(store.get(type, namespace, name) as StoredObject)
}

/** RFC 7386. */
function mergePatched(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch
  const merged: Record<string, unknown> = { ...(target as object) }
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete merged[key]
    else merged[key] = mergePatched(merged[key] ?? {}, value)
  }
  return merged
}

interface DeleteOptions {
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string }
  readonly dryRun?: readonly string[]
}

function remove(
  store: Store,
  type: ResourceType,
  object: StoredObject,
  { query }: RequestInfo,
  body: string,
  behaviour: Behaviour,
): string {
  const { detachDelayMs } = behaviour
  const options = body === '' ? {} : (JSON.parse(body) as DeleteOptions)
  const { name, namespace, uid, resourceVersion, finalizers } = object.metadata
  for (const [field, value] of Object.entries({ uid, resourceVersion })) {
    const wanted = options.preconditions?.[field as 'uid' | 'resourceVersion']
    if (wanted === undefined || wanted === value) continue
    throw new StatusError(
      409,
      'Conflict',
      `Operation cannot be fulfilled on ${type.plural} "${name}": Precondition failed: ${field} in precondition: ${wanted}, ${field} in object meta: ${value}`,
      { name, kind: type.plural },
    )
  }
  if (query.get('dryRun') === 'All' || options.dryRun?.includes('All')) return text(object)
  if (!finalizers?.length) {
    gone(store, type, object, behaviour)
    return text(object)
  }
  const deleting = object.metadata.deletionTimestamp ?? new Date().toISOString().replace(/\.\d+/, '')
  const marked = { ...object, metadata: { ...object.metadata, deletionTimestamp: deleting } }
  if (object.metadata.deletionTimestamp === undefined) store.update(marked)
  // An attacher that finishes at once has removed its finalizer before anyone reads the object again.
  if (detachDelayMs === 0) gone(store, type, object, behaviour)
  else if (detachDelayMs > 0) setTimeout(() => gone(store, type, object, behaviour), detachDelayMs).unref()
  return text(store.get(type, namespace, name) ?? marked)
}

/** Removes an object; for an attachment, also removes it from the Node's status, as the controller does. */
function gone(store: Store, type: ResourceType, object: StoredObject, { reportsDetached }: Behaviour): void {
  if (store.get(type, object.metadata.namespace, object.metadata.name)?.metadata.uid !== object.metadata.uid) return
  store.remove(type, object.metadata.namespace, object.metadata.name)
  const volumes = typeOfPlural('', 'persistentvolumes')
  const nodes = typeOfPlural('', 'nodes')
  if (type.kind !== 'VolumeAttachment' || !reportsDetached || !volumes || !nodes) return
  const source = object.spec?.source as { persistentVolumeName?: string } | undefined
  const csi = store.get(volumes, undefined, source?.persistentVolumeName ?? '')?.spec?.csi as
    | { volumeHandle?: string }
    | undefined
  const node = store.get(nodes, undefined, String(object.spec?.nodeName))
  const attached = node?.status?.volumesAttached as { name: string }[] | undefined
  if (!node || !attached || csi?.volumeHandle === undefined) return
  const uniqueName = `kubernetes.io/csi/${String(object.spec?.attacher)}^${csi.volumeHandle}`
  const left = attached.filter((entry) => entry.name !== uniqueName)
  if (left.length < attached.length) store.update({ ...node, status: { ...node.status, volumesAttached: left } })
}

/** What a node may write into a claim's status (N33). */
const NODES_OWN = ['capacity', 'conditions', 'allocatedResources', 'allocatedResourceStatuses']

/** Patches the status subresource: only the status changes, and a resourceVersion in the patch must be the object's. */
function patchStatus(store: Store, user: AuthenticatedUser, object: StoredObject, body: string): string {
  const patch = JSON.parse(body) as { metadata?: { resourceVersion?: string }; status?: Record<string, unknown> }
  const { name, namespace, resourceVersion } = object.metadata
  const wanted = patch.metadata?.resourceVersion
  if (wanted !== undefined && wanted !== resourceVersion) {
    throw new StatusError(409, 'Conflict', `the object has been modified: ${wanted}, ${resourceVersion}`, { name })
  }
  const { status = {} } = object as { status?: Record<string, unknown> }
  const foreign = Object.keys(patch.status ?? {}).filter((field) => !NODES_OWN.includes(field))
  if (user.name.startsWith('system:node:') && foreign.length > 0)
    throw new StatusError(403, 'Forbidden', `node "${user.name}" is not allowed to update ${foreign.join()}`, { name })
  store.update({ ...object, status: strategicMerge(status, patch.status ?? {}) } as StoredObject)
  const type = typeOfPlural('', 'persistentvolumeclaims') as ResourceType
  return text(store.get(type, namespace, name) as StoredObject)
}
