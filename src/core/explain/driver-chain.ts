/** From the pod that runs a CSI driver to what the cluster knows of it, link by link (C24 to C28). */

import { podName } from '../plan/pod-name.ts'
import type { PlanContext } from '../reconcile/context/context.ts'
import { isListedWhole } from '../volumes/api-lookup.ts'
import type { DriverTarget } from './driver-target.ts'
import type { DriverPod, DriverSocket, DriverView, Link } from './explanation.ts'

export function driverChain(context: PlanContext, target: DriverTarget): Link[] {
  const { view } = target
  return [...podLinks(view), ...socketLinks(context, target), csiNodeLink(context, view), csiDriverLink(context, view)]
}

/** Is it meant to be here: somebody names it, or something depends on it. */
export function isExpected({ sockets, csiNode, dependents }: DriverView): boolean {
  const { staged, published, attachments, waiting } = dependents
  const depending = staged.length + published.length + attachments.length + waiting.length
  return sockets.length > 0 || csiNode?.listed === true || depending > 0
}

/** The socket that is called. */
export function answering({ sockets }: DriverView): DriverSocket | undefined {
  return sockets.find(({ answers }) => answers)
}

function podLinks(view: DriverView): Link[] {
  if (view.pods.length > 0) return view.pods.map((each) => podLink(each))
  const link = { kind: 'NodePluginPod', name: `plugins/${view.name}` } as const
  const says = 'no pod of this node has the directory of its socket'
  if (answering(view) !== undefined) return [{ ...link, state: 'unknown', says: `${says}, and the driver answers` }]
  return [{ ...link, state: isExpected(view) ? 'bad' : 'absent', says }]
}

function podLink({ pod, phase = 'no phase', containers }: DriverPod): Link {
  const down = containers.filter(({ state }) => state !== 'running')
  const runs = phase === 'Running' && containers.some(({ state }) => state === 'running')
  // Init containers have ended.
  const says = [phase, ...(runs ? [] : down.map(({ name, state }) => `container ${name} ${state}`))].join('; ')
  const state = runs ? 'good' : containers.length === 0 && phase === 'Running' ? 'unknown' : 'bad'
  return { kind: 'NodePluginPod', name: podName(pod), state, says, pod }
}

function socketLinks({ inputs }: PlanContext, { view, strangers }: DriverTarget): Link[] {
  const { name, sockets } = view
  const convention = inputs.absolute(`plugins/${name}/csi.sock`)
  if (inputs.snapshot.csiSockets === undefined)
    return [
      { kind: 'Socket', name: convention, state: 'unknown', says: 'the sockets of CSI drivers were not looked at' },
    ]
  if (sockets.length === 0) {
    const perhaps = strangers.length === 0 ? '' : `; nobody answers on ${strangers.join(', ')}, which may be its own`
    const state = !isExpected(view) ? 'absent' : strangers.length > 0 ? 'unknown' : 'bad'
    return [{ kind: 'Socket', name: convention, state, says: `no socket of this driver${perhaps}` }]
  }
  return sockets.flatMap((socket) => linksOf(socket, sockets, inputs.absolute('plugins_registry')))
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

function csiNodeLink({ inputs }: PlanContext, view: DriverView): Link {
  const { api, nodeName } = inputs.snapshot
  const link = { kind: 'CSINode', name: nodeName } as const
  if (view.csiNode?.listed === true) {
    const { nodeID } = view.csiNode
    return { ...link, state: 'good', says: `lists the driver${nodeID === undefined ? '' : `, node ID ${nodeID}`}` }
  }
  if (!isListedWhole(api, 'csinodes'))
    return { ...link, state: 'unknown', says: 'the CSINode object could not be read' }
  const says = view.csiNode === undefined ? 'there is no CSINode object' : 'does not list the driver'
  return { ...link, state: isExpected(view) ? 'bad' : 'absent', says }
}

function csiDriverLink({ inputs }: PlanContext, { name, csiDriver }: DriverView): Link {
  const link = { kind: 'CSIDriver', name } as const
  if (csiDriver !== undefined)
    return {
      ...link,
      state: 'good',
      says: csiDriver.attachRequired ? 'volumes are attached' : 'volumes are not attached',
    }
  return isListedWhole(inputs.snapshot.api, 'csidrivers')
    ? { ...link, state: 'absent', says: 'there is none: its volumes count as attached' }
    : { ...link, state: 'unknown', says: 'the CSIDriver objects could not be read' }
}
