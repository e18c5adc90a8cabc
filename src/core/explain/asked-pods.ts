/** Pods whose directories an answer needs in full; known before the question is resolved. */

import { VolctlError } from '../base/errors.ts'
import { isUid } from '../kube/api/names.ts'
import type { Pod, PodVolumeSource } from '../kube/api/objects.ts'
import type { PodProcess } from '../linux/pod-cgroups.ts'
import type { ContainerName, NameOf } from '../users/describe-holders.ts'
import type { Holders } from '../users/find-holders.ts'
import { namedUids, podNamespace } from '../volumes/pods.ts'
import { claimReferenceOf } from '../volumes/resolve-claim.ts'
import type { Explanation, HoldersView, SubjectKind } from './explanation.ts'
import { kindOf, splitPrefix } from './kinds.ts'

/**
 * The pods that a question means by their UID or name, with all that share a claim with them, or that may share an inline volume:
 * an answer describes the directories of these. Of any other pod it says no more than a plan does.
 *
 * @param what as typed, with or without its kind
 * @returns on-disk UIDs; undefined if the question may mean something else than these pods: then all pods count
 */
export function podsAskedFor(what: string, pods: readonly Pod[]): ReadonlySet<string> | undefined {
  const { kind, name } = splitPrefix(what)
  const isPodsName = kind === 'Pod' || (kind === undefined && (isUid(name) || name.split('/').length === 2))
  if (!isPodsName) return undefined
  const asked = pods.filter((pod) => isNamed(pod, name))
  // A UID of a pod that only the disk knows, a claim as NAMESPACE/NAME.
  if (asked.length === 0 || (kind === undefined && pods.some((pod) => claimsOf(pod).includes(name)))) return undefined
  const shared = new Set(asked.flatMap(claimsOf))
  const wanted = pods.filter((pod) => asked.includes(pod) || sharesMaybe(pod, shared))
  return new Set(wanted.flatMap(namedUids))
}

function isNamed(pod: Pod, name: string): boolean {
  const full = `${podNamespace(pod)}/${pod.metadata.name}`
  return name === full || name === pod.metadata.name || namedUids(pod).includes(name)
}

/** NAMESPACE/NAME of each. */
function claimsOf(pod: Pod): string[] {
  return (pod.spec.volumes ?? []).flatMap((volume) =>
    (['controller', 'kubelet'] as const).flatMap((by) => {
      const claim = claimReferenceOf(pod, volume, by)
      return claim === undefined ? [] : [`${podNamespace(pod)}/${claim.name}`]
    }),
  )
}

function sharesMaybe(pod: Pod, shared: ReadonlySet<string>): boolean {
  return claimsOf(pod).some((claim) => shared.has(claim)) || (pod.spec.volumes ?? []).some(isSharedInline)
}

/** Volumes that no other pod can have, and claims, which are compared by name. */
const OWN: ReadonlySet<string> = new Set<keyof PodVolumeSource>([
  'emptyDir',
  'gitRepo',
  'configMap',
  'secret',
  'downwardAPI',
  'projected',
  'csi',
  'image',
  'hostPath',
  'persistentVolumeClaim',
  'ephemeral',
])

function isSharedInline({ name: _, ...source }: PodVolumeSource): boolean {
  return Object.entries(source).some(([kind, value]) => value != null && !OWN.has(kind))
}

const NAMESPACED: ReadonlySet<SubjectKind> = new Set(['Pod', 'PersistentVolumeClaim'])

/**
 * One question from the words of a command line.
 *
 * @param words WHAT, or a kind and a name
 * @param namespace of --namespace: of pods and claims that are named without one
 * @throws VolctlError Usage
 */
export function typedQuestion([first = '', second]: readonly string[], namespace?: string): string {
  return inNamespace(second === undefined ? first : ofKind(first, second), namespace)
}

/** `pod web-0` as `pod/web-0`; the kind may be said twice. */
function ofKind(word: string, name: string): string {
  const kind = kindOf(word)
  if (kind === undefined) {
    throw new VolctlError('Usage', `two words were given, and "${word}" is no kind of thing that explain knows`, {
      hint: 'The kinds are pod, pvc, pv, va, driver, volume, node, device, mount and path. Give one WHAT, or a kind and a name: volctl explain pod NAME -n NAMESPACE',
    })
  }
  return splitPrefix(name).kind === kind ? name : `${word}/${name}`
}

function inNamespace(what: string, namespace: string | undefined): string {
  const { kind, name } = splitPrefix(what)
  const takesOne = kind === undefined ? !what.startsWith('/') : NAMESPACED.has(kind)
  if (namespace === undefined || !takesOne) return what
  const slash = name.indexOf('/')
  if (slash < 0) return `${what.slice(0, what.length - name.length)}${namespace}/${name}`
  // NAMESPACE/POD/VOLUME is in a namespace as well.
  const given = name.slice(0, slash)
  if (given === namespace) return what
  throw new VolctlError('Usage', `"${what}" names namespace ${given}, and --namespace is ${namespace}`, {
    hint: 'Leave one of them out.',
  })
}

/** The answer with who holds it, as the live node shows it: more than those who are in the way of an operation, which its block names. */
export function withHolders(explanation: Explanation, found: Holders, nameOf: NameOf): Explanation {
  const { processes, namespaces, loops, kernel, unseen } = found
  const holders: HoldersView = {
    known: true,
    processes: [...Map.groupBy(processes, ({ pid }) => pid)].map(([pid, own]) => ({
      pid,
      command: own[0]?.process ?? '',
      holds: own.map(({ what, path }) => ({ what, path })),
      ...nameFor(own[0]?.of, nameOf),
    })),
    namespaces: namespaces.map(({ pid, process: command, mountPoints, of }) => ({
      pid,
      command,
      mountPoints,
      ...nameFor(of, nameOf),
    })),
    loops,
    kernel,
    notes: unseen.map(({ text }) => text),
  }
  return { ...explanation, holders }
}

function nameFor(of: PodProcess | undefined, nameOf: NameOf): Partial<ContainerName> {
  return of === undefined ? {} : nameOf(of)
}
