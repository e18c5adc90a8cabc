/** What the kernel limits: a line for each limit that is nearly used up. */
import { type Finding, OF_NODE, ok, unknown, warning } from './check.ts'
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
  'user.max_mnt_namespaces': {
    what: 'mount namespaces',
    next: 'Raise user.max_mnt_namespaces: at the limit no container starts (ENOSPC).',
  },
}

export function limitFindings(host: HostFacts | undefined): Finding[] {
  if (host === undefined) return [OF_NODE]
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
