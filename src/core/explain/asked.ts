/** What a question is about: the thing itself, and the pods, volumes and paths to which an answer looks. */
import { readFailures } from '../desired/read-failures.ts'
import type { NotFound } from '../errors/errors.ts'
import { count } from '../lang/count.ts'
import type { Scope } from '../ledger/whose.ts'
import { isUid } from '../names/uid.ts'
import { namespacedName, podName } from '../plan/pod-name.ts'
import { type PlanContext, podRefOf } from '../reconcile/context/context.ts'
import { allCandidates, type Candidate, type Found } from './candidates.ts'
import { type DriverTarget, driverTarget } from './driver-target.ts'
import type { Fact, Place, Subject } from './explanation.ts'
import { identityOf } from './identity.ts'
import { splitPrefix } from './kinds.ts'
import { AmbiguousThing, matching } from './match-name.ts'
import { nothingFound } from './near-candidates.ts'
import { isThisNodeAsked, volumesHere } from './node-target.ts'
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
