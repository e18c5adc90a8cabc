/** What the kernel limits: a line for each limit that is nearly used up. */
import { type Finding, notApplicable, ok, unknown, warning } from './check.ts'
import type { HostFacts, KernelLimit, LimitName } from './facts.ts'

/** Beyond this share of what there is, little is left. */
export const NEARLY_ALL = 0.8

const LIMITS: Readonly<Record<LimitName, { readonly what: string; readonly next: string }>> = {
  'fs.file-max': {
    what: 'open files',
    next: 'Find the process that does not close its files (lsof), or raise fs.file-max.',
  },
  LimitNOFILE: {
    what: 'open files of the kubelet',
    next: "Raise LimitNOFILE of the kubelet's unit: at the limit the kubelet can neither mount nor start a container.",
  },
  'fs.aio-max-nr': {
    what: 'asynchronous I/O requests',
    next: 'Raise fs.aio-max-nr: at the limit databases and storage daemons fail with EAGAIN.',
  },
  'user.max_mnt_namespaces': {
    what: 'mount namespaces',
    next: 'Raise user.max_mnt_namespaces: at the limit no container starts (ENOSPC).',
  },
  'fs.inotify.max_user_instances': {
    what: 'inotify instances of root',
    next: 'Raise fs.inotify.max_user_instances: at the limit the kubelet and drivers cannot watch files (EMFILE).',
  },
  'fs.inotify.max_user_watches': {
    what: 'inotify watches of root',
    next: 'Raise fs.inotify.max_user_watches: at the limit the kubelet and drivers cannot watch files (ENOSPC).',
  },
  'kernel.pid_max': {
    what: 'threads',
    next: 'Find the pod that has so many threads, or raise kernel.pid_max: at the limit no program starts.',
  },
  'kernel.threads-max': {
    what: 'threads',
    next: 'Find the pod that has so many threads, or raise kernel.threads-max: at the limit no program starts.',
  },
}

export function limitFindings(host: HostFacts | undefined): Finding[] {
  if (host === undefined) return [notApplicable('a snapshot does not show this')]
  const { limits } = host
  if (limits.length === 0) return [unknown('no limit could be read')]
  const near = limits.filter(({ used, most }) => used > most * NEARLY_ALL)
  const far = limits.filter((limit) => !near.includes(limit)).map(({ name }) => name)
  return [...near.map(nearlyUsed), ...(far.length === 0 ? [] : [ok(`far from used up: ${far.join(', ')}`)])]
}

function nearlyUsed({ name, used, most }: KernelLimit): Finding {
  const { what, next } = LIMITS[name]
  return { ...warning(`${used} ${what} of at most ${most}`, next), about: name }
}
