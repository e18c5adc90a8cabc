/**
 * A snapshot's `api.errors`, in the shape volctl writes and in the looser ones other tools do: a plain string, `kind`
 * instead of `resource`, `code` instead of `status`, a Kubernetes Status object. What isn't understood covers everything.
 */

/** `resource` undefined: it may be about any object. Without a name: about all objects of the resource. */
export interface ReadFailure {
  readonly resource?: string
  readonly namespace?: string
  readonly name?: string
  readonly notFound: boolean
  readonly text: string
}

export interface ObjectReference {
  readonly resource: string
  readonly namespace?: string | undefined
  readonly name: string
}

const RESOURCES: Readonly<Record<string, readonly string[]>> = {
  pods: ['pod', 'po'],
  persistentvolumeclaims: ['persistentvolumeclaim', 'pvc', 'pvcs', 'claim', 'claims'],
  persistentvolumes: ['persistentvolume', 'pv', 'pvs'],
  volumeattachments: ['volumeattachment'],
  csidrivers: ['csidriver'],
  csinodes: ['csinode'],
  nodes: ['node', 'no'],
  configmaps: ['configmap', 'cm'],
  secrets: ['secret'],
  leases: ['lease'],
  storageclasses: ['storageclass', 'sc'],
  events: ['event'],
}

const RESOURCE_BY_WORD = new Map(
  Object.entries(RESOURCES).flatMap(([resource, words]) => [resource, ...words].map((word) => [word, resource])),
)

/** Never throws, whatever the snapshot holds. */
export function readFailures(errors: unknown): ReadFailure[] {
  if (errors === undefined || errors === null) return []
  if (!Array.isArray(errors)) return [notUnderstood(errors)]
  return errors.map((entry) => readFailure(entry))
}

/** True when the failure may be why the object is not in the snapshot. */
export function covers(failure: ReadFailure, object: ObjectReference): boolean {
  if (failure.resource === undefined) return true
  if (failure.resource !== object.resource) return false
  if (failure.namespace !== undefined && failure.namespace !== (object.namespace ?? '')) return false
  return failure.name === undefined || failure.name === object.name
}

/** True when the API said of exactly this object that it does not exist. */
export function isNotFoundOf(failure: ReadFailure, object: ObjectReference): boolean {
  if (!failure.notFound || failure.resource !== object.resource || failure.name !== object.name) return false
  return (failure.namespace ?? '') === (object.namespace ?? '')
}

/** True for a failure of a whole list, of a known resource. */
export function isRefusedList(failure: ReadFailure): boolean {
  return failure.resource !== undefined && failure.name === undefined
}

function readFailure(entry: unknown): ReadFailure {
  if (!isRecord(entry)) return notUnderstood(entry)
  const details = isRecord(entry.details) ? entry.details : {}
  const word = text(entry.resource) ?? (entry.kind === 'Status' ? undefined : text(entry.kind)) ?? text(details.kind)
  const resource = RESOURCE_BY_WORD.get(word?.toLowerCase().split('.')[0] ?? '')
  if (resource === undefined) return notUnderstood(entry)
  const fullName = text(entry.name) ?? text(details.name)
  const [, prefix, name = fullName] = /^([^/]+)\/([^/]+)$/.exec(fullName ?? '') ?? []
  const namespace = text(entry.namespace) ?? prefix
  return {
    resource,
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
    notFound: isNotFound(entry),
    text: describe(entry),
  }
}

/** Status and reason must not contradict each other: a 404 page of a proxy is no answer of the API. */
function isNotFound({ status, code, reason }: Record<string, unknown>): boolean {
  const number = [status, code].find((value) => /^\d+$/.test(String(value ?? '')))
  if (number !== undefined && Number(number) !== 404) return false
  if (text(reason) !== undefined) return reason === 'NotFound'
  return number !== undefined
}

function describe(entry: Record<string, unknown>): string {
  const { status, code, reason, message } = entry
  const words = [status ?? code, reason, message].filter((word) => word !== undefined && word !== '' && word !== 0)
  return words.join(' ') || 'no answer'
}

function notUnderstood(entry: unknown): ReadFailure {
  return { notFound: false, text: typeof entry === 'string' ? entry : (JSON.stringify(entry) ?? String(entry)) }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
