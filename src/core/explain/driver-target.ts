/** A CSI driver as an answer shows it: its sockets, its objects, the pod that runs it, and what of this node depends on it. */

import { omitUndefined } from '../base/omit-undefined.ts'
import { rootPathOf } from '../facts/actual/actual-inputs.ts'
import type { CsiSocket } from '../facts/actual/snapshot.ts'
import { parentOf } from '../facts/actual/tree.ts'
import type { VolumeRow } from '../facts/row.ts'
import type { Pod } from '../kube/api/objects.ts'
import { isWithin, plainPath } from '../linux/paths.ts'
import type { Plan } from '../plan/plan.ts'
import { type PlanContext, podRefOf } from '../reconcile/context/context.ts'
import { isOf, isSilent } from '../reconcile/drivers/why-no-driver.ts'
import type { DriverDependents, DriverPod, DriverSocket, DriverView } from './explanation.ts'

/** A driver that was asked about. */
export interface DriverTarget {
  readonly view: DriverView
  /** Its own sockets and those that may be its own, as problems name them. */
  readonly sockets: readonly string[]
  /** Sockets on which nobody answers, and whose names show no driver. */
  readonly strangers: readonly string[]
}

export function driverTarget(context: PlanContext, name: string): DriverTarget {
  const { inputs } = context
  const { api, csiSockets = [] } = inputs.snapshot
  const own = csiSockets.filter((socket) => isOf(socket, name))
  const strangers = csiSockets.filter((socket) => isSilent(socket) && !own.includes(socket))
  const entry = api?.csiNode?.spec.drivers?.find((each) => each.name === name)
  const object = api?.csiDrivers.find(({ metadata }) => metadata.name === name)
  const view: DriverView = {
    name,
    sockets: own.map((socket) => socketView(context, socket)),
    ...(api?.csiNode != null && {
      csiNode: { listed: entry !== undefined, ...omitUndefined({ nodeID: entry?.nodeID }) },
    }),
    ...(object !== undefined && { csiDriver: { attachRequired: object.spec.attachRequired !== false } }),
    pods: driverPods(context, name, own),
    dependents: { ...dependentsOf(context, name), waiting: [] },
  }
  return {
    view,
    sockets: view.sockets.flatMap(({ path, endpoint }) => [path, endpoint ?? []].flat()),
    strangers: strangers.map(({ path }) => path),
  }
}

function socketView({ inputs }: PlanContext, { path, endpoint, registered, ...rest }: CsiSocket): DriverSocket {
  const absolute = (each: string): string => (each.startsWith('/') ? each : inputs.absolute(each))
  const { versions, capabilities, error } = rest
  return {
    path: absolute(path),
    answers: registered,
    ...omitUndefined({
      endpoint: endpoint === undefined ? undefined : absolute(endpoint),
      versions,
      capabilities,
      error,
    }),
  }
}

function dependentsOf(context: PlanContext, name: string): Omit<DriverDependents, 'waiting'> {
  const { api, nodeName } = context.inputs.snapshot
  const own = context.ledger.ofDriver(name)
  const attachments = (api?.volumeAttachments ?? []).filter(
    ({ spec }) => spec.attacher === name && spec.nodeName === nodeName,
  )
  return {
    staged: own
      .filter(({ staged, maps }) => staged.some(({ layers }) => layers.length > 0) || maps.length > 0)
      .map(volumeName),
    published: own.flatMap((volume) =>
      [...volume.havingUids].map((uid) => ({ volume: volumeName(volume), pod: podRefOf(context, uid) })),
    ),
    attachments: attachments.map(({ metadata }) => metadata.name),
  }
}

function volumeName({ persistentVolume, identity, onDisk }: VolumeRow): string {
  return persistentVolume?.metadata.name ?? onDisk[0]?.name ?? identity?.handle ?? 'unknown'
}

/** @param waiting of the plan, the driver's alone */
export function withWaiting(view: DriverView, waiting: Plan['waiting']): DriverView {
  const found = waiting.map(({ volume, pod, code }) => ({
    volume: volume?.podVolumeName ?? volume?.name ?? '',
    code,
    ...omitUndefined({ pod }),
  }))
  return { ...view, dependents: { ...view.dependents, waiting: found } }
}

/** @param sockets of the driver; without one its directory is where it is by convention */
function driverPods(context: PlanContext, driver: string, sockets: readonly CsiSocket[]): DriverPod[] {
  const { inputs, classes } = context
  const own = new Set([
    inputs.absolute(`plugins/${driver}`),
    ...sockets.flatMap(({ path, endpoint }) => {
      const at = endpoint ?? path
      return at.startsWith('plugins_registry/') ? [] : [parentOf(at.startsWith('/') ? at : inputs.absolute(at))]
    }),
  ])
  const found = classes.all.flatMap(({ uid, pod, ref }) => {
    const directory = pod && directoryOf(context, pod, own)
    if (pod === undefined || directory === undefined) return []
    const phase = pod.status?.phase
    return [{ pod: ref, ...omitUndefined({ phase }), containers: containersOf(context, uid), directory }]
  })
  // One that has just this directory says more than one that has those of all drivers.
  const exact = found.filter(({ directory }) => own.has(directory))
  return exact.length > 0 ? exact : found
}

/** The host's directory that the pod has: the socket's own, or one above it in the kubelet's. */
function directoryOf({ inputs }: PlanContext, { spec }: Pod, own: ReadonlySet<string>): string | undefined {
  const paths = (spec.volumes ?? []).flatMap(({ hostPath }) =>
    hostPath?.path === undefined ? [] : [rootPathOf(inputs, plainPath(hostPath.path))],
  )
  const plugins = inputs.absolute('plugins')
  return (
    paths.find((path) => own.has(path)) ??
    paths.find((path) => isWithin(path, plugins) && [...own].some((directory) => isWithin(directory, path)))
  )
}

function containersOf({ inputs }: PlanContext, uid: string): DriverPod['containers'] {
  const sandboxes = (inputs.snapshot.runtime?.pods ?? []).filter((sandbox) => sandbox.uid === uid)
  return sandboxes.flatMap(({ containers }) =>
    containers.map(({ name, state }) => ({ name, state: state.replace(/^CONTAINER_/, '').toLowerCase() })),
  )
}
