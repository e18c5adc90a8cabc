/**
 * The only way to ask a file system that may hang: stat(1), which is left behind where it does. Its words name the mount, by which this
 * run and later ones find it, and do not ask that mount again: of each that hangs at most one process is left, ever (S36). A mount that
 * a process waits for keeps its id.
 */
import { spawn } from 'node:child_process'
import { posix } from 'node:path'
import { kernelTextIfAny, namespaceOf, processIds, statFields, statusField } from './kernel.ts'
import { PROGRAM_ENVIRONMENT, perRun } from './run.ts'

const MARK = 'volctl asks mount'

/** What stat(1) prints first. */
export function markOf(mount: number): string {
  return `${MARK} ${mount}: `
}

/** Nothing else goes on meanwhile, and a Ctrl-C is to end every command within a second. */
const DEADLINE_MS = 800
const LOOK_EVERY_MS = 2
const CLOCK = new Int32Array(new SharedArrayBuffer(4))

/** When a mount has answered; undefined: it has not. */
const known = perRun(() => new Map<number, number | undefined>())
/** Then its number may be another mount's. */
const SAME_MS = 1000

/**
 * Whether a file system answers, asked while nothing else goes on: for who must not go on before that is known. One that has not is not
 * asked again in a run.
 *
 * @param directory a descriptor, so that nobody can lead the question elsewhere
 * @param name of what is asked, in it
 * @param program stat(1); without it nothing answers
 */
export function answers(mount: number, directory: number, name: string, program: string | undefined): boolean {
  const last = known().get(mount)
  if (last !== undefined && performance.now() - last < SAME_MS) return true
  const isAsked = (last === undefined && known().has(mount)) || mountsAsked().has(mount)
  const does = program !== undefined && !isAsked && ask(mount, directory, name, program)
  known().set(mount, does ? performance.now() : undefined)
  return does
}

function ask(mount: number, directory: number, name: string, program: string): boolean {
  const child = spawn(program, ['-f', '-c', markOf(mount), '--', posix.join('/proc/self/fd/3', name)], {
    cwd: '/',
    detached: true,
    env: PROGRAM_ENVIRONMENT,
    stdio: ['ignore', 'ignore', 'ignore', directory],
  })
  child.on('error', () => undefined)
  child.unref()
  const { pid } = child
  if (pid === undefined) return false
  for (const end = performance.now() + DEADLINE_MS; !hasEnded(pid); ) {
    if (performance.now() > end) {
      child.kill('SIGKILL')
      return false
    }
    Atomics.wait(CLOCK, 0, 0, LOOK_EVERY_MS)
  }
  return true
}

/** A child that nobody has waited for yet. */
function hasEnded(pid: number): boolean {
  return ['', 'Z'].includes(statFields(kernelTextIfAny(`/proc/${pid}/stat`) ?? '')[0] ?? '')
}

/**
 * Ids of mounts that a process which this run or one before it has killed and left behind still asks. Only one of volctl's own user, in
 * its own mount namespace, is believed: it says that a mount is dead (S32). One that is not killed may be about to answer another volctl.
 */
export function mountsAsked(): ReadonlySet<number> {
  const statusOf = (pid: number | 'self'): string => kernelTextIfAny(`/proc/${pid}/status`) ?? ''
  const whose = (pid: number | 'self'): string => `${statusField(statusOf(pid), 'Uid')} ${namespaceOf(pid, 'mnt')}`
  const own = whose('self')
  const found = processIds().flatMap((pid) => {
    if (statusField(statusOf(pid), 'Name') !== 'stat' || whose(pid) !== own) return []
    const pending = statusField(statusOf(pid), 'SigPnd')?.slice(-8) ?? ''
    if ((Number.parseInt(pending, 16) & SIGKILL) === 0) return []
    return new RegExp(`\0${MARK} (\\d+): `).exec(kernelTextIfAny(`/proc/${pid}/cmdline`) ?? '')?.[1] ?? []
  })
  return new Set(found.map(Number))
}

/** Of a set of signals. */
const SIGKILL = 0x100
