/** Everything on a node and in its API that can be asked about, with the names under which it goes. */

import { compareText } from '../base/compare-text.ts'
import type { VolumeRow } from '../facts/row.ts'
import { namespacedName, podName } from '../plan/pod-name.ts'
import { type PlanContext, podRefOf } from '../reconcile/context/context.ts'
import { namedUids, podNamespace } from '../volumes/pods.ts'
import type { Nameable } from './match-name.ts'

/** What was found; devices and paths are found by their shape and are no candidates (path-target.ts). */
export type Target =
  /** Several where a pod was replaced by one of its name, and something of the old one is left. */
  | { readonly kind: 'Pod'; readonly uids: readonly string[] }
  | { readonly kind: 'PersistentVolumeClaim'; readonly namespace: string; readonly name: string }
  | { readonly kind: 'PersistentVolume' | 'VolumeAttachment' | 'Volume' | 'Driver'; readonly name: string }

/** What a name means, and the volume that is behind it, where there is one. */
export interface Found {
  readonly target: Target
  readonly volume?: VolumeRow | undefined
}

export type Candidate = Nameable & Found

export function allCandidates(context: PlanContext): readonly Candidate[] {
  return [
    ...pods(context),
    ...claims(context),
    ...persistentVolumes(context),
    ...attachments(context),
    ...nodeVolumes(context),
    ...driverNames(context).map(driver),
  ]
}

/** A snapshot of another tool, or what only refers to an object, may be without its UID. */
function namesWith(name: string, uid: string | undefined): readonly string[] {
  return uid === undefined ? [name] : [name, uid]
}

function driver(name: string): Candidate {
  return { ask: `driver/${name}`, names: [name], about: 'CSI driver', target: { kind: 'Driver', name } }
}

/** Every CSI driver that this node, its API or its volumes name. */
function driverNames({ inputs, ledger }: PlanContext): readonly string[] {
  const { api, csiSockets = [], nodeName } = inputs.snapshot
  const names = [
    ...csiSockets.map(({ driver }) => driver),
    ...(api?.csiNode?.spec.drivers ?? []).map(({ name }) => name),
    ...(api?.csiDrivers ?? []).map(({ metadata }) => metadata.name),
    ...(api?.volumeAttachments ?? []).filter(({ spec }) => spec.nodeName === nodeName).map(({ spec }) => spec.attacher),
    ...ledger.all.map(({ identity }) => identity?.driver),
  ]
  return [...new Set(names.flatMap((name) => name || []))].toSorted(compareText)
}

function pods({ classes }: PlanContext): Candidate[] {
  const known = new Map<string, number>()
  for (const { ref } of classes.all) known.set(namespacedName(ref), (known.get(namespacedName(ref)) ?? 0) + 1)
  return classes.all.map(({ uid, ref, pod, class: name, why }) => {
    const full = namespacedName(ref)
    const own = ref.name === undefined ? [] : [full, ref.name]
    return {
      ask: ref.name === undefined || known.get(full) !== 1 ? `pod/${uid}` : `pod/${full}`,
      names: [uid, ...(pod === undefined ? [] : namedUids(pod)), ...own],
      about: `${ref.name === undefined ? '' : `${full}, `}${pod === undefined ? 'not in the API' : 'in the API'}, ${why?.code ?? name}`,
      target: { kind: 'Pod', uids: [uid] },
    }
  })
}

/** Those in the API, and those that only a pod or a PersistentVolume names any more. */
function claims({ inputs, ledger }: PlanContext): Candidate[] {
  const { api } = inputs.snapshot
  const found = new Map<string, Candidate>()
  const note = (namespace: string, names: readonly string[], about: string, volume: VolumeRow | undefined): void => {
    const [name = ''] = names
    const full = `${namespace}/${name}`
    if (found.has(full)) return
    const target = { kind: 'PersistentVolumeClaim', namespace, name } as const
    found.set(full, { ask: `pvc/${full}`, names: [full, ...names], about, target, volume })
  }
  for (const { metadata, spec } of api?.persistentVolumeClaims ?? []) {
    const { namespace = 'default', name, uid } = metadata
    const behind = ledger.ofPersistentVolume(spec.volumeName ?? '') ?? ledger.ofClaim(`${namespace}/${name}`)
    note(namespace, namesWith(name, uid), `claim ${namespace}/${name}`, behind)
  }
  for (const volume of ledger.all) {
    for (const { claimName, pod } of volume.unresolved) {
      if (claimName !== undefined) note(podNamespace(pod), [claimName], 'claim that a pod refers to', volume)
    }
    const { namespace = 'default', name } = volume.persistentVolume?.spec.claimRef ?? {}
    if (name !== undefined) note(namespace, [name], 'claim that a PersistentVolume refers to', volume)
  }
  return [...found.values()]
}

function persistentVolumes({ inputs, ledger }: PlanContext): Candidate[] {
  const { api } = inputs.snapshot
  const objects = new Map((api?.persistentVolumes ?? []).map(({ metadata }) => [metadata.name, metadata.uid]))
  const named = ledger.all
    .flatMap(({ unresolved, attachment }) => [
      ...unresolved.map(({ persistentVolumeName }) => persistentVolumeName),
      attachment?.spec.source.persistentVolumeName,
    ])
    .filter((name) => name !== undefined && name !== '') as string[]
  return [...new Set([...objects.keys(), ...named])].map((name) => ({
    ask: `pv/${name}`,
    names: namesWith(name, objects.get(name)),
    about: objects.has(name) ? 'PersistentVolume' : 'PersistentVolume that was deleted from the API',
    target: { kind: 'PersistentVolume', name },
    volume: ledger.ofPersistentVolume(name),
  }))
}

function attachments({ inputs, ledger }: PlanContext): Candidate[] {
  return (inputs.snapshot.api?.volumeAttachments ?? []).map(({ metadata, spec }) => ({
    ask: `va/${metadata.name}`,
    names: namesWith(metadata.name, metadata.uid),
    about: `VolumeAttachment to ${spec.nodeName}`,
    target: { kind: 'VolumeAttachment', name: metadata.name },
    volume: ledger.ofAttachment(metadata.name),
  }))
}

/** One for each name of a volume in a pod, one for the volume as such. */
function nodeVolumes(context: PlanContext): Candidate[] {
  const bearers = Map.groupBy(context.classes.all, ({ ref }) => podName(ref))
  return context.ledger.all.flatMap((volume) => {
    const uids = [...volume.podUids]
    const pods = uids.map((uid) => podName(podRefOf(context, uid)))
    const calls = podVolumeNames(volume)
    const inPods = [...calls].flatMap(([uid, names]) =>
      names.flatMap((name) => [`${uid}/${name}`, `${podName(podRefOf(context, uid))}/${name}`]),
    )
    // What a pod calls it is read more easily than its unique name, where it is one pod's alone.
    const [pod] = pods
    const [own] = calls.get(uids[0] ?? '') ?? []
    const isOnePods = volume.persistentVolume === undefined && pods.length === 1 && bearers.get(pod ?? '')?.length === 1
    const ask = own !== undefined && isOnePods ? `${pod}/${own}` : (volume.uniqueName ?? inPods[0])
    const name = ask ?? [...volume.names][0] ?? volume.directories[0]
    if (name === undefined) return []
    return {
      ask: ask === undefined ? name : `volume/${name}`,
      names: [
        ...volume.names,
        ...inPods,
        ...(volume.identity === undefined ? [] : [`${volume.identity.driver}^${volume.identity.handle}`]),
      ],
      about: pods.length === 0 ? 'volume' : `volume of pod ${pods.join(', ')}`,
      target: { kind: 'Volume', name },
      volume,
    }
  })
}

/** What each pod calls it, by UID. */
function podVolumeNames(volume: VolumeRow): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>()
  const note = (uid: string, names: readonly string[]): void =>
    void found.set(uid, [...(found.get(uid) ?? []), ...names])
  for (const { podUid, podVolumeNames: names, specName } of [...volume.wanted, ...volume.ended])
    note(podUid, [...names, specName])
  for (const { podUid, podVolumeName } of volume.unresolved) note(podUid, [podVolumeName])
  for (const { podUid, name } of volume.onDisk) note(podUid, [name])
  for (const { podUid, subPaths } of volume.leaked) note(podUid, [subPaths.volumeName])
  for (const { block, mappings } of volume.maps) for (const { podUid } of mappings) note(podUid, [block.name])
  return new Map([...found].map(([uid, names]) => [uid, [...new Set(names)]]))
}
