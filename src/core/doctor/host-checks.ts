/** Limits of the host: mounts, kernel, free space, clock. */
import { formatDuration } from '../lang/duration.ts'
import { type Check, check, type Finding, failed, OF_NODE, ok, unknown, warning } from './check.ts'
import type { DoctorFacts, HostFacts, KernelLimit, LimitName, Room } from './facts.ts'

export function hostChecks(facts: DoctorFacts): Check[] {
  const { host } = facts
  return [
    check('MountLimit', host === undefined ? OF_NODE : mountLimit(host)),
    ...limitFindings(host).map((finding) => check('KernelLimits', finding)),
    check('Kernel', kernel(facts)),
    ...(host === undefined ? [check('Space', OF_NODE)] : space(host)),
    check('Clock', clock(facts)),
  ]
}

/** Below these shares of what there is, little is left. */
const LEAST_FREE = 0.05
const LEAST_FREE_BYTES = 64 * 1024 * 1024

/** The kernel refuses a mount beyond fs.mount-max in one namespace (ENOSPC), whatever is free on disk. */
function mountLimit({ mountMax, mounts }: HostFacts): Finding {
  if (mountMax === undefined || mounts === undefined) return unknown('fs.mount-max could not be read')
  const text = `${mounts} mounts of ${mountMax} (fs.mount-max)`
  const next = 'Look for a directory that is mounted into itself (volctl plan: MountStorm), or raise fs.mount-max.'
  if (mounts >= mountMax) return failed(`${text}: nothing more can be mounted`, next)
  return mounts > mountMax * NEARLY_ALL ? warning(text, next) : ok(text)
}

/** Before 5.8 the kernel may leave lines out of the mount table while mounts change: volctl then reads it several times (S27). */
function kernel({ host, state }: DoctorFacts): Finding {
  const version = host?.kernel ?? state?.snapshot.kernelVersion
  if (version === undefined) return unknown('the version of the kernel is not known')
  const [, major = '0', minor = '0'] = /^(\d+)\.(\d+)/.exec(version) ?? []
  const isOld = Number(major) < 5 || (Number(major) === 5 && Number(minor) < 8)
  return isOld
    ? warning(
        `${version}: before 5.8 the mount table has to be read several times`,
        'Nothing to do: on a node where mounts change all the time, plan again if volctl cannot read the table.',
      )
    : ok(version)
}

function space({ rooms }: HostFacts): Check[] {
  if (rooms.length === 0) return [check('Space', unknown('free space could not be read'))]
  return rooms.map((room) => check('Space', { ...roomOf(room), about: room.path }))
}

function roomOf({ what, free, size, freeInodes, inodes }: Room): Finding {
  const isShort = inodes > 0 && freeInodes < inodes * LEAST_FREE
  const text = `${bytes(free)} of ${bytes(size)}${isShort ? `, ${freeInodes} of ${inodes} inodes` : ''} (${what})`
  const next = 'Make room: without it neither state files nor the journal of apply can be written.'
  if (free === 0 || (inodes > 0 && freeInodes === 0)) return failed(text, next, 'apply')
  return isShort || free < Math.min(size * LEAST_FREE, LEAST_FREE_BYTES) ? warning(text, next) : ok(text)
}

function bytes(n: number): string {
  const gib = n / 1024 ** 3
  return gib >= 1 ? `${gib.toFixed(gib < 10 ? 1 : 0)} GiB` : `${Math.round(n / 1024 ** 2)} MiB`
}

/** As far as a header in whole seconds shows it. */
const SAME_CLOCK_MS = 2000
const CLOCK_MARGIN_MS = 60_000

/** volctl allows for clocks that differ (S28), but leases and ages on the screen then look wrong, and so do certificates. */
function clock({ state }: DoctorFacts): Finding {
  const skew = state?.snapshot.api?.clockSkewMs
  if (skew === undefined) return unknown("the API server's clock is not known")
  if (Math.abs(skew) <= SAME_CLOCK_MS) return ok("agrees with the API server's")
  const text = `${formatDuration(Math.abs(skew))} ${skew > 0 ? 'behind' : 'ahead of'} the API server's clock`
  return Math.abs(skew) < CLOCK_MARGIN_MS ? ok(text) : warning(text, 'Set the clock of this host (chronyc makestep).')
}

/** Beyond this share of what there is, little is left. */
const NEARLY_ALL = 0.8

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

function limitFindings(host: HostFacts | undefined): Finding[] {
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
