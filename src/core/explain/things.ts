/** Everything on a node and in its API that can be asked about, with the names under which it goes, and what a name means. */

import { alike, compareText, count, nearNames, present, take } from '../base/text.ts'
import { uniqueNameOf, type VolumeRow } from '../facts/row.ts'
import { namespacedName } from '../kube/api/names.ts'
import { advice, type Hint, marked, volctl } from '../messages/command.ts'
import { said, VolctlError } from '../messages/findings.ts'
import { type PlanContext, podNameOf } from '../rules/context.ts'
import { readFailures } from '../volumes/api-lookup.ts'
import { namedUids, podName, podNamespace } from '../volumes/pods.ts'
import { SUBJECTS, type SubjectKind, splitPrefix } from './kinds.ts'

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
  readonly volume?: VolumeRow
}

/** What distinguishes it; the rest follows. Of the other names some may not be known. */
type Known = Pick<Thing, 'kind' | 'name' | 'about'> &
  Partial<Pick<Thing, 'ask' | 'volume'>> & { readonly names?: readonly (string | undefined)[] }

export function allThings(context: PlanContext): readonly Thing[] {
  const all = [pods, claims, persistentVolumes, attachments, nodeVolumes, drivers].flatMap((find) => find(context))
  return all.map(({ ask, names = [], ...each }) => ({
    ...each,
    ask: ask ?? `${SUBJECTS[each.kind].split(' ')[0]}/${each.name}`,
    names: [each.name, ...names.flatMap((name) => name ?? [])],
  }))
}

/** Every CSI driver that this node, its API or its volumes name. */
function drivers({ inputs, ledger }: PlanContext): Known[] {
  const { api, csiSockets = [], nodeName } = inputs.snapshot
  const names = [
    ...csiSockets.map(({ driver }) => driver),
    ...(api?.csiNode?.spec.drivers ?? []).map(({ name }) => name),
    ...(api?.csiDrivers ?? []).map(({ metadata }) => metadata.name),
    ...(api?.volumeAttachments ?? []).filter(({ spec }) => spec.nodeName === nodeName).map(({ spec }) => spec.attacher),
    ...ledger.all.map(({ identity }) => identity?.driver),
  ]
  const sorted = [...new Set(names.flatMap((name) => name || []))].toSorted(compareText)
  return sorted.map((name) => ({ kind: 'Driver', name, about: 'CSI driver' }))
}

function pods({ classes }: PlanContext): Known[] {
  const bearers = Map.groupBy(classes.all, ({ ref }) => podName(ref))
  return classes.all.map(({ uid, ref, pod, class: name, why }) => {
    const full = ref.name === undefined ? undefined : podName(ref)
    const isOnly = full !== undefined && bearers.get(full)?.length === 1
    const about = present(full, pod === undefined ? 'not in the API' : 'in the API', why?.code ?? name).join(', ')
    const names = [...(pod === undefined ? [] : namedUids(pod)), full, ref.name]
    return { kind: 'Pod', name: uid, about, ask: isOnly ? `pod/${full}` : undefined, names }
  })
}

/** Those in the API, and those that only a pod or a PersistentVolume names any more. */
function claims({ inputs, ledger }: PlanContext): Known[] {
  const claim = (name: string, about: string, volume: VolumeRow | undefined, uid?: string): Known => {
    return { kind: 'PersistentVolumeClaim', name, about, names: [ownName(name), uid], volume }
  }
  const found = (inputs.snapshot.api?.persistentVolumeClaims ?? []).map(({ metadata, spec }) => {
    const full = namespacedName(metadata)
    const volume = ledger.ofPersistentVolume(spec.volumeName ?? '') ?? ledger.ofClaim(full)
    return claim(full, `claim ${full}`, volume, metadata.uid)
  })
  const referred = ledger.all.flatMap((volume) => {
    const { claimRef } = { ...volume.persistentVolume?.spec }
    const ofPods = volume.unresolved.flatMap(({ claimName: name, pod }) =>
      name === undefined ? [] : { namespace: podNamespace(pod), name },
    )
    return [
      ...ofPods.map((each) => claim(namespacedName(each), 'claim that a pod refers to', volume)),
      ...(claimRef?.name === undefined
        ? []
        : [claim(namespacedName(claimRef), 'claim that a PersistentVolume refers to', volume)]),
    ]
  })
  return alike([...found, ...referred], ({ name }) => name).map(([first]) => first)
}

function persistentVolumes({ inputs, ledger }: PlanContext): Known[] {
  const { persistentVolumes: objects = [] } = inputs.snapshot.api ?? {}
  const uids = new Map(objects.map(({ metadata }) => [metadata.name, metadata.uid]))
  // One that was made anew for the same handle stands beside the one that the attachment still names.
  const named = ledger.all.flatMap(({ unresolved, attachment }) =>
    present(
      ...unresolved.map(({ persistentVolumeName }) => persistentVolumeName),
      attachment?.spec.source.persistentVolumeName,
    ),
  )
  return [...new Set([...uids.keys(), ...named])].map((name) => ({
    kind: 'PersistentVolume',
    name,
    about: `PersistentVolume${uids.has(name) ? '' : ' that was deleted from the API'}`,
    names: [uids.get(name)],
    volume: ledger.ofPersistentVolume(name),
  }))
}

function attachments({ inputs, ledger }: PlanContext): Known[] {
  return (inputs.snapshot.api?.volumeAttachments ?? []).map(({ metadata: { name, uid }, spec }) => ({
    kind: 'VolumeAttachment',
    name,
    about: `VolumeAttachment to ${spec.nodeName}`,
    names: [uid],
    volume: ledger.ofAttachment(name),
  }))
}

/** One for each volume, with its names in all pods. */
function nodeVolumes(context: PlanContext): Known[] {
  const bearers = Map.groupBy(context.classes.all, ({ ref }) => podName(ref))
  return context.ledger.all.flatMap((volume): Known[] => {
    const { identity, persistentVolume, uniqueName } = volume
    const pods = [...volume.podUids].map((uid) => ({ uid, called: podNameOf(context, uid) }))
    const calls = podVolumeNames(volume)
    const inPods = pods.flatMap(({ uid, called }) =>
      [...(calls.get(uid) ?? [])].flatMap((name) => [`${uid}/${name}`, `${called}/${name}`]),
    )
    // What a pod calls it is read more easily than its unique name, where it is one pod's alone.
    const [pod, ...others] = pods
    const [own] = calls.get(pod?.uid ?? '') ?? []
    const isOnePods =
      others.length === 0 && persistentVolume === undefined && bearers.get(pod?.called ?? '')?.length === 1
    const ask = own !== undefined && isOnePods ? `${pod?.called}/${own}` : (uniqueName ?? inPods[0])
    const name = ask ?? [...volume.names][0] ?? volume.directories[0]
    if (name === undefined) return []
    const handle = identity && `${identity.driver}^${identity.handle}`
    const about = pod === undefined ? 'volume' : `volume of pod ${pods.map(({ called }) => called).join(', ')}`
    const names = [...volume.names, ...inPods, handle]
    return [{ kind: 'Volume', name, about, ask: ask === undefined ? name : undefined, names, volume }]
  })
}

/** What each pod calls it, by UID. */
function podVolumeNames(volume: VolumeRow) {
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
  // Pods of one name are one.
  const distinct = new Set(found.map((each) => (each.kind === 'Pod' ? podNameOf(context, each.name) : each)))
  if (distinct.size === 1) return found
  const asks = take(
    found.map(({ ask, about }) => `${ask} (${about})`),
    MOST_CANDIDATES,
  )
  throw new Ambiguous(
    said('AmbiguousName.kinds', {
      name: what,
      nodeName: context.inputs.snapshot.nodeName,
      candidates: asks.join(', '),
    }),
    {
      hint: advice`Name one of them: ${volctl('explain', first.ask)}`,
    },
  )
}

const MOST_CANDIDATES = 10

/** Several things have the name. */
export class Ambiguous extends VolctlError {}

/** All that the name may mean: whole names before the beginnings of UIDs. */
function matching(all: readonly Thing[], what: string): readonly Thing[] {
  const { kind, name } = splitPrefix(what)
  const ofKind = kind === undefined ? all : all.filter((each) => each.kind === kind)
  // A namespace may be called like a kind; a name comes before the beginning of another.
  const found = [called(ofKind, name), called(all, what), beginning(ofKind, name)]
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
function called(all: readonly Thing[], name: string): Thing[] {
  const found = all.filter(({ names }) => names.includes(name))
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
function notFound({ inputs, classes }: PlanContext, all: readonly Thing[], what: string): VolctlError {
  const { api, nodeName } = inputs.snapshot
  const failed = api === undefined ? [] : readFailures(api.errors).filter((each) => !each.notFound)
  const unread = [...new Set(failed.map(({ resource }) => resource ?? 'objects'))].join(', ')
  const searched = [
    count(classes.all.length, 'pod'),
    count(api?.persistentVolumeClaims.length ?? 0, 'claim'),
    count(api?.persistentVolumes.length ?? 0, 'PersistentVolume'),
    count(api?.volumeAttachments.length ?? 0, 'VolumeAttachment'),
    count(all.filter(({ kind }) => kind === 'Volume').length, 'volume'),
    count(all.filter(({ kind }) => kind === 'Driver').length, 'driver'),
  ].join(', ')
  const hint = (): Hint => {
    // Worked out late: names of a log are asked for by the hundred, and nobody reads the hints.
    // Static pods bear the name of their node, and are not it.
    const near = ownName(what) === nodeName ? [] : nearest(all, what)
    return near.length > 0 ? `Did you mean ${near.join(', ')}?` : WAYS_TO_ASK
  }
  const sentence = unread === '' ? 'NotFound.name' : 'NotFound.unread'
  return new VolctlError(said(sentence, { what, nodeName, searched, unread }), { hint })
}

const WAYS_TO_ASK = marked(
  'Give NAMESPACE/POD, a UID, pvc/NAMESPACE/NAME, pv/NAME, driver/NAME, the name of a VolumeAttachment or volume, an absolute path, or a device. All volumes of the node: `volctl status`',
)

const MOST_NEAR = 5

/** What somebody may have meant who named nothing, as what to ask for: the nearest first, each thing once. */
function nearest(all: readonly Thing[], what: string): string[] {
  const { name } = splitPrefix(what)
  const names = all.flatMap((each) => each.names.flatMap((bears) => [bears, ownName(bears)]))
  const near = [name, ownName(name)].flatMap((each) => nearNames(each, names, MOST_NEAR))
  const things = near.flatMap((one) =>
    all.filter((each) => each.names.some((bears) => bears === one || ownName(bears) === one)),
  )
  return alike(things, (each) => each.volume ?? each)
    .slice(0, MOST_NEAR)
    .map(([{ ask }]) => ask)
}

/** Without its namespace, which may be another. */
function ownName(full: string): string {
  return full.slice(full.lastIndexOf('/') + 1)
}
