/** A CSI driver as an answer shows it: from the pod that runs it to what the cluster knows of it, and what of this node depends on it. */

import { describePod, kubectl } from '../base/command.ts'
import { omitUndefined } from '../base/omit-undefined.ts'
import { rootPathOf } from '../facts/actual/actual-inputs.ts'
import type { CsiSocket } from '../facts/actual/snapshot.ts'
import { parentOf } from '../facts/actual/tree.ts'
import type { VolumeRow } from '../facts/row.ts'
import type { Pod } from '../kube/api/objects.ts'
import { isWithin, plainPath } from '../linux/paths.ts'
import type { NextStep, Plan } from '../plan/plan.ts'
import { podName } from '../plan/pod-name.ts'
import { type PlanContext, podRefOf } from '../reconcile/context/context.ts'
import { isOf, isSilent, whyNoDriver } from '../reconcile/drivers/driver-call.ts'
import { isListedWhole } from '../volumes/api-lookup.ts'
import type { DriverDependents, DriverPod, DriverSocket, DriverView, Link, Verdict } from './explanation.ts'

export interface DescribedDriver {
  readonly view: DriverView
  /** Link by link (C24 to C28). */
  readonly chain: readonly Link[]
  /** Undefined: it works, as far as is known, or is not meant to be here. */
  readonly broken: Verdict | undefined
  /** What is said where it is not broken. */
  readonly fine: string
  /** The driver's own pod, by name. */
  readonly notes: readonly string[]
  /** What the notes say, as what to type next: with a kubelet that runs nothing else brings the pod back. */
  readonly steps: readonly NextStep[]
}

/** @param waiting of the plan, the driver's alone */
export function describeDriver(context: PlanContext, name: string, waiting: Plan['waiting']): DescribedDriver {
  const { api, csiSockets = [] } = context.inputs.snapshot
  const own = csiSockets.filter((socket) => isOf(socket, name))
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
    dependents: dependentsOf(context, name, waiting),
  }
  const { published, staged, attachments } = view.dependents
  const depending = staged.length + published.length + attachments.length + waiting.length
  const isExpected = view.sockets.length > 0 || view.csiNode?.listed === true || depending > 0
  const chain = [
    ...podLinks(view, isExpected),
    ...socketLinks(context, view, isExpected),
    csiNodeLink(context, view, isExpected),
    csiDriverLink(context, view),
  ]
  return {
    view,
    chain,
    broken: isExpected ? faultOf(context, view, chain) : undefined,
    fine: isExpected
      ? `the driver answers and is registered; ${staged.length} of its volumes are staged, ${published.length} published`
      : 'the driver is not on this node, and nothing here depends on it',
    ...adviceOf(view),
  }
}

/** Absolute paths of its own sockets, as problems name them. */
export function driverSockets(context: PlanContext, name: string): string[] {
  const own = (context.inputs.snapshot.csiSockets ?? []).filter((socket) => isOf(socket, name))
  return own
    .map((socket) => socketView(context, socket))
    .flatMap(({ path, endpoint }) => [path, endpoint].flatMap((each) => each ?? []))
}

function socketView({ inputs }: PlanContext, socket: CsiSocket): DriverSocket {
  const absolute = (each: string): string => (each.startsWith('/') ? each : inputs.absolute(each))
  const { path, endpoint, registered, versions, capabilities, error } = socket
  return {
    path: absolute(path),
    answers: registered,
    ...omitUndefined({ endpoint: endpoint && absolute(endpoint), versions, capabilities, error }),
  }
}

function dependentsOf(context: PlanContext, name: string, waiting: Plan['waiting']): DriverDependents {
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
    waiting: waiting.map(({ volume, pod, code }) => ({
      volume: volume?.podVolumeName ?? volume?.name ?? '',
      code,
      ...omitUndefined({ pod }),
    })),
  }
}

function volumeName({ persistentVolume, identity, onDisk }: VolumeRow): string {
  return persistentVolume?.metadata.name ?? onDisk[0]?.name ?? identity?.handle ?? 'unknown'
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

/** The socket that is called. */
function answering({ sockets }: DriverView): DriverSocket | undefined {
  return sockets.find(({ answers }) => answers)
}

function podLinks(view: DriverView, isExpected: boolean): Link[] {
  if (view.pods.length > 0) return view.pods.map(podLink)
  const link = { kind: 'NodePluginPod', name: `plugins/${view.name}` } as const
  const says = 'no pod of this node has the directory of its socket'
  if (answering(view) !== undefined) return [{ ...link, state: 'unknown', says: `${says}, and the driver answers` }]
  return [{ ...link, state: isExpected ? 'bad' : 'absent', says }]
}

function podLink({ pod, phase = 'no phase', containers }: DriverPod): Link {
  const down = containers.filter(({ state }) => state !== 'running')
  const runs = phase === 'Running' && down.length < containers.length
  // Init containers have ended.
  const says = [phase, ...(runs ? [] : down.map(({ name, state }) => `container ${name} ${state}`))].join('; ')
  const state = runs ? 'good' : containers.length === 0 && phase === 'Running' ? 'unknown' : 'bad'
  return { kind: 'NodePluginPod', name: podName(pod), state, says, pod }
}

function socketLinks({ inputs }: PlanContext, { name, sockets }: DriverView, isExpected: boolean): Link[] {
  const { csiSockets } = inputs.snapshot
  const link = { kind: 'Socket', name: inputs.absolute(`plugins/${name}/csi.sock`) } as const
  if (csiSockets === undefined)
    return [{ ...link, state: 'unknown', says: 'the sockets of CSI drivers were not looked at' }]
  if (sockets.length > 0)
    return sockets.flatMap((socket) => linksOf(socket, sockets, inputs.absolute('plugins_registry')))
  // Their names show no driver.
  const strangers = csiSockets.filter(isSilent).map(({ path }) => path)
  const perhaps = strangers.length === 0 ? '' : `; nobody answers on ${strangers.join(', ')}, which may be its own`
  const state = !isExpected ? 'absent' : strangers.length > 0 ? 'unknown' : 'bad'
  return [{ ...link, state, says: `no socket of this driver${perhaps}` }]
}

/** What the driver answered, and what its registrar announces. */
function linksOf(socket: DriverSocket, all: readonly DriverSocket[], registry: string): Link[] {
  const { path, endpoint, answers, error, versions = [], capabilities } = socket
  const isAnnounced = path.startsWith(`${registry}/`)
  const called: Link = {
    kind: 'Socket',
    name: endpoint ?? path,
    state: answers ? 'good' : 'bad',
    says: answers ? `answers; ${capabilitiesText(capabilities)}` : (error ?? 'no answer'),
  }
  if (answers && error !== undefined)
    return [called, { kind: 'Registration', name: registry, state: 'bad', says: error }]
  if (!isAnnounced) return [called]
  const twin = all.some((other) => other !== socket && other.answers)
  const versionText = versions.length === 0 ? 'the driver is announced to the kubelet' : `CSI ${versions.join(', ')}`
  // Nobody announces an endpoint: this is the registrar's own socket, and it is silent. Or another one counts.
  if (!answers && (endpoint === undefined || twin))
    return [{ kind: 'Registration', name: path, state: 'bad', says: error ?? 'no answer' }]
  return [called, { kind: 'Registration', name: path, state: 'good', says: versionText }]
}

function capabilitiesText(capabilities: readonly string[] | undefined): string {
  if (capabilities === undefined) return 'its capabilities are not known'
  return capabilities.includes('STAGE_UNSTAGE_VOLUME') ? 'stages volumes' : 'does not stage volumes'
}

function csiNodeLink({ inputs }: PlanContext, { csiNode }: DriverView, isExpected: boolean): Link {
  const { api, nodeName } = inputs.snapshot
  const link = { kind: 'CSINode', name: nodeName } as const
  if (csiNode?.listed === true) {
    const id = csiNode.nodeID === undefined ? '' : `, node ID ${csiNode.nodeID}`
    return { ...link, state: 'good', says: `lists the driver${id}` }
  }
  if (!isListedWhole(api, 'csinodes'))
    return { ...link, state: 'unknown', says: 'the CSINode object could not be read' }
  const says = csiNode === undefined ? 'there is no CSINode object' : 'does not list the driver'
  return { ...link, state: isExpected ? 'bad' : 'absent', says }
}

function csiDriverLink({ inputs }: PlanContext, { name, csiDriver }: DriverView): Link {
  const link = { kind: 'CSIDriver', name } as const
  if (csiDriver !== undefined)
    return { ...link, state: 'good', says: `volumes are ${csiDriver.attachRequired ? '' : 'not '}attached` }
  return isListedWhole(inputs.snapshot.api, 'csidrivers')
    ? { ...link, state: 'absent', says: 'there is none: its volumes count as attached' }
    : { ...link, state: 'unknown', says: 'the CSIDriver objects could not be read' }
}

function faultOf(context: PlanContext, view: DriverView, chain: readonly Link[]): Verdict | undefined {
  const { name, sockets, csiNode } = view
  const bad = (kind: Link['kind']): Link | undefined => chain.find((link) => link.kind === kind && link.state === 'bad')
  const called = answering(view)
  if (called === undefined) {
    // Whether a driver is there is not known where nobody looked for sockets.
    const isDown = sockets.length > 0 || bad('Socket') !== undefined
    return isDown ? { state: 'problem', message: whyNoDriver(context, name), code: 'DriverUnavailable' } : undefined
  }
  const twice = bad('Registration')
  const says =
    called.error !== undefined
      ? `is not registered with the kubelet: ${called.error}`
      : csiNode?.listed === false && bad('CSINode') !== undefined
        ? 'the CSINode object of this node does not list it'
        : twice && `${twice.name} is not the socket in use: ${twice.says}`
  const message = `CSI driver ${name} answers, but ${says}`
  return says === undefined ? undefined : { state: 'problem', message, code: 'DriverRegistration' }
}

const DAEMON_SETS = kubectl('get', 'daemonset', '-A')

function adviceOf(view: DriverView): Pick<DescribedDriver, 'notes' | 'steps'> {
  const pods = view.pods.flatMap(({ pod: { namespace, name } }) => {
    if (namespace === undefined || name === undefined) return []
    const logs = kubectl('logs', '-n', namespace, name, '--all-containers')
    return [{ shown: describePod({ namespace, name }), logs }]
  })
  const [own] = pods
  if (own !== undefined)
    return {
      notes: pods.map(({ shown, logs }) => `the driver's pod: ${shown}; ${logs}`),
      steps: [
        { command: own.shown, why: "why the driver's pod does not run as it should" },
        { command: own.logs, why: 'what the driver says' },
      ],
    }
  if (answering(view) !== undefined) return { notes: [], steps: [] }
  const why = `no pod of this node has ${view.name}'s directory: see whether its DaemonSet is to run here`
  return { notes: [`${why} (${DAEMON_SETS})`], steps: [{ command: DAEMON_SETS, why }] }
}
