/** Runs a program for a step, looks at paths by one, and fails a step by a rule. */

import { firstCharacters } from '../../base/first-characters.ts'
import { StepFailed, StepTimedOut } from '../../base/operation-error.ts'
import { cannotHang } from '../../linux/file-systems.ts'
import { containingMount } from '../../linux/location.ts'
import { type PathType, parseStatLine, STAT_FORMAT } from '../../linux/paths.ts'
import type { MachineFacts, Verdict } from '../../rules/machine-facts.ts'
import type { When } from '../../rules/rule.ts'
import { verdictOf } from '../../rules/rules.ts'
import type { CommandResult } from '../../trust/programs.ts'
import type { StepContext } from './ports.ts'

/** @throws StepFailed TimedOut if the program did not end, CommandFailed if it printed too much */
export async function command(
  run: StepContext,
  program: string,
  args: readonly string[],
  input?: string,
): Promise<CommandResult> {
  const result = await run.waiting.spend((ms) => run.host.run(program, args, ms, input))
  if (!result.timedOut && result.flooded !== true) return result
  const left =
    result.abandonedPid === undefined ? '' : `; pid ${result.abandonedPid} cannot be killed and was left behind`
  const line = `${program} ${args.join(' ')}`
  if (result.flooded === true)
    throw new StepFailed('CommandFailed', `${line} printed too much output and was killed${left}`, { stuck: true })
  throw new StepTimedOut(`${line} did not end within ${run.waiting.limitMs / 1000} s${left}`, { stuck: true })
}

/** Of a rule that is asked right before a step. @throws StepFailed */
export function requireNone(verdict: Verdict | undefined): void {
  if (verdict !== undefined) throw new StepFailed(verdict.code, verdict.message, verdict)
}

/** Asks the rules of a moment between steps. @param given what the step is about to do @throws StepFailed */
export async function requireRulesOf(when: When, given: Partial<MachineFacts>, run: StepContext): Promise<void> {
  requireNone(await verdictOf({ ...run, ...given }, when))
}

/** The first line that a program printed, errors before output; otherwise its exit status. For messages. */
export function firstLineOf({ stdout, stderr, status }: CommandResult): string {
  const [line = ''] = (stderr.trim() || stdout.trim()).split('\n')
  return line === '' ? `exit status ${status}` : firstCharacters(line)
}

// What is at a path that the kubelet did not make: that of a local volume or a hostPath. Links are followed, as the kubelet
// does. A child with a deadline looks, since the file system there may hang (P154).

const CHECK = 'Check the path and what is mounted there, then plan again.'

interface LookedAt {
  readonly type: PathType
  /** "major:minor" of a device. */
  readonly device: string
}

/** Undefined: nothing is there. @throws StepFailed InvalidPath, TimedOut */
export async function lookAtPath(path: string, run: StepContext): Promise<LookedAt | undefined> {
  const mount = containingMount(run.around.table, path)
  // Asked in the one way that leaves at most one process behind, however often (S36).
  if (mount !== undefined && !cannotHang(mount.fsType) && (await run.waiting.spend((ms) => run.host.isDead(mount, ms))))
    throw new StepFailed('InvalidPath', `${path} is on ${mount.mountPoint}, a mount that is dead or does not answer`, {
      hint: CHECK,
    })
  const result = await command(run, 'stat', ['-L', '-c', STAT_FORMAT, '--', path])
  const found = result.status === 0 ? parseStatLine(result.stdout.trimEnd()) : undefined
  if (found !== undefined) return found
  if (/No such file or directory|Not a directory/.test(result.stderr)) return undefined
  throw new StepFailed('InvalidPath', `stat of ${path} failed: ${firstLineOf(result)}`, {
    hint: CHECK,
  })
}

/** The path with all links resolved. @throws StepFailed InvalidPath, TimedOut */
export async function resolvePath(path: string, run: StepContext): Promise<string> {
  const result = await command(run, 'readlink', ['-f', '--', path])
  const resolved = result.stdout.replace(/\n$/, '')
  if (result.status === 0 && resolved.startsWith('/')) return resolved
  throw new StepFailed('InvalidPath', `links in ${path} could not be resolved: ${firstLineOf(result)}`, {
    hint: 'Check the path, then plan again.',
  })
}
