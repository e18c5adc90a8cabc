/**
 * Reads objects of the API as records: a list page by page, or one object. What they show of a controller manager, and the server's
 * clock, are seen on the way.
 */

import { omitUndefined } from '../../base/omit-undefined.ts'
import type { ApiObject } from '../../kube/api/objects.ts'
import {
  ATTACHMENTS,
  CLAIMS,
  CSI_DRIVERS,
  CSI_NODES,
  LEASES,
  listPath,
  NODES,
  type ObjectKey,
  type Resource,
  VOLUMES,
} from '../../kube/api/resources.ts'
import { type ApiError, answerTooLarge } from '../../kube/api-error.ts'
import type { KubeClient } from '../../kube/kube-client.ts'
import type { WalkLimits } from '../../kube/list-pages.ts'
import { findObject, received } from '../../kube/objects.ts'
import type { ApiLookup } from '../../volumes/api-lookup.ts'
import { ClusterObjects } from '../model/cluster-objects.ts'
import type { ClusterState } from '../model/cluster-state.ts'
import { ControllerWrites } from './controller-writes.ts'
import {
  attachmentRecord,
  CLUSTER_PODS,
  claimRecord,
  csiRecord,
  driverRecord,
  leaseRecord,
  nodeRecord,
  podRecord,
  volumeRecord,
} from './records.ts'

const MOST_OBJECTS = 2_000_000

/** Records of one kind. */
interface Kind<Received, Made> {
  readonly resource: Resource<Received>
  /** @param drivers by which volumes are named @returns undefined for an object on which nothing depends */
  record(object: Received, drivers: ApiLookup): Made | undefined
}

function kind<Received, Made>(
  resource: Resource<Received>,
  record: Kind<Received, Made>['record'],
): Kind<Received, Made> {
  return { resource, record }
}

const KINDS = {
  nodes: kind(NODES, nodeRecord),
  csinodes: kind(CSI_NODES, csiRecord),
  leases: kind(LEASES, leaseRecord),
  pods: kind(CLUSTER_PODS, podRecord),
  claims: kind(CLAIMS, claimRecord),
  volumes: kind(VOLUMES, (volume, lookup) => volumeRecord(volume, { podUid: '', lookup, node: null })),
  attachments: kind(ATTACHMENTS, attachmentRecord),
  drivers: kind(CSI_DRIVERS, driverRecord),
}

export type RecordKind = keyof typeof KINDS

/** As the API and its errors call the list. */
export const pluralOf = (kind: RecordKind): string => KINDS[kind].resource.plural
export type RecordOf<K extends RecordKind> = NonNullable<ReturnType<(typeof KINDS)[K]['record']>>

interface ListSettings {
  /** Of this namespace alone. */
  readonly namespace?: string
  readonly fieldSelector?: string
  readonly limits?: WalkLimits
  /** Called after each page: so many objects have been read. */
  readonly onPage?: (objects: number) => void
}

interface ReadRecords<Record> {
  readonly records: readonly Record[]
  /** All objects of the list. */
  readonly count: number
  readonly resourceVersion?: string | undefined
}

interface Reading {
  readonly signal?: AbortSignal | undefined
  /** Those that an earlier look has found to be controller managers. */
  readonly managers?: readonly string[] | undefined
  /** The CSIDrivers, by which volumes are named, where they are known. */
  readonly drivers?: ApiLookup
}

const NO_DRIVERS = new ClusterObjects({ lists: {} as ClusterState['lists'], errors: [] }).lookup

export class RecordReader {
  readonly writes: ControllerWrites
  drivers: ApiLookup
  readonly #client: KubeClient
  readonly #signal: AbortSignal | undefined
  /** How far ahead the server's clock is of this machine's; undefined: not known. */
  #skew: number | undefined
  #began: number | undefined

  constructor(client: KubeClient, { signal, managers, drivers = NO_DRIVERS }: Reading) {
    this.drivers = drivers
    this.#client = client
    this.#signal = signal
    this.writes = new ControllerWrites(managers)
  }

  /**
   * To be called after answers. A look judges times (S28) by the clock of the API server, as the Date header of its answers shows. Several
   * servers may answer at one address. Of clocks that differ the one that is behind counts: by it everything is younger.
   */
  noteClock(): void {
    this.#began ??= Date.now()
    const { clockSkewMs } = this.#client
    if (clockSkewMs !== undefined) this.#skew = Math.min(this.#skew ?? clockSkewMs, clockSkewMs)
  }

  /** When the look began: with its first answer. */
  began(): Pick<ClusterState, 'capturedAt' | 'clockUnknown'> {
    const capturedAt = new Date((this.#began ?? Date.now()) + (this.#skew ?? 0)).toISOString()
    return { capturedAt, ...(this.#skew === undefined && { clockUnknown: true }) }
  }

  /** At this moment, by the server's clock. */
  now(): string {
    return new Date(Date.now() + (this.#skew ?? 0)).toISOString()
  }

  /** Consistent: no resourceVersion is asked for (S2). @throws ApiError */
  async list<K extends RecordKind>(
    name: K,
    { namespace, fieldSelector, limits, onPage }: ListSettings = {},
  ): Promise<ReadRecords<RecordOf<K>>> {
    const client = this.#client
    const { resource, record } = KINDS[name] as unknown as Kind<ApiObject, RecordOf<K>>
    const path = listPath(resource, namespace)
    let records: RecordOf<K>[] = []
    let count = 0
    const begin = (): void => {
      records = []
      count = 0
    }
    const page = (objects: readonly ApiObject[]): void => {
      if (count + objects.length > MOST_OBJECTS) throw tooMany(client, path)
      for (const [index, object] of objects.entries()) {
        this.writes.see(resource.plural, object)
        const at = `items[${index}]`
        const made = record(received(resource.shape, object, { client, request: `GET ${path}`, at }), this.drivers)
        if (made !== undefined) records.push(made)
      }
      count += objects.length
      this.noteClock()
      onPage?.(count)
    }
    const query = fieldSelector === undefined ? undefined : { fieldSelector }
    const settings = omitUndefined({ query, signal: this.#signal })
    const end = await client.walk<ApiObject>(path, { begin, page }, settings, limits)
    return { records, count, resourceVersion: end.resourceVersion }
  }

  /** @returns undefined: it is shown to be absent @throws ApiError */
  async get<K extends RecordKind>(name: K, key: ObjectKey): Promise<RecordOf<K> | undefined> {
    const { resource, record } = KINDS[name] as unknown as Kind<ApiObject, RecordOf<K>>
    const object = await findObject(this.#client, resource, key, { signal: this.#signal, whole: true })
    this.noteClock()
    if (object === undefined) return undefined
    this.writes.see(resource.plural, object)
    return record(object, this.drivers)
  }
}

function tooMany({ server }: KubeClient, path: string): ApiError {
  return answerTooLarge(server, `GET ${path}`, `has more than ${MOST_OBJECTS} objects`)
}
