/**
 * What a snapshot's `api.errors` say. An entry as volctl writes it covers the objects that it names; any other, of another program or of a
 * hand, covers everything (S3).
 */

/** `resource` undefined: the failure may be about any object. Without a name: about all objects of the resource. */
export interface ReadFailure {
  readonly resource?: string
  readonly namespace?: string
  readonly name?: string
  readonly notFound: boolean
  /** The credential lacks the right. */
  readonly forbidden: boolean
  readonly text: string
}

interface ObjectReference {
  readonly resource: string
  readonly namespace?: string | undefined
  readonly name: string
}

/** What volctl reads, and whether its objects are in namespaces: an error about one may name the namespace then. */
const IN_NAMESPACES: Readonly<Record<string, boolean>> = {
  pods: true,
  persistentvolumeclaims: true,
  configmaps: true,
  secrets: true,
  leases: true,
  persistentvolumes: false,
  volumeattachments: false,
  csidrivers: false,
  csinodes: false,
  nodes: false,
}

/** Never throws, whatever the snapshot contains. */
export function readFailures(errors: unknown): ReadFailure[] {
  return Array.isArray(errors) ? errors.map((entry: unknown) => readFailure(entry)) : [notUnderstood(errors)]
}

/** True when the failure may be why the object is not in the snapshot. */
export function covers(failure: ReadFailure, object: ObjectReference): boolean {
  if (failure.resource === undefined) return true
  if (failure.resource !== object.resource) return false
  if (failure.namespace !== undefined && failure.namespace !== (object.namespace ?? '')) return false
  return failure.name === undefined || failure.name === object.name
}

/** True when something of the resource may be missing, one object or all of them. */
export function spoilsList(failure: ReadFailure, resource: string): boolean {
  if (failure.resource === undefined) return true
  return failure.resource === resource && !(failure.notFound && failure.name !== undefined)
}

/** True when the API said that exactly this object does not exist. */
export function isNotFoundOf(failure: ReadFailure, object: ObjectReference): boolean {
  if (!failure.notFound || failure.resource !== object.resource || failure.name !== object.name) return false
  return (failure.namespace ?? '') === (object.namespace ?? '')
}

/** True for a failure of a whole list, of a known resource. */
export function isRefusedList(failure: ReadFailure): boolean {
  return failure.resource !== undefined && failure.name === undefined
}

/** What the failure is about: `secrets shop/db`; "something" if that is not known. */
export function subjectOf({ resource, namespace, name }: ReadFailure): string {
  const object = [namespace, name].filter(Boolean).join('/')
  return [resource ?? 'something', object].filter(Boolean).join(' ')
}

function readFailure(entry: unknown): ReadFailure {
  if (!isWritten(entry)) return notUnderstood(entry)
  const { resource, namespace, name, status, reason, message } = entry
  return {
    resource,
    // Without a valid name it may be about any object of the resource.
    ...(IN_NAMESPACES[resource] && isName(namespace) && { namespace }),
    ...(isName(name) && { name }),
    // A proxy's page has the status alone.
    notFound: status === 404 && reason === 'NotFound',
    forbidden: status === 403,
    text: [status, reason, message].filter(Boolean).join(' ') || 'no answer',
  }
}

function notUnderstood(entry: unknown): ReadFailure {
  return { notFound: false, forbidden: false, text: JSON.stringify(entry) ?? String(entry) }
}

interface Written {
  readonly resource: string
  readonly namespace?: unknown
  readonly name?: unknown
  readonly status?: number
  readonly reason?: string
  readonly message?: string
}

/** Is the entry about a resource that volctl reads, with nothing beside what volctl writes? */
function isWritten(entry: unknown): entry is Written {
  if (typeof entry !== 'object' || entry === null) return false
  const {
    resource,
    namespace,
    name,
    status = 0,
    reason = '',
    message = '',
    ...others
  } = entry as Record<string, unknown>
  const isKnown = typeof resource === 'string' && Object.hasOwn(IN_NAMESPACES, resource)
  const areTexts = typeof status === 'number' && typeof reason === 'string' && typeof message === 'string'
  return isKnown && areTexts && Object.keys(others).length === 0
}

/** Is this a valid name of an API object? "*" and the like are not. */
function isName(value: unknown): value is string {
  return typeof value === 'string' && /^[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?$/.test(value)
}
