/**
 * Pods that have a process, by /proc/PID/cgroup: a witness of life that needs no container runtime (S9, N24-N28).
 *
 *     cgroupfs  /kubepods/burstable/pod<uid>/<container>
 *     systemd   /kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod<uid, "-" as "_">.slice/…
 *
 * Guaranteed pods have no QoS level; `cgroupRoot`, nesting and cgroup namespaces put a prefix before. A UID may be a
 * random one, 32 hex digits (static pods), or whatever a static manifest says (S10).
 */
import { kernelTextIfAny } from '../trust/kernel.ts'

const CGROUPFS = /\/kubepods(?:\/burstable|\/besteffort)?\/pod([^/]+)/g
const SYSTEMD = /(?:^|[/-])kubepods(?:-burstable|-besteffort)?-pod([^/-]+)\.slice/g
/** Renderings that are not the kubelet's own, such as a runtime's: at least the shape of a UID must be there. */
const ANYWHERE =
  /[/-]pod([0-9a-f]{8}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{12}|[0-9a-f]{32})(?:\.slice)?(?=\/|$|:)/gm

/**
 * UIDs that the text of one /proc/PID/cgroup names. With pods nested in pods (kind) there are several: all of them
 * live. Empty for anything outside `kubepods`.
 */
export function podUidsOfCgroup(text: string): readonly string[] {
  const from = text.indexOf('kubepods')
  if (from === -1) return []
  const uids = new Set<string>()
  for (const line of text.split('\n')) {
    const start = line.indexOf('kubepods')
    if (start === -1) continue
    for (const [, uid] of line.matchAll(CGROUPFS)) if (uid) uids.add(uid)
    for (const [, uid] of line.matchAll(SYSTEMD)) if (uid) for (const form of unescaped(uid)) uids.add(form)
    for (const [, uid] of line.slice(start).matchAll(ANYWHERE)) if (uid) uids.add(uid.replaceAll('_', '-'))
  }
  return [...uids]
}

const RANDOM_UID = /^[0-9a-f]{8}(_[0-9a-f]{4}){3}_[0-9a-f]{12}$/

/** systemd names turn "-" into "_"; a manifest's own UID may have had either. */
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

/** Undefined: the process is of no pod, or has ended. */
export function podOfProcess(pid: number, proc = '/proc'): PodProcess | undefined {
  return podProcessOf(kernelTextIfAny(`${proc}/${pid}/cgroup`) ?? '')
}

/** Undefined: the process is of no pod. @param cgroup the text of its /proc/PID/cgroup */
export function podProcessOf(cgroup: string): PodProcess | undefined {
  const podUid = podUidsOfCgroup(cgroup).at(-1)
  if (podUid === undefined) return undefined
  const containerId = [...cgroup.matchAll(CONTAINER)].at(-1)?.[1]
  return { podUid, ...(containerId !== undefined && { containerId }) }
}
