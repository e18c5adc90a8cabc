/** What a question is about: the thing itself, and the pods, volumes and paths to which an answer looks. */

import { volctl } from '../base/command.ts'
import { NotFound } from '../base/errors.ts'
import { lazy } from '../base/memoize.ts'
import type { VolumeRow } from '../facts/row.ts'
import type { Scope } from '../facts/scope.ts'
import { podName } from '../plan/pod-name.ts'
import { type PlanContext, podRefOf } from '../reconcile/context/context.ts'
import { objectLinks } from './chain-objects.ts'
import type { Asked } from './concern.ts'
import { driverSockets } from './driver.ts'
import type { Fact } from './explanation.ts'
import { splitPrefix } from './kinds.ts'
import { placeTarget } from './place-target.ts'
import { allThings, type Thing, thingsCalled } from './things.ts'

/**
 * Finds what is meant by a name, kind/name, a UID, an absolute path, or a device. What it returns throws VolctlError
 * NotFound and AmbiguousName.
 */
export function asker(context: PlanContext): (what: string) => Asked {
  // A path is found without them.
  const things = lazy(() => allThings(context))
  return (what) => {
    const place = placeIn(what)
    if (place !== undefined) return placeTarget(context, place)
    return isThisNodeAsked(context, things(), what)
      ? ofNode(context)
      : ofThings(context, thingsCalled(context, things(), what))
  }
}

/** What is asked of a path or a device; undefined: of something else. `mount//a` is `mount/a`, `device/loop3` is one in /dev. */
function placeIn(what: string): string | undefined {
  const { kind, name } = splitPrefix(what)
  const isNumber = /^\d+:\d+$/.test(name)
  if (what.startsWith('/') || (kind === undefined && isNumber)) return what
  if (kind === 'Device') return isNumber || name.startsWith('/') ? name : `/dev/${name}`
  if (kind !== 'Path' && kind !== 'Mount') return undefined
  return name.startsWith('/') ? name : `/${name}`
}

/**
 * @param things what else has names: a namespace may be called node, a pod like the node
 * @returns whether this node is meant
 * @throws VolctlError NotFound, of another node
 */
function isThisNodeAsked({ inputs }: PlanContext, things: readonly Thing[], what: string): boolean {
  const { nodeName, api } = inputs.snapshot
  const { kind, name } = splitPrefix(what)
  const own = [nodeName, api?.node?.metadata.labels?.['kubernetes.io/hostname']]
  if (kind === 'Node' && own.includes(name)) return true
  if (things.some(({ names }) => names.includes(what))) return false
  if (kind === undefined) return own.includes(what)
  if (kind !== 'Node') return false
  throw new NotFound(`node "${name}" is another node, or none: this one is ${nodeName}`, {
    hint: `Run volctl on that node, or give a snapshot of it (--snapshot). Of this one: ${volctl('explain', `node/${nodeName}`)}`,
  })
}

const NO_SCOPE: Scope = { pods: [], only: [], volumes: [], paths: [] }

function ofNode(context: PlanContext): Asked {
  const { inputs, ledger } = context
  const subject = { kind: 'Node', name: inputs.snapshot.nodeName } as const
  const scope = { ...NO_SCOPE, volumes: ledger.all.filter(isHere), node: true } as const
  return { subject, identity: nodeFacts(context), places: [], scope }
}

/** Volumes that only the API has, for other nodes, are not this one's. */
export function isHere({ wanted, unresolved, havingUids, staged, maps, globals, attachment }: VolumeRow): boolean {
  const parts = [wanted, unresolved, staged, maps, globals].map(({ length }) => length)
  return attachment !== undefined || havingUids.size > 0 || parts.some((length) => length > 0)
}

function ofThings(context: PlanContext, things: readonly [Thing, ...Thing[]]): Asked {
  const [first] = things
  const { kind, name } = first
  const subject = { kind, name: kind === 'Pod' ? podName(podRefOf(context, name)) : name }
  const [identity, chain] = [identityOf(context, things), objectLinks(context, first)]
  return { subject, identity, chain, places: [], scope: scopeOf(context, first, things) }
}

function scopeOf(context: PlanContext, { kind, name, volume }: Thing, things: readonly Thing[]): Scope {
  const { ledger } = context
  if (kind === 'Driver')
    return { ...NO_SCOPE, driver: { name, sockets: driverSockets(context, name), rows: ledger.keysOfDriver(name) } }
  if (kind !== 'Pod') return { ...NO_SCOPE, volumes: volume === undefined ? [] : [volume] }
  const uids = things.map((each) => each.name)
  return { ...NO_SCOPE, pods: uids, only: uids, volumes: [...new Set(uids.flatMap((uid) => ledger.ofPod(uid)))] }
}

// What a thing is, where its chain does not say it, and where that was learned.

/** From the API, unless another source is named; without a value nothing is said. */
type Row = readonly [label: string, value: string | number | null | undefined, from?: string]

function factsOf(rows: readonly Row[]): Fact[] {
  return rows.flatMap(([label, value, from = 'API']) =>
    value == null || value === '' ? [] : [{ label, value: String(value), from }],
  )
}

/** Of a pod and a volume what neither chain nor plan says. */
function identityOf({ inputs }: PlanContext, things: readonly Thing[]): Fact[] {
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
function nodeFacts({ inputs }: PlanContext): Fact[] {
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
