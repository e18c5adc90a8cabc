/**
 * Finds API objects in a snapshot, and distinguishes "proved not to exist" from "not known". Whether a list is complete is decided
 * here and nowhere else (S3, S4).
 *
 * Only absence is evidence (S3): an object that is not in a list counts as absent when the list came from a credential
 * that may list and no error could have hidden it, or when the API answered NotFound for exactly this object. Everything
 * else is unknown, including errors in a form that volctl does not understand.
 */

import { memoize } from '../base/collections.ts'
import { NODE_USER } from '../kube/api/names.ts'
import type { ApiObject, CsiDriver } from '../kube/api/objects.ts'
import { keyText } from '../kube/api/resources.ts'
import type { ApiSnapshot } from './snapshot.ts'

export type Lookup<T> =
  | { readonly state: 'Found'; readonly object: T }
  | { readonly state: 'Absent' }
  /** `reason` completes a message after the object's name. */
  | { readonly state: 'Unknown'; readonly reason: string }

export const NOT_READ: Lookup<never> = { state: 'Unknown', reason: 'was not read' }

export function mapFound<From, To>(lookup: Lookup<From>, map: (object: From) => To): Lookup<To> {
  return lookup.state === 'Found' ? { state: 'Found', object: map(lookup.object) } : lookup
}

export function foundOf<T>(lookup: Lookup<T> | undefined): T | undefined {
  return lookup?.state === 'Found' ? lookup.object : undefined
}

/** The API objects in a snapshot, by plural name; of Nodes and CSINodes only this node's. */
export type ListedResource = keyof typeof LISTS

/** A snapshot never changes, so its indexes are built once. */
export const apiLookup = memoize((api: ApiSnapshot) => {
  const failures = readFailures(api.errors)
  const finder = <T extends ApiObject>(resource: ListedResource, list: readonly T[] | undefined) => {
    const objects: readonly T[] = Array.isArray(list) ? list : []
    const byName = new Map(objects.map((object) => [keyText(object.metadata), object]))
    const isListed = isShown(api, resource)
    const about = failures.filter((each) => (each.resource ?? resource) === resource)
    return (name: string, namespace = ''): Lookup<T> => {
      const object = byName.get(keyText({ name, namespace }))
      if (object !== undefined) return { state: 'Found', object }
      const covering = about.filter(
        (each) => (each.namespace ?? namespace) === namespace && (each.name ?? name) === name,
      )
      /** Of exactly this object. */
      const isNotFound = (each: ReadFailure): boolean =>
        each.notFound && each.name === name && (each.namespace ?? '') === namespace
      const notFound = covering.some(isNotFound)
      // A refused list does not contradict the answer for this one object.
      const doubt = covering.find((each) => !isNotFound(each) && !(notFound && isRefusedList(each)))
      if (doubt !== undefined) return { state: 'Unknown', reason: `could not be read: ${doubt.text}` }
      return notFound || isListed ? { state: 'Absent' } : NOT_READ
    }
  }
  return {
    persistentVolumeClaim: finder('persistentvolumeclaims', api.persistentVolumeClaims),
    persistentVolume: finder('persistentvolumes', api.persistentVolumes),
    csiDriver: finder('csidrivers', api.csiDrivers),
    volumeAttachment: finder('volumeattachments', api.volumeAttachments),
    configMap: finder('configmaps', api.configMaps),
    secret: finder('secrets', api.secrets),
  }
})

export type ApiLookup = ReturnType<typeof apiLookup>

/** Absent: the API shows that there is no CSIDriver object (C105). @param api undefined: it was not read */
export function csiDriverIn(api: ApiSnapshot | undefined, name = ''): Lookup<CsiDriver> {
  return api === undefined ? NOT_READ : apiLookup(api).csiDriver(name)
}

/**
 * Is every object of the resource that concerns this node in the snapshot? Then the list is there, its credential may see all
 * objects, nothing was cut off, and no error may be about one of them (S3): an object that the list lacks is absent. Without an API
 * nothing is listed.
 */
export function isListedWhole(api: ApiSnapshot | undefined, resource: ListedResource): boolean {
  if (api === undefined || !isShown(api, resource)) return false
  return !readFailures(api.errors).some((each) => spoilsList(each, resource))
}

/** May the credential list the resource? If not, no later look either shows that one of its objects is gone. */
export function mayList(api: ApiSnapshot, resource: ListedResource): boolean {
  const isRefused = (each: ReadFailure): boolean => each.forbidden && isRefusedList(each) && each.resource === resource
  return isShown(api, resource) && !readFailures(api.errors).some(isRefused)
}

/** The snapshot's field for each resource. */
const LISTS = {
  pods: 'pods',
  nodes: 'node',
  csinodes: 'csiNode',
  csidrivers: 'csiDrivers',
  persistentvolumeclaims: 'persistentVolumeClaims',
  persistentvolumes: 'persistentVolumes',
  volumeattachments: 'volumeAttachments',
  configmaps: 'configMaps',
  secrets: 'secrets',
} as const satisfies Record<string, keyof ApiSnapshot>

/** Those of which the API server shows a node identity all objects. */
const SHOWN_TO_NODES: ReadonlySet<string> = new Set(['pods', 'nodes', 'csinodes', 'csidrivers'])

/** The list is there, its credential may see all objects, and nothing was cut off. Errors are checked separately. */
function isShown(api: ApiSnapshot, resource: ListedResource): boolean {
  const of = LISTS[resource]
  const isThere = of === 'node' || of === 'csiNode' ? api[of] !== undefined : Array.isArray(api[of])
  return isThere && !isCutOff(api) && (SHOWN_TO_NODES.has(resource) || listsObjects(api))
}

/** By marks of a list that continues elsewhere, which other tools may leave; volctl's own snapshots have none. */
function isCutOff(api: ApiSnapshot): boolean {
  const { metadata } = api as { metadata?: unknown }
  return [api, metadata].some((each) => {
    const marks = each as { continue?: unknown; remainingItemCount?: unknown; truncated?: unknown } | null | undefined
    return Boolean(marks?.continue || marks?.remainingItemCount || marks?.truncated)
  })
}

/** The Node authorizer lets a node identity read only single objects: an object that was not read may exist. */
function listsObjects({ credential, user }: ApiSnapshot): boolean {
  const isNodeIdentity = credential === 'kubelet' || (user?.startsWith(NODE_USER) ?? false)
  return typeof credential === 'string' && credential !== '' && !isNodeIdentity
}

// What a snapshot's `api.errors` say. An entry as volctl writes it covers the objects that it names; any other, of another program or of a
// hand, covers everything (S3).

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

/** Beside those in `LISTS` leases are read. An error about one of these may name the namespace. */
const NAMESPACED: ReadonlySet<string> = new Set(['pods', 'persistentvolumeclaims', 'configmaps', 'secrets', 'leases'])

/** Never throws, whatever the snapshot contains. */
export function readFailures(errors: unknown): ReadFailure[] {
  return Array.isArray(errors) ? errors.map((entry: unknown) => readFailure(entry)) : [notUnderstood(errors)]
}

/** True when something of the resource may be missing, one object or all of them. */
export function spoilsList(failure: ReadFailure, resource: string): boolean {
  if (failure.resource === undefined) return true
  return failure.resource === resource && !(failure.notFound && failure.name !== undefined)
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

/** An entry about a resource that volctl reads, with nothing beside what volctl writes, is understood. */
function readFailure(entry: unknown): ReadFailure {
  const given: Readonly<Record<string, unknown>> = { ...(entry as object) }
  const { resource, namespace, name, status = 0, reason = '', message = '', ...others } = given
  const isKnown = typeof resource === 'string' && (Object.hasOwn(LISTS, resource) || NAMESPACED.has(resource))
  const areTexts = typeof status === 'number' && typeof reason === 'string' && typeof message === 'string'
  if (!isKnown || !areTexts || Object.keys(others).length > 0) return notUnderstood(entry)
  return {
    resource,
    // Without a valid name it may be about any object of the resource.
    namespace: NAMESPACED.has(resource) && isName(namespace) ? namespace : undefined,
    name: isName(name) ? name : undefined,
    // A proxy's page has the status alone.
    notFound: status === 404 && reason === 'NotFound',
    forbidden: status === 403,
    text: [status, reason, message].filter(Boolean).join(' ') || 'no answer',
  }
}

function notUnderstood(entry: unknown): ReadFailure {
  return { notFound: false, forbidden: false, text: JSON.stringify(entry) ?? String(entry) }
}

/** Is this a valid name of an API object? "*" and the like are not. */
function isName(value: unknown): value is string {
  return typeof value === 'string' && /^[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?$/.test(value)
}
