/**
 * When a controller manager last wrote something, by the managedFields of every object that is read: they come with the lists, and
 * their times are by the clock of the API server alone.
 *
 * Of each manager only the latest writing is kept, whatever the size of the cluster. A manager is a controller manager
 *
 * - if it is called kube-controller-manager, as that program calls itself wherever it runs;
 * - or if it wrote volumesAttached of a Node, which nobody but an attach/detach controller does. If that is the kubelet's own name, as
 *   in a program that is both (k3s), the name says nothing of either.
 *
 * Who created VolumeAttachments is no sign: people do that by hand where the controller is dead.
 */
import { alike, compareText } from '../../base/text.ts'
import type { ApiObject } from '../../kube/api/objects.ts'
import type { ControllerWrite } from '../model/cluster-state.ts'

const CONTROLLER_MANAGER = 'kube-controller-manager'
/** Clusters have some dozen writers; a name more shows nothing then. */
const MOST_MANAGERS = 500
const MOST_WRITES = 3
/** As Go writes the time of an entry: only such texts are compared. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/
/** In the status of a Node, what its kubelet alone writes. */
const OF_KUBELET = ['f:nodeInfo', 'f:volumesInUse', 'f:images']

export class ControllerWrites {
  /** By manager. */
  readonly #latest = new Map<string, ControllerWrite>()
  readonly #controllers: Set<string>
  readonly #kubelets = new Set<string>()

  /** @param known managers that an earlier look has found to be controller managers */
  constructor(known: readonly string[] = []) {
    this.#controllers = new Set([CONTROLLER_MANAGER, ...known])
  }

  /** @param resource its plural name */
  see(resource: string, { metadata }: ApiObject): void {
    const { namespace, name } = metadata
    for (const { manager, time, fieldsV1 } of entriesOf(metadata)) {
      if (typeof manager !== 'string' || typeof time !== 'string') continue
      if (resource === 'nodes') this.#learn(manager, fieldsV1?.['f:status'])
      const known = this.#latest.get(manager)?.time
      if (known === undefined && this.#latest.size >= MOST_MANAGERS && !this.#controllers.has(manager)) continue
      if (time <= (known ?? '') || !TIME.test(time)) continue
      const object = [resource, namespace, name].filter((part) => part !== undefined).join('/')
      this.#latest.set(manager, { manager, object, time })
    }
  }

  /** The newest few. */
  found(): readonly ControllerWrite[] {
    const isController = ({ manager }: ControllerWrite): boolean =>
      this.#controllers.has(manager) && !this.#kubelets.has(manager)
    return newestWrites([...this.#latest.values()].filter(isController))
  }

  #learn(manager: string, status: unknown): void {
    if (typeof status !== 'object' || status === null) return
    if (OF_KUBELET.some((field) => Object.hasOwn(status, field))) this.#kubelets.add(manager)
    else if (Object.hasOwn(status, 'f:volumesAttached')) this.#controllers.add(manager)
  }
}

/** Of each manager and object the last writing, and of these the newest few. */
export function newestWrites(writes: readonly ControllerWrite[]): readonly ControllerWrite[] {
  const newest = writes.toSorted((a, b) => compareText(b.time, a.time) || compareText(a.object, b.object))
  const same = alike(newest, ({ manager, object }) => `${manager} ${object}`)
  return same.slice(0, MOST_WRITES).map(([write]) => write)
}

interface Entry {
  readonly manager?: unknown
  readonly time?: unknown
  readonly fieldsV1?: Readonly<Record<string, unknown>> | null
}

function entriesOf(metadata: object): readonly Entry[] {
  const { managedFields } = metadata as { readonly managedFields?: unknown }
  if (!Array.isArray(managedFields)) return []
  return managedFields.filter((entry) => typeof entry === 'object' && entry !== null)
}

/** When somebody last wrote an object, by the clock of the API server. */
export function lastWritten({ metadata }: ApiObject): string | undefined {
  let last: string | undefined
  for (const { time } of entriesOf(metadata)) {
    if (typeof time === 'string' && TIME.test(time) && (last === undefined || time > last)) last = time
  }
  return last
}
