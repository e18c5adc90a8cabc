/** This node as a whole: which machine it is, its kubelet, what is attached and in use, and every volume that it has or wants. */

import { volctl } from '../base/command.ts'
import { NotFound } from '../base/errors.ts'
import type { Ledger } from '../facts/ledger.ts'
import type { VolumeRow } from '../facts/row.ts'
import { KUBELET_STATES } from '../plan/kubelet-units.ts'
import type { Plan } from '../plan/plan.ts'
import type { PlanContext } from '../reconcile/context/context.ts'
import type { Candidate } from './candidates.ts'
import type { Fact } from './explanation.ts'
import { splitPrefix } from './kinds.ts'
import { factsOf } from './objects.ts'

/**
 * @param candidates what else has names: a namespace may be called node, a pod like the node
 * @returns whether this node is meant
 * @throws VolctlError NotFound, of another node
 */
export function isThisNodeAsked({ inputs }: PlanContext, candidates: readonly Candidate[], what: string): boolean {
  const { nodeName, api } = inputs.snapshot
  const { kind, name } = splitPrefix(what)
  const own = [nodeName, api?.node?.metadata.labels?.['kubernetes.io/hostname']]
  const isNamed = candidates.some(({ names }) => names.includes(what))
  if (kind === 'Node' && own.includes(name)) return true
  if (isNamed) return false
  if (kind === undefined) return own.includes(what)
  if (kind !== 'Node') return false
  throw new NotFound(`node "${name}" is another node, or none: this one is ${nodeName}`, {
    hint: `Run volctl on that node, or give a snapshot of it (--snapshot). Of this one: ${volctl('explain', `node/${nodeName}`)}`,
  })
}

/** Those that only the API has, for other nodes, are left out. */
export function volumesHere({ all }: Ledger): VolumeRow[] {
  return all.filter(
    ({ wanted, unresolved, onDisk, leaked, staged, maps, globals, attachment }) =>
      attachment !== undefined ||
      [wanted, unresolved, onDisk, leaked, staged, maps, globals].some(({ length }) => length > 0),
  )
}

/** What matters most first. */
export function nodeFacts({ inputs, classes, kubelet }: PlanContext, { problems }: Pick<Plan, 'problems'>): Fact[] {
  const { snapshot } = inputs
  const { api, nodeName, rootDir, machineID, bootID, bootTime } = snapshot
  const { status } = api?.node ?? {}
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  const own = api?.volumeAttachments.filter(({ spec }) => spec.nodeName === nodeName) ?? []
  const kubeletIs = [KUBELET_STATES[kubelet.state], kubelet.unit, status?.nodeInfo?.kubeletVersion].filter(isText)
  const here = 'this host'
  const attached =
    status && `${status.volumesAttached?.length ?? 0} in node.status.volumesAttached, ${own.length} VolumeAttachments`
  return factsOf([
    ['Kubelet', kubeletIs.join(', '), `${here}, API`],
    ['Pods', countsText(classes.all.map((pod) => pod.class)), 'API, disk, container runtime'],
    ['Attached', attached],
    ['In use', status && `${status.volumesInUse?.length ?? 0} in node.status.volumesInUse`],
    ['Problems', countsText(problems.map(({ severity }) => severity)), 'plan'],
    ['Ready', ready && [ready.status, ready.lastHeartbeatTime].filter(isText).join(', heartbeat of ')],
    ['Node', nodeName, api?.node === undefined ? here : 'API'],
    ['Machine', machineID, here],
    ['Booted', [bootTime, bootID].filter(isText).join(', boot '), here],
    ['Root', rootDir, here],
  ])
}

const isText = (text: string | null | undefined): text is string => text != null && text !== ''

/** "12 Desired, 1 Gone" */
function countsText(names: readonly string[]): string {
  if (names.length === 0) return 'none'
  return [...Map.groupBy(names, (name) => name)].map(([name, { length }]) => `${length} ${name}`).join(', ')
}
