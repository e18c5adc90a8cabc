/**
 * A snapshot's `api.errors`, in the form that volctl writes and in the looser forms of other tools: a plain string, `kind`
 * instead of `resource`, `code` instead of `status`, short names, a Kubernetes Status object.
 *
 * An error that clearly names its objects covers those; any other, or one that contradicts itself, covers everything (S3).
 */

import { omitUndefined } from '../base/omit-undefined.ts'

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

export interface ObjectReference {
  readonly resource: string
  readonly namespace?: string | undefined
  readonly name: string
}

/** Other names of namespaced resources, by plural name. An error about one may name a namespace. */
const NAMESPACED: Readonly<Record<string, readonly string[]>> = {
  pods: ['pod', 'po'],
  persistentvolumeclaims: ['persistentvolumeclaim', 'pvc', 'pvcs', 'claim', 'claims'],
  configmaps: ['configmap', 'cm'],
  secrets: ['secret'],
  leases: ['lease'],
  events: ['event', 'ev'],
  services: ['service', 'svc'],
  endpoints: ['ep'],
  endpointslices: ['endpointslice'],
  serviceaccounts: ['serviceaccount', 'sa'],
  deployments: ['deployment', 'deploy'],
  replicasets: ['replicaset', 'rs'],
  statefulsets: ['statefulset', 'sts'],
  daemonsets: ['daemonset', 'ds'],
  jobs: ['job'],
  cronjobs: ['cronjob', 'cj'],
  csistoragecapacities: ['csistoragecapacity'],
  volumesnapshots: ['volumesnapshot', 'vs'],
}

const CLUSTER_WIDE: Readonly<Record<string, readonly string[]>> = {
  persistentvolumes: ['persistentvolume', 'pv', 'pvs'],
  volumeattachments: ['volumeattachment', 'va'],
  csidrivers: ['csidriver'],
  csinodes: ['csinode'],
  nodes: ['node', 'no'],
  storageclasses: ['storageclass', 'sc'],
  namespaces: ['namespace', 'ns'],
  volumeattributesclasses: ['volumeattributesclass', 'vac'],
  runtimeclasses: ['runtimeclass'],
  priorityclasses: ['priorityclass', 'pc'],
  clustertrustbundles: ['clustertrustbundle'],
}

const RESOURCE_BY_WORD: ReadonlyMap<string, string> = new Map(
  Object.entries({ ...NAMESPACED, ...CLUSTER_WIDE }).flatMap(([resource, words]) =>
    [resource, ...words, ...words.map((word) => `${word}list`)].map((word) => [word, resource] as const),
  ),
)

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
  const subject = isRecord(entry) ? subjectOfRecord(entry) : typeof entry === 'string' ? saidIn(entry) : undefined
  if (subject === undefined) return notUnderstood(entry)
  const record = isRecord(entry) ? entry : {}
  return {
    ...subject,
    notFound: isNotFound(record),
    forbidden: isForbidden(record),
    text: isRecord(entry) ? describe(entry) : String(entry),
  }
}

type Subject = Pick<ReadFailure, 'resource' | 'namespace' | 'name'>

/** Every field that names a resource must name the same one, and so must the message. */
function subjectOfRecord(entry: Record<string, unknown>): Subject | undefined {
  const details = isRecord(entry.details) ? entry.details : {}
  const kinds = [entry.resource, entry.kind === 'Status' ? undefined : entry.kind, details.kind, details.resource]
  const named = kinds.filter((word) => word !== undefined && word !== null && word !== '')
  const resources = new Set(named.map((word) => (typeof word === 'string' ? resourceOf(word) : undefined)))
  const message = typeof entry.message === 'string' ? saidIn(entry.message) : undefined
  if (message !== undefined) resources.add(message.resource)
  const [resource] = resources
  if (resource === undefined || resources.size !== 1) return undefined

  const names = named.length === 0 ? [message?.name] : [entry.name, details.name]
  const given = [...new Set(names.filter((each) => each !== undefined && each !== null && each !== ''))]
  // With two names, or an invalid one, the failure may be about any object of the resource.
  const one = given.length === 1 ? given[0] : undefined
  const [, prefix, name = one] = /^([^/]+)\/([^/]+)$/.exec(text(one) ?? '') ?? []
  const namespace = text(entry.namespace) ?? prefix
  return subject(resource, isName(name) ? name : undefined, namespace)
}

function subject(resource: string, name: string | undefined, namespace: string | undefined): Subject {
  // Some tools add a namespace to cluster-wide resources.
  const isWithin = Object.hasOwn(NAMESPACED, resource) && isName(namespace)
  return { resource, ...(isWithin && { namespace }), ...omitUndefined({ name }) }
}

/** `volumeattachments.storage.k8s.io`, `PersistentVolumeClaim`, `pv`; undefined: not known. */
function resourceOf(word: string): string | undefined {
  return RESOURCE_BY_WORD.get(word.toLowerCase().split('.')[0] ?? '')
}

/** The API server's own sentence, whole: `pods is forbidden: User "x" cannot list resource "pods" in API group "" …`. */
const FORBIDDEN =
  /^(?:Error from server \(\w+\): )?([\w.-]+)(?: "([^"]*)")? is forbidden: User "[^"]*" cannot [a-z]+ resource "([\w-]+)" in API group "[^"]*"(?: in the namespace "([^"]*)"| at the cluster scope)?(?:: [^"]*)?$/
const NOT_FOUND = /^(?:Error from server \(\w+\): )?([\w.-]+) "([^"]*)" not found$/

function saidIn(message: string): Subject | undefined {
  const [, word = '', name, resource = word, namespace] = FORBIDDEN.exec(message) ?? NOT_FOUND.exec(message) ?? []
  const found = resourceOf(word)
  if (found === undefined || resourceOf(resource) !== found) return undefined
  return subject(found, isName(name) ? name : undefined, namespace)
}

/** Is this a valid name of an API object? "*" and the like are not. */
function isName(value: unknown): value is string {
  return typeof value === 'string' && /^[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?$/.test(value)
}

/** Numbers and reason must agree: a proxy's 404 page is no answer of the API. */
function isNotFound({ status, code, reason }: Record<string, unknown>): boolean {
  const numbers = numbersOf([status, code])
  if (numbers.some((number) => number !== 404)) return false
  if (text(reason) !== undefined) return reason === 'NotFound'
  return numbers.length > 0
}

function isForbidden({ status, code, reason }: Record<string, unknown>): boolean {
  return reason === 'Forbidden' || numbersOf([status, code]).includes(403)
}

function numbersOf(values: readonly unknown[]): number[] {
  const texts = values.filter((value) => typeof value === 'string' || typeof value === 'number').map(String)
  return texts.filter((each) => /^\d+$/.test(each)).map(Number)
}

function describe(entry: Record<string, unknown>): string {
  const { status, code, reason, message } = entry
  const words = [status ?? code, reason, message].filter((word) => word !== undefined && word !== '' && word !== 0)
  return words.map((word) => (typeof word === 'object' ? JSON.stringify(word) : String(word))).join(' ') || 'no answer'
}

function notUnderstood(entry: unknown): ReadFailure {
  const said = typeof entry === 'string' ? entry : (JSON.stringify(entry) ?? String(entry))
  return { notFound: false, forbidden: false, text: said }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
