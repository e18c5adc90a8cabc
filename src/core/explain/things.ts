/** Everything on a node and in its API that can be asked about, with the names under which it goes, and what a name means. */

import { volctl } from '../base/command.ts'
import { compareText } from '../base/compare-text.ts'
import { count } from '../base/count.ts'
import { NotFound, VolctlError } from '../base/errors.ts'
import { nearNames } from '../base/near-names.ts'
import { take } from '../base/take.ts'
import type { VolumeRow } from '../facts/row.ts'
import { uniqueNameOf } from '../facts/sources.ts'
import { namespacedName, podName } from '../plan/pod-name.ts'
import { type PlanContext, podRefOf } from '../reconcile/context/context.ts'
import { readFailures } from '../volumes/api-lookup.ts'
import { namedUids, podNamespace } from '../volumes/pods.ts'
import { type SubjectKind, splitPrefix } from './kinds.ts'

/** Devices and paths are found by their shape and are none of these (target-scope.ts). */
export interface Thing {
  readonly kind: Exclude<SubjectKind, 'Device' | 'Mount' | 'Path'>
  /** Of a claim NAMESPACE/NAME, of a pod its UID. */
  readonly name: string
  /** What to ask for, to mean this and nothing else. */
  readonly ask: string
  readonly names: readonly string[]
  /** A few words that distinguish it from others of its name. */
  readonly about: string
  /** The volume that is behind it; undefined: there is none. */
  readonly volume?: VolumeRow | undefined
}

export function allThings(context: PlanContext): readonly Thing[] {
  return [
    ...pods(context),
    ...claims(context),
    ...persistentVolumes(context),
    ...attachments(context),
    ...nodeVolumes(context),
    ...drivers(context),
  ]
}

/** Every CSI driver that this node, its API or its volumes name. */
function drivers({ inputs, ledger }: PlanContext): Thing[] {
  const { api, csiSockets = [], nodeName } = inputs.snapshot
  const names = [
    ...csiSockets.map(({ driver }) => driver),
    ...(api?.csiNode?.spec.drivers ?? []).map(({ name }) => name),
    ...(api?.csiDrivers ?? []).map(({ metadata }) => metadata.name),
    ...(api?.volumeAttachments ?? []).filter(({ spec }) => spec.nodeName === nodeName).map(({ spec }) => spec.attacher),
    ...ledger.all.map(({ identity }) => identity?.driver),
  ]
  const sorted = [...new Set(names.flatMap((name) => name || []))].toSorted(compareText)
  return sorted.map((name) => ({ kind: 'Driver', name, ask: `driver/${name}`, names: [name], about: 'CSI driver' }))
}

function pods({ classes }: PlanContext): Thing[] {
  const bearers = Map.groupBy(classes.all, ({ ref }) => namespacedName(ref))
  return classes.all.map(({ uid, ref, pod, class: name, why }) => {
    const full = ref.name === undefined ? undefined : namespacedName(ref)
    return {
      kind: 'Pod',
      name: uid,
      ask: `pod/${full !== undefined && bearers.get(full)?.length === 1 ? full : uid}`,
      names: [uid, ...(pod === undefined ? [] : namedUids(pod)), ...[full, ref.name].flatMap((each) => each ?? [])],
      about: [full, pod === undefined ? 'not in the API' : 'in the API', why?.code ?? name]
        .filter((each) => each !== undefined)
        .join(', '),
    }
  })
}

/** Those in the API, and those that only a pod or a PersistentVolume names any more. */
function claims({ inputs, ledger }: PlanContext): Thing[] {
  const found = (inputs.snapshot.api?.persistentVolumeClaims ?? []).map(({ metadata, spec }) => {
    const full = namespacedName(metadata)
    const volume = ledger.ofPersistentVolume(spec.volumeName ?? '') ?? ledger.ofClaim(full)
    return claimThing(full, `claim ${full}`, volume, uidOf(metadata))
  })
  const referred = ledger.all.flatMap((volume) => {
    const { claimRef } = { ...volume.persistentVolume?.spec }
    return [
      ...volume.unresolved.flatMap(({ claimName, pod }) =>
        claimName === undefined
          ? []
          : claimThing(`${podNamespace(pod)}/${claimName}`, 'claim that a pod refers to', volume),
      ),
      ...(claimRef?.name === undefined
        ? []
        : [claimThing(namespacedName(claimRef), 'claim that a PersistentVolume refers to', volume)]),
    ]
  })
  return [...Map.groupBy([...found, ...referred], ({ name }) => name).values()].flatMap(([first]) => first ?? [])
}

function claimThing(full: string, about: string, volume: VolumeRow | undefined, uids: readonly string[] = []): Thing {
  const [, own = ''] = full.split('/')
  return { kind: 'PersistentVolumeClaim', name: full, ask: `pvc/${full}`, names: [full, own, ...uids], about, volume }
}

/** A snapshot of another tool, or what only refers to an object, may be without its UID. */
function uidOf({ uid }: { readonly uid?: string }): string[] {
  return uid === undefined ? [] : [uid]
}

function persistentVolumes({ inputs, ledger }: PlanContext): Thing[] {
  const { api } = inputs.snapshot
  const objects = new Map((api?.persistentVolumes ?? []).map(({ metadata }) => [metadata.name, metadata]))
  const named = ledger.all
    .flatMap(({ unresolved, attachment }) => [
      ...unresolved.map(({ persistentVolumeName }) => persistentVolumeName),
      attachment?.spec.source.persistentVolumeName,
    ])
    .flatMap((name) => name || [])
  return [...new Set([...objects.keys(), ...named])].map((name) => ({
    kind: 'PersistentVolume',
    name,
    ask: `pv/${name}`,
    names: [name, ...uidOf(objects.get(name) ?? {})],
    about: objects.has(name) ? 'PersistentVolume' : 'PersistentVolume that was deleted from the API',
    volume: ledger.ofPersistentVolume(name),
  }))
}

function attachments({ inputs, ledger }: PlanContext): Thing[] {
  return (inputs.snapshot.api?.volumeAttachments ?? []).map(({ metadata, spec }) => ({
    kind: 'VolumeAttachment',
    name: metadata.name,
    ask: `va/${metadata.name}`,
    names: [metadata.name, ...uidOf(metadata)],
    about: `VolumeAttachment to ${spec.nodeName}`,
    volume: ledger.ofAttachment(metadata.name),
  }))
}

/** One for each volume, with its names in all pods. */
function nodeVolumes(context: PlanContext): Thing[] {
  const bearers = Map.groupBy(context.classes.all, ({ ref }) => podName(ref))
  return context.ledger.all.flatMap((volume): Thing[] => {
    const uids = [...volume.podUids]
    const pods = uids.map((uid) => podName(podRefOf(context, uid)))
    const calls = podVolumeNames(volume)
    const inPods = [...calls].flatMap(([uid, names]) =>
      [...names].flatMap((name) => [`${uid}/${name}`, `${podName(podRefOf(context, uid))}/${name}`]),
    )
    // What a pod calls it is read more easily than its unique name, where it is one pod's alone.
    const [pod] = pods
    const [own] = calls.get(uids[0] ?? '') ?? []
    const isOnePods = volume.persistentVolume === undefined && pods.length === 1 && bearers.get(pod ?? '')?.length === 1
    const ask = own !== undefined && isOnePods ? `${pod}/${own}` : (volume.uniqueName ?? inPods[0])
    const name = ask ?? [...volume.names][0] ?? volume.directories[0]
    if (name === undefined) return []
    const { identity } = volume
    const handles = identity === undefined ? [] : [`${identity.driver}^${identity.handle}`]
    return [
      {
        kind: 'Volume',
        name,
        ask: ask === undefined ? name : `volume/${name}`,
        names: [...volume.names, ...inPods, ...handles],
        about: pods.length === 0 ? 'volume' : `volume of pod ${pods.join(', ')}`,
        volume,
      },
    ]
  })
}

/** What each pod calls it, by UID. */
function podVolumeNames(volume: VolumeRow): ReadonlyMap<string, ReadonlySet<string>> {
  const { wanted, ended, unresolved, onDisk, leaked, maps } = volume
  const calls = [
    ...[...wanted, ...ended].flatMap(({ podUid, podVolumeNames, specName }) =>
      [...podVolumeNames, specName].map((name) => ({ podUid, name })),
    ),
    ...unresolved.map(({ podUid, podVolumeName: name }) => ({ podUid, name })),
    ...onDisk,
    ...leaked.map(({ podUid, volumeName: name }) => ({ podUid, name })),
    ...maps.flatMap(({ name, mappings }) => mappings.map(({ podUid }) => ({ podUid, name }))),
  ]
  const byPod = Map.groupBy(calls, ({ podUid }) => podUid)
  return new Map([...byPod].map(([uid, own]) => [uid, new Set(own.map(({ name }) => name))]))
}

/**
 * What a name means: one thing, or the pods of one name, where something is left of one that another has replaced.
 *
 * @param what a name, or kind/name
 * @throws VolctlError AmbiguousName, NotFound: of several, or none, it says what to ask for instead
 */
export function thingsCalled(context: PlanContext, all: readonly Thing[], what: string): readonly [Thing, ...Thing[]] {
  const [first, ...others] = matching(all, what)
  if (first === undefined) throw notFound(context, all, what)
  const found = [first, ...others] as const
  const ofPods = found.map(({ kind, name }) => (kind === 'Pod' ? context.classes.of(name)?.ref : undefined))
  const names = new Set(ofPods.map((ref) => (ref?.name === undefined ? undefined : namespacedName(ref))))
  if (found.length === 1 || (names.size === 1 && !names.has(undefined))) return found
  const asks = take(
    found.map(({ ask, about }) => `${ask} (${about})`),
    MOST_CANDIDATES,
  )
  const message = `"${what}" is ambiguous on node ${context.inputs.snapshot.nodeName}: ${asks.join(', ')}`
  throw new Ambiguous('AmbiguousName', message, {
    hint: `Name one of them: ${volctl('explain', first.ask)}`,
  })
}

const MOST_CANDIDATES = 10

/** Several things have the name. */
export class Ambiguous extends VolctlError {}

/** All that the name may mean: whole names before the beginnings of UIDs. */
function matching(all: readonly Thing[], what: string): readonly Thing[] {
  const { kind, name } = splitPrefix(what)
  const ofKind = all.filter((thing) => thing.kind === kind)
  // A namespace may be called like a kind; a name comes before the beginning of another.
  const found = [
    ofKind.filter(({ names }) => names.includes(name)),
    oneForEachVolume(all.filter(({ names }) => names.includes(what))),
    beginning(kind === undefined ? all : ofKind, name),
  ]
  return found.find((each) => each.length > 0) ?? []
}

/** Long enough not to be a name by chance; `csi-` begins the names of VolumeAttachments. */
const BEGINNING = /^(?:csi-)?[0-9a-f]{3}[0-9a-f-]*$/
const WHOLE = /^(?:csi-)?[0-9a-f]{8}[0-9a-f-]{24,}$/

/** The beginning of a UID, or of an attachment's name, as crictl and docker take the beginning of an ID. */
function beginning(all: readonly Thing[], text: string): Thing[] {
  if (!BEGINNING.test(text)) return []
  return all.filter(
    ({ names, kind }) => kind !== 'Volume' && names.some((name) => name.startsWith(text) && WHOLE.test(name)),
  )
}

const RANKS: readonly SubjectKind[] = ['PersistentVolumeClaim', 'PersistentVolume', 'VolumeAttachment', 'Volume']

/** A claim, its PersistentVolume and the volume on disk are one thing, and often have one name. */
function oneForEachVolume(found: readonly Thing[]): Thing[] {
  return found.filter(
    ({ volume, kind }) =>
      volume === undefined ||
      found.every(
        (each) =>
          (each.volume !== volume && !isOf(volume, each.volume)) || RANKS.indexOf(each.kind) >= RANKS.indexOf(kind),
      ),
  )
}

/** Also what a state file names, where what is mounted contradicts that (S17): a person asks for one volume. */
function isOf({ unidentified, onDisk }: VolumeRow, other: VolumeRow | undefined): boolean {
  const isNamed = ({ stateFile }: VolumeRow['onDisk'][number]): boolean =>
    stateFile?.data !== undefined && uniqueNameOf(stateFile.data) === other?.uniqueName
  return unidentified !== undefined && onDisk.length > 0 && onDisk.every(isNamed)
}

/** What may well exist, for it could not be read, is said (S3). */
function notFound({ inputs, classes }: PlanContext, all: readonly Thing[], what: string): NotFound {
  const { api, nodeName } = inputs.snapshot
  const failed = api === undefined ? [] : readFailures(api.errors).filter((each) => !each.notFound)
  const unread = [...new Set(failed.map(({ resource }) => resource ?? 'objects'))]
  const counts = [
    count(classes.all.length, 'pod'),
    count(api?.persistentVolumeClaims.length ?? 0, 'claim'),
    count(api?.persistentVolumes.length ?? 0, 'PersistentVolume'),
    count(api?.volumeAttachments.length ?? 0, 'VolumeAttachment'),
    count(all.filter(({ kind }) => kind === 'Volume').length, 'volume'),
    count(all.filter(({ kind }) => kind === 'Driver').length, 'driver'),
  ]
  const caveat = unread.length === 0 ? '' : `; not all ${unread.join(', ')} could be read`
  return new NotFound(`"${what}" was not found on node ${nodeName}; searched: ${counts.join(', ')}${caveat}`, {
    // Names of a log are asked for by the hundred, and nobody reads the hints.
    hint: () => {
      // Static pods bear the name of their node, and are not it.
      const near = what.slice(what.lastIndexOf('/') + 1) === nodeName ? [] : nearest(all, what)
      return near.length > 0 ? `Did you mean ${near.join(', ')}?` : WAYS_TO_ASK
    },
  })
}

const WAYS_TO_ASK =
  'Give NAMESPACE/POD, a UID, pvc/NAMESPACE/NAME, pv/NAME, driver/NAME, the name of a VolumeAttachment or volume, an absolute path, or a device. All volumes of the node: volctl status'

const MOST_NEAR = 5

/** What somebody may have meant who named nothing, as what to ask for: the nearest first, each thing once. */
function nearest(all: readonly Thing[], what: string): string[] {
  const { name } = splitPrefix(what)
  // The namespace may be another.
  const own = (full: string): string => full.slice(full.lastIndexOf('/') + 1)
  const bearers = Map.groupBy(
    all.flatMap((thing) => thing.names.flatMap((each) => [each, own(each)].map((bearing) => ({ bearing, thing })))),
    ({ bearing }) => bearing,
  )
  const near = [name, own(name)].flatMap((each) => nearNames(each, bearers.keys(), MOST_NEAR))
  const things = near.flatMap((each) => (bearers.get(each) ?? []).map(({ thing }) => thing))
  const ofEach = Map.groupBy(things, (thing) => thing.volume ?? thing)
  return [...ofEach.values()].slice(0, MOST_NEAR).flatMap(([first]) => first?.ask ?? [])
}
