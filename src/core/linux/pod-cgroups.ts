/**
 * Pods that have a process, by /proc/PID/cgroup: evidence that needs no container runtime (S9, N24-N28).
 *
 *     cgroupfs  /kubepods/burstable/pod<uid>/<container>
 *     systemd   /kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod<uid, "-" as "_">.slice/…
 *
 * Guaranteed pods have no QoS level; `cgroupRoot`, nesting and cgroup namespaces add a prefix. A UID may be a random one, 32
 * hex digits (static pods), or whatever a static manifest says (S10). A pod inside another pod's or a container's cgroup
 * belongs to another kubelet, which runs in there: kind, k3d, minikube's and docker's containers.
 */
import { omitUndefined } from '../base/omit-undefined.ts'
import { kernelTextIfAny } from '../trust/kernel.ts'

const CGROUPFS = /\/kubepods(?:\/burstable|\/besteffort)?\/pod([^/]+)/g
const SYSTEMD = /(?:^|[/-])kubepods(?:-burstable|-besteffort)?-pod([^/-]+)\.slice/g
/** Renderings that are not the kubelet's own, such as a runtime's: at least the shape of a UID must be there. */
const ANYWHERE =
  /[/-]pod([0-9a-f]{8}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{12}|[0-9a-f]{32})(?:\.slice)?(?=\/|$|:)/gm

/** All pod UIDs that the text of one /proc/PID/cgroup names, of any kubelet. Empty outside of `kubepods`. */
export function podUidsOfCgroup(text: string): readonly string[] {
  const { own, nested } = podsOfCgroup(text)
  return [...new Set([...own, ...nested])]
}

/** The pods that a process is in. */
interface PodsOfProcess {
  /** Pods of this node's kubelet; a static pod's UID may appear in two readings. */
  readonly own: readonly string[]
  /** Pods of a kubelet that runs in a pod or container of this node, or deeper (kind, k3d, docker in docker). */
  readonly nested: readonly string[]
}

/**
 * Which pods a process is in, and whose they are (S9). A pod inside another pod's or a container's cgroup belongs to a
 * kubelet that runs in there; only the outer pod is this node's. In doubt, a pod is this node's.
 *
 * @param bases cgroups of the containers that this node itself runs in; these do not make a pod nested
 */
export function podsOfCgroup(text: string, bases: readonly string[] = []): PodsOfProcess {
  // Seen from a cgroup namespace beside the pods', the first of the names may be missing.
  if (!text.includes('kubepods') && !text.includes(':/..')) return NOWHERE
  const own = new Set<string>()
  const nested = new Set<string>()
  for (const path of pathsOf(text)) {
    const base = longestBase(path, bases)
    const found = podsIn(path, base)
    const [first] = found
    const isContained = first !== undefined && containerEnd(path.slice(0, first.at), base) > base
    for (const { at, uids } of found) {
      for (const uid of uids) (isContained || at !== first?.at ? nested : own).add(uid)
    }
  }
  return { own: [...own], nested: [...nested].filter((uid) => !own.has(uid)) }
}

const NOWHERE: PodsOfProcess = { own: [], nested: [] }

/**
 * Cgroups of the containers that a process runs in, one for each hierarchy; empty if it runs in no container.
 *
 * @param text of the /proc/PID/cgroup of a process of the node itself: process 1, the kubelet, the runtime
 */
export function containersAround(text: string): readonly string[] {
  return pathsOf(text).flatMap((path) => {
    const end = containerEnd(path, 0)
    return end === 0 ? [] : [path.slice(0, end)]
  })
}

/** Only lines `id:controllers:path`; such a text may contain others. A path may contain anything but a newline. */
function pathsOf(text: string): readonly string[] {
  return text.split('\n').flatMap((line) => /^[^:]*:[^:]*:(\/.*)$/s.exec(line)?.[1] ?? [])
}

/** Where this node's part of the path begins. */
function longestBase(path: string, bases: readonly string[]): number {
  const lengths = bases.filter((base) => path === base || path.startsWith(`${base}/`)).map(({ length }) => length)
  return Math.max(0, ...lengths)
}

interface FoundPods {
  /** Offset of the component that names them. */
  readonly at: number
  readonly uids: ReadonlySet<string>
}

/** The pods of a path, outermost first. */
function podsIn(path: string, base: number): readonly FoundPods[] {
  const below = path.slice(base)
  const start = below.startsWith('/..') ? 0 : below.indexOf('kubepods')
  if (start === -1) return []
  const found = new Map<number, Set<string>>()
  for (const [form, from, uidsOf] of [
    [CGROUPFS, 0, (uid: string) => [uid]],
    [SYSTEMD, 0, unescaped],
    [ANYWHERE, start, (uid: string) => [uid.replaceAll('_', '-')]],
  ] as const)
    for (const { 0: all, 1: uid = '', index } of below.slice(from).matchAll(form)) {
      const at = base + below.lastIndexOf('/', from + index + all.length - 1)
      found.set(at, new Set([...(found.get(at) ?? []), ...uidsOf(uid)]))
    }
  return [...found].sort(([a], [b]) => a - b).map(([at, uids]) => ({ at, uids }))
}

/**
 * Names that runtimes give a container's cgroup: an id of 64 hex digits; under systemd `docker-ID.scope`,
 * `cri-containerd-ID.scope`, `libpod-ID.scope`; and the forms of LXC, nspawn and machined. A user's own service manager counts
 * like a container, since the user may write to its cgroups (S32).
 */
const CONTAINERS: readonly RegExp[] = [
  /^(?:[a-z][a-z0-9.-]*[-.])?[0-9a-f]{64}(?:\.scope|\.slice)?$/,
  /^lxc\.payload(?:\..+)?$/,
  /^systemd-nspawn@.+\.service$/,
  /^machine-.+\.scope$/,
  /^user@[1-9]\d*\.service$/,
]

/** Where the innermost container's cgroup ends; `from` if there is none after it. */
function containerEnd(path: string, from: number): number {
  let end = from
  for (let at = from; at < path.length; ) {
    const next = path.indexOf('/', at + 1)
    const stop = next === -1 ? path.length : next
    const component = path.slice(at + 1, stop)
    if (CONTAINERS.some((form) => form.test(component))) end = stop
    at = stop
  }
  return end
}

const RANDOM_UID = /^[0-9a-f]{8}(_[0-9a-f]{4}){3}_[0-9a-f]{12}$/

/** systemd names have "_" for "-"; a UID from a static manifest may contain either. */
function unescaped(part: string): readonly string[] {
  const uid = part.replaceAll('_', '-')
  return RANDOM_UID.test(part) || !part.includes('_') ? [uid] : [uid, part]
}

const CONTAINER = /[/:-]([0-9a-f]{64})(?:\.scope)?(?=\/|$)/gm

/** A process's pod, and its container by the runtime's id: the innermost where pods are nested (N25, N26). */
export interface PodProcess {
  readonly podUid: string
  readonly containerId?: string
}

/** Undefined: the process belongs to no pod, or has ended. */
export function podOfProcess(pid: number): PodProcess | undefined {
  return podProcessOf(kernelTextIfAny(`/proc/${pid}/cgroup`) ?? '')
}

/** Undefined: the process belongs to no pod. @param cgroup the text of its /proc/PID/cgroup */
export function podProcessOf(cgroup: string): PodProcess | undefined {
  const podUid = podUidsOfCgroup(cgroup).at(-1)
  if (podUid === undefined) return undefined
  const containerId = [...cgroup.matchAll(CONTAINER)].at(-1)?.[1]
  return { podUid, ...omitUndefined({ containerId }) }
}
