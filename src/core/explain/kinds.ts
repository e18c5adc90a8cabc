/** The kinds of things that can be asked about, by the words that kubectl has for them. */
import type { SubjectKind } from './explanation.ts'

/** Prefixes that settle what is meant. */
const WORDS: Readonly<Record<string, SubjectKind>> = {
  pod: 'Pod',
  pods: 'Pod',
  po: 'Pod',
  pvc: 'PersistentVolumeClaim',
  pvcs: 'PersistentVolumeClaim',
  claim: 'PersistentVolumeClaim',
  persistentvolumeclaim: 'PersistentVolumeClaim',
  persistentvolumeclaims: 'PersistentVolumeClaim',
  pv: 'PersistentVolume',
  pvs: 'PersistentVolume',
  persistentvolume: 'PersistentVolume',
  persistentvolumes: 'PersistentVolume',
  va: 'VolumeAttachment',
  attachment: 'VolumeAttachment',
  volumeattachment: 'VolumeAttachment',
  volumeattachments: 'VolumeAttachment',
  driver: 'Driver',
  drivers: 'Driver',
  csidriver: 'Driver',
  csidrivers: 'Driver',
  volume: 'Volume',
  vol: 'Volume',
  node: 'Node',
  nodes: 'Node',
  no: 'Node',
  device: 'Device',
  dev: 'Device',
  mount: 'Mount',
  path: 'Path',
}

/** `kubectl -o name` adds the group to some kinds. */
const GROUP = /\.storage\.k8s\.io$/

/** @param word in any case, with or without its API group */
export function kindOf(word: string): SubjectKind | undefined {
  const plain = word.toLowerCase().replace(GROUP, '')
  return Object.hasOwn(WORDS, plain) ? WORDS[plain] : undefined
}

/** `pv/NAME` as its kind and the name; without one of the known prefixes the name is all of it. */
export function splitPrefix(what: string): { readonly kind?: SubjectKind; readonly name: string } {
  const slash = what.indexOf('/')
  const kind = slash > 0 ? kindOf(what.slice(0, slash)) : undefined
  return kind === undefined ? { name: what } : { kind, name: what.slice(slash + 1) }
}
