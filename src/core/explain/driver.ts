/** A CSI driver as an answer shows it: from the pod that runs it to what the cluster knows of it. */

import { present } from '../base/text.ts'
import { isWithin, plainPath } from '../linux/paths.ts'
import { describePod, kubectl } from '../messages/command.ts'
import { said } from '../messages/findings.ts'
import type { CsiSocket } from '../rpc/endpoints.ts'
import type { PlanContext } from '../rules/context.ts'
import { driverOfNode, isOf, isSilent, whyNoDriver } from '../rules/driver-call.ts'
import type { PodClass } from '../rules/pods/pod-classes.ts'
import { isListedWhole } from '../volumes/api-lookup.ts'
import { type ActualInputs, rootPathOf } from '../volumes/on-disk/actual-inputs.ts'
import { parentOf } from '../volumes/on-disk/tree.ts'
import { podName } from '../volumes/pods.ts'
import { absent, asked, bad, good, type Judged, unknown } from './chain-objects.ts'
import type { Link, Verdict } from './explanation.ts'

export type JudgedDriver = ReturnType<typeof judgeDriver>

/** @param isNeeded something here depends on it: it is meant to be on this node, whether or not anything else shows it */
export function judgeDriver(context: PlanContext, name: string, isNeeded: boolean) {
  const { nodeName } = context.inputs.snapshot
  const sockets = socketsOf(context, name)
  const isExpected = isNeeded || sockets.length > 0 || driverOfNode(context.inputs.snapshot, name) !== undefined
  const missing = isExpected ? bad : absent
  const pods = driverPods(context, name, sockets)
  const answers = sockets.some(({ registered }) => registered)
  const chain: Link[] = [
    ...(pods.length > 0 ? pods.map((pod) => podLink(context, pod)) : [missingPod(name, answers, missing)]),
    ...socketLinks(context, name, sockets, missing),
    { kind: 'CSINode', name: nodeName, ...judgeCsiNode(context, name, missing) },
    { kind: 'CSIDriver', name, ...judgeCsiDriver(context, name) },
  ]
  const works = answers ? 'the driver answers and is registered' : 'whether the driver answers is not known'
  return {
    /** Link by link (C24 to C28). */
    chain,
    /** Undefined: it works, as far as is known, or is not meant to be here. */
    broken: faultOf(context, name, sockets, chain),
    /** What is said where it is not broken. */
    fine: isExpected ? works : 'the driver is not on this node, and nothing here depends on it',
    /** What to type about its pod: with a kubelet that runs nothing else brings it back. */
    steps: stepsOf(name, pods, answers),
  }
}

function socketsOf({ inputs }: PlanContext, name: string): readonly CsiSocket[] {
  return (inputs.snapshot.csiSockets ?? []).filter((socket) => isOf(socket, name))
}

/** Absolute paths of its own sockets, as problems name them. */
export function driverSockets(context: PlanContext, name: string): string[] {
  return socketsOf(context, name).flatMap(({ path, endpoint = path }) =>
    [path, endpoint].map((each) => absolute(context.inputs, each)),
  )
}

function absolute(inputs: ActualInputs, path: string): string {
  return path.startsWith('/') ? path : inputs.absolute(path)
}

/**
 * Pods of this node that have the directory of the driver's socket from the host, or else that of all drivers.
 *
 * @param sockets of the driver; without one its directory is where it is by convention
 */
function driverPods({ inputs, classes }: PlanContext, driver: string, sockets: readonly CsiSocket[]): PodClass[] {
  const plugins = inputs.absolute('plugins')
  const own = new Set([
    inputs.absolute(`plugins/${driver}`),
    ...sockets.flatMap(({ path, endpoint = path }) =>
      endpoint.startsWith('plugins_registry/') ? [] : [parentOf(absolute(inputs, endpoint))],
    ),
  ])
  const pathsOf = ({ pod }: PodClass): string[] =>
    (pod?.spec.volumes ?? []).flatMap(({ hostPath }) =>
      hostPath?.path === undefined ? [] : [rootPathOf(inputs, plainPath(hostPath.path))],
    )
  const exact = classes.all.filter((pod) => pathsOf(pod).some((path) => own.has(path)))
  if (exact.length > 0) return exact
  const isAbove = (path: string): boolean =>
    isWithin(path, plugins) && [...own].some((directory) => isWithin(directory, path))
  return classes.all.filter((pod) => pathsOf(pod).some(isAbove))
}

function missingPod(driver: string, answers: boolean, missing: typeof bad): Link {
  const says = 'no pod of this node has the directory of its socket'
  const judged = answers ? unknown(`${says}, and the driver answers`) : missing(says)
  return { kind: 'NodePluginPod', name: `plugins/${driver}`, ...judged }
}

function podLink({ inputs }: PlanContext, { uid, ref, pod }: PodClass): Link {
  const { phase = 'no phase' } = { ...pod?.status }
  const sandboxes = (inputs.snapshot.runtime?.pods ?? []).filter((sandbox) => sandbox.uid === uid)
  const containers = sandboxes.flatMap((sandbox) => sandbox.containers)
  const down = containers.filter(({ state }) => state !== 'CONTAINER_RUNNING')
  const runs = phase === 'Running' && down.length < containers.length
  const stateOf = (state: string): string => state.replace(/^CONTAINER_/, '').toLowerCase()
  // Init containers have ended.
  const says = [phase, ...(runs ? [] : down.map(({ name, state }) => `container ${name} ${stateOf(state)}`))].join('; ')
  const state = runs ? 'good' : containers.length === 0 && phase === 'Running' ? 'unknown' : 'bad'
  return { kind: 'NodePluginPod', name: podName(ref), state, says, pod: ref }
}

function socketLinks(
  { inputs }: PlanContext,
  name: string,
  sockets: readonly CsiSocket[],
  missing: typeof bad,
): Link[] {
  const { csiSockets } = inputs.snapshot
  if (sockets.length > 0) return sockets.flatMap((socket) => linksOf(inputs, socket, sockets))
  const link = { kind: 'Socket', name: inputs.absolute(`plugins/${name}/csi.sock`) } as const
  if (csiSockets === undefined) return [{ ...link, ...unknown('the sockets of CSI drivers were not looked at') }]
  // Their names show no driver.
  const strangers = csiSockets.filter(isSilent).map(({ path }) => path)
  const perhaps = strangers.length === 0 ? '' : `; nobody answers on ${strangers.join(', ')}, which may be its own`
  const judge = missing === bad && strangers.length > 0 ? unknown : missing
  return [{ ...link, ...judge(`no socket of this driver${perhaps}`) }]
}

/** What the driver answered, and what its registrar announces. */
function linksOf(inputs: ActualInputs, socket: CsiSocket, all: readonly CsiSocket[]): Link[] {
  const { path, endpoint, registered: answers, error, versions = [], capabilities } = socket
  const stages = capabilities?.includes('STAGE_UNSTAGE_VOLUME') ? 'stages volumes' : 'does not stage volumes'
  const can = capabilities === undefined ? 'its capabilities are not known' : stages
  const silent = bad(error ?? 'no answer')
  const called: Link = {
    kind: 'Socket',
    name: absolute(inputs, endpoint ?? path),
    ...(answers ? good(`answers; ${can}`) : silent),
  }
  const announced = (at: string, judged: Judged): Link => ({
    kind: 'Registration',
    name: inputs.absolute(at),
    ...judged,
  })
  if (answers && error !== undefined) return [called, announced('plugins_registry', silent)]
  if (!path.startsWith('plugins_registry/')) return [called]
  const twin = all.some((other) => other !== socket && other.registered)
  // Nobody announces an endpoint: this is the registrar's own socket, and it is silent. Or another one counts.
  if (!answers && (endpoint === undefined || twin)) return [announced(path, silent)]
  const says = versions.length === 0 ? 'the driver is announced to the kubelet' : `CSI ${versions.join(', ')}`
  return [called, announced(path, good(says))]
}

function judgeCsiNode({ inputs: { snapshot } }: PlanContext, driver: string, missing: typeof bad): Judged {
  const { api } = snapshot
  const entry = driverOfNode(snapshot, driver)
  if (entry !== undefined)
    return good(`lists the driver${entry.nodeID === undefined ? '' : `, node ID ${entry.nodeID}`}`)
  if (!isListedWhole(api, 'csinodes')) return unknown('the CSINode object could not be read')
  return missing(api?.csiNode == null ? 'there is no CSINode object' : 'does not list the driver')
}

function judgeCsiDriver(context: PlanContext, name: string): Judged {
  const found = asked(context, (objects) => objects.csiDriver(name))
  if (found.state === 'Absent') return absent('there is none: its volumes count as attached')
  if (found.state === 'Unknown') return unknown('the CSIDriver objects could not be read')
  const { attachRequired, volumeLifecycleModes, fsGroupPolicy } = found.object.spec
  const says = present(
    `volumes are ${attachRequired === false ? 'not ' : ''}attached`,
    volumeLifecycleModes?.join(', '),
    fsGroupPolicy && `fsGroup ${fsGroupPolicy}`,
  )
  return good(says.join('; '))
}

/** Undefined also of a driver that is not meant to be here. */
function faultOf(
  context: PlanContext,
  name: string,
  sockets: readonly CsiSocket[],
  chain: readonly Link[],
): Verdict | undefined {
  const faulty = (kind: Link['kind']): Link | undefined =>
    chain.find((link) => link.kind === kind && link.state === 'bad')
  const called = sockets.find(({ registered }) => registered)
  if (called === undefined) {
    // Whether a driver is there is not known where nobody looked for sockets.
    const isDown = sockets.length > 0 || faulty('Socket') !== undefined
    return isDown ? { state: 'problem', ...whyNoDriver(context, name) } : undefined
  }
  const twice = faulty('Registration')
  const says =
    called.error !== undefined
      ? `is not registered with the kubelet: ${called.error}`
      : context.inputs.snapshot.api?.csiNode != null && faulty('CSINode') !== undefined
        ? 'the CSINode object of this node does not list it'
        : twice && `${twice.name} is not the socket in use: ${twice.says}`
  return says === undefined
    ? undefined
    : { state: 'problem', ...said('DriverRegistration.answersBut', { driver: name, fault: says }) }
}

/** @returns of the driver's own pod, by name; without one where a pod is meant to come from */
function stepsOf(driver: string, pods: readonly PodClass[], answers: boolean) {
  const [own] = pods.flatMap(({ ref: { namespace, name } }) =>
    namespace === undefined || name === undefined ? [] : [{ namespace, name }],
  )
  if (own !== undefined)
    return [
      { command: describePod(own), why: "why the driver's pod does not run as it should" },
      { command: kubectl('logs', '-n', own.namespace, own.name, '--all-containers'), why: 'what the driver says' },
    ]
  const why = `no pod of this node has ${driver}'s directory: see whether its DaemonSet is to run here`
  return answers ? [] : [{ command: kubectl('get', 'daemonset', '-A'), why }]
}
