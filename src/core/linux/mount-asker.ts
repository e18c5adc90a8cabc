/** Asks file systems that may hang, many at once, each by a stat(1) that is left behind where it hangs (asked-mounts.ts). */
import { markOf, mountsAsked } from '../trust/asked-mounts.ts'
import { type CommandResult, runCommand } from '../trust/programs.ts'

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
 * is there (any more); or another error, in its words.
 */
export interface Said {
  readonly text?: string
  readonly isAbsent?: true
  readonly error?: string
  readonly words?: string
}

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
  { signal, run = runCommand }: { readonly signal?: AbortSignal; readonly run?: typeof runCommand } = {},
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
      const mark = markOf(id)
      const words = [...options, '-c', `${mark}${format}`, '--', path]
      const result = asked.has(id)
        ? { timedOut: true }
        : await run('stat', words, leftMs, '', { signal }).catch(() => ({}))
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
  if (words === 'no such file or directory' || words === 'not a directory') return { isAbsent: true }
  const error = ERRORS.get(words)
  return error === undefined ? { words } : { error }
}
