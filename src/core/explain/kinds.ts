/** The kinds of things that can be asked about, by the words that kubectl has for them. */
import type { SubjectKind } from './explanation.ts'

const WORDS: Readonly<Record<SubjectKind, string>> = {
  Pod: 'pod pods po',
  PersistentVolumeClaim: 'pvc pvcs claim persistentvolumeclaim persistentvolumeclaims',
  PersistentVolume: 'pv pvs persistentvolume persistentvolumes',
  VolumeAttachment: 'va attachment volumeattachment volumeattachments',
  Driver: 'driver drivers csidriver csidrivers',
  Volume: 'volume vol',
  Node: 'node nodes no',
  Device: 'device dev',
  Mount: 'mount',
  Path: 'path',
}

const KINDS = new Map(
  Object.entries(WORDS).flatMap(([kind, words]) => words.split(' ').map((word) => [word, kind as SubjectKind])),
)

/** `kubectl -o name` adds the group to some kinds. */
const GROUP = /\.storage\.k8s\.io$/

/** @param word in any case, with or without its API group */
export function kindOf(word: string): SubjectKind | undefined {
  return KINDS.get(word.toLowerCase().replace(GROUP, ''))
}

/** `pv/NAME` as its kind and the name; without one of the known prefixes the name is all of it. */
export function splitPrefix(what: string): { readonly kind?: SubjectKind; readonly name: string } {
  const slash = what.indexOf('/')
  const kind = slash > 0 ? kindOf(what.slice(0, slash)) : undefined
  return kind === undefined ? { name: what } : { kind, name: what.slice(slash + 1) }
}
