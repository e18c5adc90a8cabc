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
import { kernelTextIfAny } from '../trust/kernel.ts'

const CGROUPFS = /\/kubepods(?:\/burstable|\/besteffort)?\/pod([^/]+)$/
const SYSTEMD = /(?:^|-)kubepods(?:-burstable|-besteffort)?-pod([^-]+)\.slice/g
/** Renderings that are not the kubelet's own, such as a runtime's: at least the shape of a UID must be there. */
const ANYWHERE =
  /(?:^|-)pod([0-9a-f]{8}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{12}|[0-9a-f]{32})(?:\.slice)?(?=$|:)/g

/** All pod UIDs that the text of one /proc/PID/cgroup names, of any kubelet. Empty outside of `kubepods`. */
export function podUidsOfCgroup(text: string): readonly string[] {
  const { own, nested } = podsOfCgroup(text)
  return [...new Set([...own, ...nested])]
}

/**
 * Which pods a process is in, and whose they are (S9). A pod inside another pod's or a container's cgroup belongs to a
 * kubelet that runs in there; only the outer pod is this node's. In doubt, a pod is this node's.
 *
 * @param bases cgroups of the containers that this node itself runs in; these do not make a pod nested
 * @returns `own` of this node's kubelet, of which a static pod's UID may appear in two readings; `nested` of one in a pod or container
 * of this node, or deeper (kind, k3d, docker in docker)
 */
export function podsOfCgroup(text: string, bases: readonly string[] = []) {
  const own = new Set<string>()
  const nested = new Set<string>()
  // Seen from a cgroup namespace beside the pods', the first of the names may be missing.
  const mayBeAny = text.includes('kubepods') || text.includes(':/..')
  for (const path of mayBeAny ? pathsOf(text) : []) {
    let isOwn = true
    for (const cgroup of cgroupsAlong(path.slice(longestBase(path, bases)))) {
      const uids = uidsOf(cgroup)
      for (const uid of uids) (isOwn ? own : nested).add(uid)
      if (uids.length > 0 || isContainer(cgroup)) isOwn = false
    }
  }
  return { own: [...own], nested: [...nested].filter((uid) => !own.has(uid)) }
}

/**
 * Cgroups of the containers that a process runs in, one for each hierarchy; empty if it runs in no container.
 *
 * @param text of the /proc/PID/cgroup of a process of the node itself: process 1, the kubelet, the runtime
 */
export function containersAround(text: string): readonly string[] {
  return pathsOf(text).flatMap((path) => cgroupsAlong(path).findLast(isContainer) ?? [])
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

/** The path of each cgroup on the way to the last, outermost first. */
function cgroupsAlong(path: string): string[] {
  return Array.from(path.matchAll(/\/[^/]*/g), ({ 0: part, index }) => path.slice(0, index + part.length))
}

function nameOf(cgroup: string): string {
  return cgroup.slice(cgroup.lastIndexOf('/') + 1)
}

/** Of the pod whose cgroup this is: all readings. */
function uidsOf(cgroup: string): readonly string[] {
  const name = nameOf(cgroup)
  const isOfPods = cgroup.startsWith('/..') || cgroup.includes('kubepods')
  return [
    ...(CGROUPFS.exec(cgroup)?.slice(1) ?? []),
    ...[...name.matchAll(SYSTEMD)].flatMap(([, uid = '']) => unescaped(uid)),
    ...[...(isOfPods ? name.matchAll(ANYWHERE) : [])].map(([, uid = '']) => uid.replaceAll('_', '-')),
  ]
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

function isContainer(cgroup: string): boolean {
  const name = nameOf(cgroup)
  return CONTAINERS.some((form) => form.test(name))
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
  return { podUid, containerId }
}
