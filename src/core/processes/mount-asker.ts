/**
 * The only way to ask a file system that may hang: stat(1), which is left behind where it does. Its words name the mount, by which this
 * run and later ones find it, and do not ask that mount again: of each that hangs at most one process is left, ever (S36). A mount that
 * a process waits for keeps its id.
 */
import { kernelTextIfAny, namespaceOf, statusField } from '../trust/kernel.ts'
import { type CommandResult, runCommand } from '../trust/programs.ts'
import { processIds } from './mount-namespaces.ts'

/**
 * Errors of a dead file system, as coreutils, busybox and older C libraries print them at the end of their line (P116, without
 * EACCES). Compared whole: "No such device or address" is no sign of death, nor is a path with such words.
 */
const ERRORS: ReadonlyMap<string, string> = new Map([
  ['transport endpoint is not connected', 'ENOTCONN'],
  ['socket not connected', 'ENOTCONN'],
  ['stale file handle', 'ESTALE'],
  ['stale nfs file handle', 'ESTALE'],
  ['input/output error', 'EIO'],
  ['i/o error', 'EIO'],
  ['host is down', 'EHOSTDOWN'],
  ['no such device', 'ENODEV'],
  ['resource temporarily unavailable', 'EAGAIN'],
  ['software caused connection abort', 'ECONNABORTED'],
  ['connection aborted', 'ECONNABORTED'],
])

/**
 * What stat(1) prints; or the name of the errno that shows that the file system is dead, "Timeout" if it did not answer; or that nothing
 * is there (any more); or none of it.
 */
export interface Said {
  readonly text?: string
  readonly isAbsent?: true
  readonly error?: string
}

const MARK = 'volctl asks mount'
/** Children at once. */
const PARALLEL = 64

/**
 * @param paths by the id of the mount that each is in
 * @param format and options, of stat(1)
 * @param deadlineMs for all of them
 * @returns by mount; of those that were not asked in time nothing
 */
export async function askMounts(
  paths: ReadonlyMap<number, string>,
  [format, ...options]: readonly [string, ...string[]],
  deadlineMs: number,
  { signal, run = runCommand }: { readonly signal?: AbortSignal | undefined; readonly run?: typeof runCommand } = {},
): Promise<Map<number, Said>> {
  const said = new Map<number, Said>()
  if (paths.size === 0) return said
  const asked = mountsAsked()
  const end = performance.now() + deadlineMs
  const left = paths.entries()
  const worker = async (): Promise<void> => {
    for (const [id, path] of left) {
      const leftMs = end - performance.now()
      if (leftMs <= 0) return
      const mark = `${MARK} ${id}: `
      const words = [...options, '-c', `${mark}${format}`, '--', path]
      const result = asked.has(id)
        ? { timedOut: true }
        : await run('stat', words, leftMs, '', { ...(signal && { signal }) }).catch(() => ({}))
      said.set(id, answerOf(result, mark))
    }
  }
  await Promise.all(Array.from({ length: Math.min(PARALLEL, paths.size) }, worker))
  return said
}

function answerOf({ status, timedOut, stdout = '', stderr = '' }: Partial<CommandResult>, mark: string): Said {
  if (timedOut === true) return { error: 'Timeout' }
  if (status === 0) return { text: stdout.trim().slice(mark.length) }
  const words = stderr.trimEnd().split(': ').at(-1)?.toLowerCase() ?? ''
  if (words === 'no such file or directory') return { isAbsent: true }
  const error = ERRORS.get(words)
  return error === undefined ? {} : { error }
}

/**
 * Ids of mounts that a process which this run or one before it has killed and left behind still asks. Only one of volctl's own user, in
 * its own mount namespace, is believed: it says that a mount is dead (S32). One that is not killed may be about to answer another volctl.
 */
function mountsAsked(): ReadonlySet<number> {
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
