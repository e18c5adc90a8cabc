/** What a question is about: the thing itself, and the pods, volumes and paths to which an answer looks. */

import { compareText } from '../base/compare-text.ts'
import { count } from '../base/count.ts'
import { NotFound } from '../base/errors.ts'
import { distanceOf } from '../base/near-names.ts'
import { attachmentRecord, claimRecord } from '../cluster/read/records.ts'
import type { VolumeRow } from '../facts/row.ts'
import type { Scope } from '../facts/scope.ts'
import { isUid } from '../kube/api/names.ts'
import { namespacedName, podName } from '../plan/pod-name.ts'
import { type PlanContext, podRefOf } from '../reconcile/context/context.ts'
import { identifyAttachment } from '../reconcile/identity/attachment-identity.ts'
import { type Lookup, mapFound } from '../volumes/api-lookup.ts'
import { readFailures } from '../volumes/read-failures.ts'
import { PLUGINS } from '../volumes/registry.ts'
import { allCandidates, type Candidate, type Found, type Target } from './candidates.ts'
import { apiObjects } from './chain-objects.ts'
import { type DriverTarget, driverTarget } from './driver-target.ts'
import type { Fact, Place, Subject } from './explanation.ts'
import { splitPrefix } from './kinds.ts'
import { AmbiguousThing, matching, type Nameable } from './match-name.ts'
import { isThisNodeAsked, volumesHere } from './node-target.ts'
import { attachmentRows, claimRows, deletionRows, factsOf, type Row, volumeRows } from './objects.ts'
import { placeTarget } from './path-target.ts'
import type { PlaceTarget } from './places.ts'

export interface Asked {
  readonly subject: Subject
  readonly identity: readonly Fact[]
  readonly places: readonly Place[]
  readonly scope: Scope
  /** Names in /dev, where it was a device. */
  readonly devices?: readonly string[]
  readonly driver?: DriverTarget
  /** Why nothing is to be done, where it is no pod and no volume. */
  readonly because?: string | undefined
}

/**
 * Finds what is meant by a name, kind/name, a UID, an absolute path, or a device. What it returns throws VolctlError
 * NotFound and AmbiguousName.
 */
export function asker(context: PlanContext): (what: string) => Asked {
  // A path is found without them.
  let made: readonly Candidate[] | undefined
  const candidates = (): readonly Candidate[] => {
    made ??= allCandidates(context)
    return made
  }
  return (what) => {
    if (isPlace(what)) return ofPlace(placeTarget(context, placeName(what)))
    // A pod's UID means the pod: nothing else has to be looked through.
    const pod = isUid(what) ? context.classes.of(what) : undefined
    if (pod === undefined && isThisNodeAsked(context, candidates(), what)) return ofNode(context)
    if (pod === undefined) return ofFound(context, findTarget(context, candidates(), what))
    return ofFound(context, { target: { kind: 'Pod', uids: [pod.uid] } })
  }
}

function isPlace(what: string): boolean {
  const { kind, name } = splitPrefix(what)
  if (kind === 'Path' || kind === 'Mount' || kind === 'Device') return true
  return what.startsWith('/') || /^\d+:\d+$/.test(kind === undefined ? what : name)
}

/** `mount//a` and `mount/a` are the same path, `device/loop3` is one in /dev. */
function placeName(what: string): string {
  const { kind, name } = splitPrefix(what)
  if (kind === undefined || what.startsWith('/')) return what
  if (kind === 'Device') return /^\d+:\d+$/.test(name) || name.startsWith('/') ? name : `/dev/${name}`
  return name.startsWith('/') ? name : `/${name}`
}

function ofPlace({ facts: identity, volumes, pods, paths, ...rest }: PlaceTarget): Asked {
  return { ...rest, identity, scope: { pods, only: pods, volumes, paths } }
}

/** Its facts take the plan: explain.ts has them. */
function ofNode({ inputs, ledger }: PlanContext): Asked {
  const subject = { kind: 'Node', name: inputs.snapshot.nodeName } as const
  return { subject, identity: [], places: [], scope: { ...NO_SCOPE, volumes: volumesHere(ledger), node: true } }
}

function ofFound(context: PlanContext, { target, volume }: Found): Asked {
  const identity = identityOf(context, target, volume)
  if (target.kind === 'Pod') return { ...ofPods(context, target.uids), identity }
  if (target.kind === 'Driver') {
    const driver = driverTarget(context, target.name)
    const rows = context.ledger.keysOfDriver(target.name)
    const scope = { ...NO_SCOPE, driver: { name: target.name, sockets: driver.sockets, rows } }
    return { subject: { kind: 'Driver', name: target.name }, identity, places: [], scope, driver }
  }
  const name = target.kind === 'PersistentVolumeClaim' ? `${target.namespace}/${target.name}` : target.name
  const volumes = volume === undefined ? [] : [volume]
  return { subject: { kind: target.kind, name }, identity, places: [], scope: { ...NO_SCOPE, volumes } }
}

const NO_SCOPE: Scope = { pods: [], only: [], volumes: [], paths: [] }

function ofPods(context: PlanContext, uids: readonly string[]): Omit<Asked, 'identity'> {
  const name = podName(podRefOf(context, uids[0] ?? ''))
  const own = [...new Set(uids.flatMap((uid) => context.ledger.ofPod(uid)))]
  return { subject: { kind: 'Pod', name }, places: [], scope: { ...NO_SCOPE, pods: uids, only: uids, volumes: own } }
}

/** What a name means: one thing. @throws VolctlError AmbiguousName, NotFound: of several, or none, it says what to ask for instead */
function findTarget(context: PlanContext, candidates: readonly Candidate[], what: string): Found {
  const found = matching(candidates, what)
  const [first] = found
  if (first === undefined) throw notFound(context, candidates, what)
  const only = found.length === 1 ? first : samePod(context, found)
  if (only === undefined) throw new AmbiguousThing(`on node ${context.inputs.snapshot.nodeName}`, what, found)
  return only
}

/** A pod and what is left of another that it has replaced: both are meant. */
function samePod({ classes }: PlanContext, found: readonly Candidate[]): Found | undefined {
  const uids = found.flatMap(({ target }) => (target.kind === 'Pod' ? target.uids : []))
  const names = new Set(
    uids.map((uid) => {
      const ref = classes.of(uid)?.ref
      return ref?.name === undefined ? undefined : namespacedName(ref)
    }),
  )
  if (uids.length !== found.length || names.size !== 1 || names.has(undefined)) return undefined
  return { target: { kind: 'Pod', uids } }
}

function notFound({ inputs, classes }: PlanContext, candidates: readonly Candidate[], what: string): NotFound {
  const { api, nodeName } = inputs.snapshot
  const failed = api === undefined ? [] : readFailures(api.errors).filter((each) => !each.notFound)
  return nothingFound(candidates, what, {
    place: `on node ${nodeName}`,
    counts: [
      count(classes.all.length, 'pod'),
      count(api?.persistentVolumeClaims.length ?? 0, 'claim'),
      count(api?.persistentVolumes.length ?? 0, 'PersistentVolume'),
      count(api?.volumeAttachments.length ?? 0, 'VolumeAttachment'),
      count(candidates.filter(({ target }) => target.kind === 'Volume').length, 'volume'),
      count(candidates.filter(({ target }) => target.kind === 'Driver').length, 'driver'),
    ],
    unread: [...new Set(failed.map(({ resource }) => resource ?? 'objects'))],
    hint: 'Give NAMESPACE/POD, a UID, pvc/NAMESPACE/NAME, pv/NAME, driver/NAME, the name of a VolumeAttachment or volume, an absolute path, or a device.',
  })
}

// What somebody may have meant who named nothing: of another namespace, of another kind, or written a little otherwise.

/** What a wrong namespace and a wrong kind count, in letters. */
const OTHER_NAMESPACE = 0.3
const OTHER_KIND = 0.5
const MOST_NEAR = 5

/** Where a name was looked for. */
interface Searched {
  /** "on node a" */
  readonly place: string
  /** How many of what. */
  readonly counts: readonly string[]
  /** What may well exist, for it could not be read (S3). */
  readonly unread: readonly string[]
  /** What can be given, where nothing is near. */
  readonly hint: string
}

/** @param what as it was asked, with or without a kind */
function nothingFound(
  candidates: readonly Nameable[],
  what: string,
  { place, counts, unread, hint }: Searched,
): NotFound {
  const caveat = unread.length === 0 ? '' : `; not all ${unread.join(', ')} could be read`
  return new NotFound(`"${what}" was not found ${place}; searched: ${counts.join(', ')}${caveat}`, {
    // Names of a log are asked for by the hundred, and nobody reads the hints.
    hint: () => {
      const near = nearCandidates(candidates, what)
      return near.length > 0 ? `Did you mean ${near.join(', ')}?` : hint
    },
  })
}

/** The nearest first, each thing once, as what to ask for. */
function nearCandidates(candidates: readonly Nameable[], what: string): string[] {
  const { kind, name } = splitPrefix(what)
  const scored = candidates.flatMap((candidate) => {
    const score = nearest(candidate.names, name)
    if (score === undefined) return []
    return [{ candidate, score: score + (kind === undefined || candidate.target.kind === kind ? 0 : OTHER_KIND) }]
  })
  const sorted = scored.toSorted((a, b) => a.score - b.score || compareText(a.candidate.ask, b.candidate.ask))
  const seen = new Set<unknown>()
  return sorted
    .map(({ candidate }) => candidate)
    .filter((candidate) => {
      const thing = candidate.volume ?? candidate
      return !seen.has(thing) && seen.add(thing)
    })
    .slice(0, MOST_NEAR)
    .map(({ ask }) => ask)
}

/** By all of the name, or by its last part: the namespace may be another. */
function nearest(names: readonly string[], wanted: string): number | undefined {
  const own = wanted.slice(wanted.lastIndexOf('/') + 1)
  const scores = names.flatMap((name) => {
    const whole = distanceOf(wanted, name)
    const inOther = own === wanted || own === '' ? undefined : distanceOf(own, name.slice(name.lastIndexOf('/') + 1))
    return [whole ?? [], inOther === undefined ? [] : inOther + OTHER_NAMESPACE].flat()
  })
  return scores.length === 0 ? undefined : Math.min(...scores)
}

// What a thing is, and where that was learned. Never what a secret, or an object's attributes or annotations, hold.

/** Facts of the object that was asked for; those of the volume behind it are the volume's (describe-volume.ts). */
function identityOf(context: PlanContext, target: Target, volume: VolumeRow | undefined): Fact[] {
  return factsOf(rowsOf(context, target, volume))
}

function rowsOf(context: PlanContext, target: Target, volume: VolumeRow | undefined): readonly Row[] {
  const api = apiObjects(context)
  switch (target.kind) {
    case 'Pod':
      return target.uids.flatMap((uid) => podRows(context, uid))
    case 'PersistentVolumeClaim': {
      const found = api.claim(target.namespace, target.name)
      const { spec, status } = { ...objectOf(found) }
      return [
        ...claimRows(namespacedName(target), mapFound(found, claimRecord)),
        ['Access modes', spec?.accessModes?.join(', ')],
        ['Capacity', status?.capacity?.storage],
      ]
    }
    case 'PersistentVolume': {
      const spec = objectOf(api.volume(target.name))?.spec
      const source = PLUGINS.map((plugin) => spec && plugin.sourceText?.(spec)).find((text) => text !== undefined)
      return [
        ...volumeRows(target.name, api.volumeRecord(target.name), source),
        ['Capacity', spec?.capacity?.storage],
        ['Mode', spec?.volumeMode],
      ]
    }
    case 'VolumeAttachment':
      return attachmentFacts(context, target.name)
    case 'Volume':
      return volume === undefined ? [] : nameRows(volume)
    case 'Driver':
      return driverRows(context, target.name)
  }
}

function objectOf<T>(found: Lookup<T>): T | undefined {
  return found.state === 'Found' ? found.object : undefined
}

function podRows({ classes, inputs }: PlanContext, uid: string): readonly Row[] {
  const found = classes.of(uid)
  const { pod, ref } = { ...found }
  const name = ref?.name === undefined ? undefined : namespacedName(ref)
  const directory = inputs.absolute(`pods/${uid}`)
  return [
    ['Pod', name, pod === undefined ? 'container runtime' : 'API'],
    ['UID', uid, pod === undefined ? 'disk, mount table or container runtime' : 'API'],
    ['Created', pod?.metadata.creationTimestamp],
    ...deletionRows(pod?.metadata.deletionTimestamp, pod?.metadata.finalizers),
    ['Directory', inputs.tree.has(`pods/${uid}`) ? directory : `${directory}: not there`, 'disk'],
  ]
}

function attachmentFacts(context: PlanContext, name: string): readonly Row[] {
  const { api, nodeName } = context.inputs.snapshot
  const found = api?.volumeAttachments.find(({ metadata }) => metadata.name === name)
  if (found === undefined) return []
  const identity = found.spec.nodeName === nodeName ? identifyAttachment(context, found) : undefined
  return [...attachmentRows(attachmentRecord(found)), ['Handle', identity?.handle, identity?.from ?? '']]
}

function driverRows({ inputs }: PlanContext, name: string): readonly Row[] {
  const { api, csiSockets = [] } = inputs.snapshot
  const entry = api?.csiNode?.spec.drivers?.find((each) => each.name === name)
  const object = api?.csiDrivers.find(({ metadata }) => metadata.name === name)
  return [
    ['CSI driver', name, csiSockets.some(({ driver }) => driver === name) ? 'socket' : 'API and disk'],
    ['Node ID', entry?.nodeID, 'CSINode'],
    ['Lifecycle', object?.spec.volumeLifecycleModes?.join(', '), 'CSIDriver'],
    ['fsGroup', object?.spec.fsGroupPolicy, 'CSIDriver'],
    ['Created', object?.metadata.creationTimestamp, 'CSIDriver'],
  ]
}

function nameRows({ uniqueName, unidentified, names }: VolumeRow): readonly Row[] {
  return [
    ['Unique name', uniqueName, "the kubelet's naming rule"],
    ['Not identified', unidentified, 'disk'],
    ['Also called', [...names].filter((name) => name !== uniqueName).join(', '), 'API and disk'],
  ]
}
