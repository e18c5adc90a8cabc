/** The kinds of things that can be asked about, by the words that kubectl has for them, and of what an answer is made of. */

import { marked, usageError } from '../messages/findings.ts'

/** What can be asked about, with its words, first the one that volctl writes. */
export const SUBJECTS = {
  Pod: 'pod pods po',
  PersistentVolumeClaim: 'pvc pvcs claim persistentvolumeclaim persistentvolumeclaims',
  PersistentVolume: 'pv pvs persistentvolume persistentvolumes',
  VolumeAttachment: 'va attachment volumeattachment volumeattachments',
  Volume: 'volume vol',
  Driver: 'driver drivers csidriver csidrivers',
  Device: 'device dev',
  Mount: 'mount',
  Path: 'path',
} as const

export type SubjectKind = keyof typeof SUBJECTS

/** Links of a chain, with what a screen calls them. */
export const LINKS = {
  PersistentVolumeClaim: 'claim',
  PersistentVolume: 'PV',
  VolumeAttachment: 'attachment',
  StagedMount: 'staged mount',
  BlockMap: 'block map',
  PodMount: 'pod mount',
  SubPath: 'sub-path',
  NodePluginPod: 'node plugin pod',
  Socket: 'socket',
  Registration: 'registration',
  CSINode: 'CSINode',
  CSIDriver: 'CSIDriver',
} as const

const KINDS = new Map(
  Object.entries(SUBJECTS).flatMap(([kind, words]) => words.split(' ').map((word) => [word, kind as SubjectKind])),
)

/** `kubectl -o name` adds the group to some kinds. */
const GROUP = /\.storage\.k8s\.io$/

/** @param word in any case, with or without its API group */
function kindOf(word: string): SubjectKind | undefined {
  return KINDS.get(word.toLowerCase().replace(GROUP, ''))
}

/** `pv/NAME` as its kind and the name; without one of the known prefixes the name is all of it. */
export function splitPrefix(what: string) {
  const slash = what.indexOf('/')
  const kind = slash > 0 ? kindOf(what.slice(0, slash)) : undefined
  return kind === undefined ? { name: what } : { kind, name: what.slice(slash + 1) }
}

/**
 * One question from the words of a command line.
 *
 * @param words WHAT, or a kind and a name
 * @param namespace of --namespace: of pods and claims that are named without one
 * @throws VolctlError Usage
 */
export function typedQuestion([first = '', second]: readonly string[], namespace?: string): string {
  const what = second === undefined ? first : ofKind(first, second)
  const { kind, name } = splitPrefix(what)
  const takesOne = kind === undefined ? !what.startsWith('/') : kind === 'Pod' || kind === 'PersistentVolumeClaim'
  if (namespace === undefined || !takesOne) return what
  const slash = name.indexOf('/')
  if (slash < 0) return `${what.slice(0, what.length - name.length)}${namespace}/${name}`
  // NAMESPACE/POD/VOLUME is in a namespace as well.
  const given = name.slice(0, slash)
  if (given === namespace) return what
  throw usageError('Usage.namespace', 'Leave one of them out.', { what, given, namespace })
}

/** `pod web-0` as `pod/web-0`; the kind may be said twice. */
function ofKind(word: string, name: string): string {
  const kind = kindOf(word)
  if (kind === undefined) {
    throw usageError(
      'Usage.noKind',
      marked(
        'The kinds are pod, pvc, pv, va, driver, volume, device, mount and path. Give one WHAT, or a kind and a name: `volctl explain pod NAME -n NAMESPACE`',
      ),
      { word },
    )
  }
  return splitPrefix(name).kind === kind ? name : `${word}/${name}`
}
