/** What a thing is, where its chain does not say it, and where that was learned. */

import type { PlanContext } from '../reconcile/context/context.ts'
import type { Fact } from './explanation.ts'
import type { Thing } from './things.ts'

/** From the API, unless another source is named; without a value nothing is said. */
type Row = readonly [label: string, value: string | number | null | undefined, from?: string]

function factsOf(rows: readonly Row[]): Fact[] {
  return rows.flatMap(([label, value, from = 'API']) =>
    value == null || value === '' ? [] : [{ label, value: String(value), from }],
  )
}

/** Of a pod and a volume what neither chain nor plan says. */
export function identityOf({ inputs }: PlanContext, things: readonly Thing[]): Fact[] {
  return things.flatMap(({ kind, name, volume }) => {
    const directory = inputs.absolute(`pods/${name}`)
    if (kind === 'Pod')
      return factsOf([['Directory', inputs.tree.has(`pods/${name}`) ? directory : `${directory}: not there`, 'disk']])
    if (kind !== 'Volume') return []
    const names = [...(volume?.names ?? [])].filter((each) => each !== volume?.uniqueName)
    return factsOf([
      ['Not identified', volume?.unidentified, 'disk'],
      ['Also called', names.join(', '), 'API and disk'],
    ])
  })
}

/** Of this node as a whole, what its plan does not say: what the Node object reports. */
export function nodeFacts({ inputs }: PlanContext): Fact[] {
  const { api, nodeName, bootTime } = inputs.snapshot
  const { status } = api?.node ?? {}
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  const own = api?.volumeAttachments.filter(({ spec }) => spec.nodeName === nodeName) ?? []
  const attached =
    status && `${status.volumesAttached?.length ?? 0} in node.status.volumesAttached, ${own.length} VolumeAttachments`
  return factsOf([
    ['Kubelet', status?.nodeInfo?.kubeletVersion],
    ['Attached', attached],
    ['In use', status && `${status.volumesInUse?.length ?? 0} in node.status.volumesInUse`],
    ['Ready', ready && `${ready.status}, heartbeat of ${ready.lastHeartbeatTime ?? 'unknown time'}`],
    ['Booted', bootTime, 'this host'],
  ])
}
