/** What a step of an operation is given: the ports to the world, its context, and how it asks rules and programs. */

import { firstCharacters } from '../../base/text.ts'
import type { CsiDriver } from '../../kube/api/objects.ts'
import { cannotHang, containingMount } from '../../linux/location.ts'
import { parseStatLine, STAT_FORMAT } from '../../linux/paths.ts'
import type { Undo } from '../../linux/undo.ts'
import { StepFailed, StepTimedOut, said } from '../../messages/findings.ts'
import type { Cluster } from '../../node/api/node-objects.ts'
import type { ApplyEvent, KubeletDowntime } from '../../plan/events.ts'
import type { Operation, Plan } from '../../plan/plan.ts'
import type { csiNodeClient } from '../../rpc/csi-node-client.ts'
import type { Host } from '../../rules/host.ts'
import type { MachineFacts, Questions, Verdict, Witness } from '../../rules/machine-facts.ts'
import type { When } from '../../rules/rule.ts'
import { verdictOf } from '../../rules/rules.ts'
import { type CommandResult, leftText } from '../../trust/programs.ts'
import type { Lookup } from '../../volumes/api-lookup.ts'
import type { VolumeToMount } from '../../volumes/desired-state.ts'
import type { KubeletSnapshot } from '../../volumes/snapshot.ts'
import type { Journal } from '../journal/write-journal.ts'

/** A CSI driver's node service; a rejection carries the driver's gRPC status. */
export type CsiNode = ReturnType<typeof csiNodeClient>

/** How a kubelet that was stopped is looked at. */
export interface StoppedLooks {
  /** A whole look, and its plan. */
  look(): Promise<Plan>
  /** Asks this machine alone. */
  kubeletIsBack(): Promise<boolean>
}

/** Stops the kubelet before the operations of an apply, and starts it again after them, however they end (S35). */
export interface KubeletStop {
  /** Milliseconds until when operations may run: the kubelet has to run again then. */
  leftMs(): number
  /** Aborted then. */
  readonly over: AbortSignal
  /**
   * Stops it, and waits until its last calls have ended.
   *
   * @returns the plan of the last look
   * @param journal in which its start is recorded as well
   * @throws VolctlError; `end` is to be called all the same
   */
  begin(journal: Journal, looks: StoppedLooks, onEvent: (event: ApplyEvent) => void): Promise<Plan>
  /** Starts it, if it may have been stopped. Does so once, and never throws. */
  end(): Promise<void>
  /** Once it has ended; undefined: it was not stopped. */
  readonly downtime: KubeletDowntime | undefined
}

export interface ApplyContext extends Questions {
  readonly cluster: Cluster
  /** A whole fresh look at the node, and its plan, with the options of the plan that is carried out. */
  look(): Promise<Plan>
  /** The plan that was made just now, which a saved one is compared with: the node is not read again before the start. */
  readonly freshPlan?: Plan
  /** True if the look showed the node as the operation would make it: for a plan file that was carried out before. */
  isDone(operation: Operation): boolean
  kubeletState(): KubeletSnapshot | Promise<KubeletSnapshot>
  /** By the node's lease, why a kubelet of this node's name must have run since the last look; undefined: nothing shows that (S11). */
  renewedLease(): Promise<string | undefined>
  /** Rejects where the pods cannot be listed: then nothing is touched (S3). */
  witness(): Promise<Witness>
  /** Undefined: the driver is not registered here. */
  csi(driver: string): CsiNode | undefined | Promise<CsiNode | undefined>
  /** The CSIDriver of this name, by the last look. */
  csiDriver(name: string): Lookup<CsiDriver>
  /** Command line that starts the walker (src/child.ts); default: this program itself. */
  readonly walker?: readonly string[]
  /** The kernel and the disk; default: this host's. */
  readonly host?: Host
  /** Operations in flight at once. */
  readonly parallel: number
  /** How long one operation may wait for all calls that may hang together. */
  readonly timeoutMs: number
  /** How long a detach waits for the attacher (default 30 s). */
  readonly detachWaitMs?: number
  /** Safety overrides as they were given: they are written to the journal (S31). */
  readonly guards?: unknown
  /** Default: below /run/volctl, one file for a root directory. */
  readonly lockFile?: string
  openJournal(): Journal
  /** The file that the plan was read from, for the journal. */
  readonly planFile?: string
  /** --stop-kubelet was given, and something needs it. */
  readonly kubeletStop?: KubeletStop
  /** Once aborted, apply returns at once and names what is unfinished. */
  readonly abandon?: AbortSignal
}

// What a step works with.

interface BringUp {
  /** The volume, as the pod wants it now. */
  wanted?: VolumeToMount
  /** Absolute path of the device node that an earlier step has mounted or mapped. */
  device?: string
  /** The source of a bind mount if its step names none: a device's global mount, or a directory that needs no mount. */
  source?: string
  /** A CSI volume's driver, and its capabilities. */
  csi?: { readonly node: CsiNode; readonly capabilities: readonly string[] }
}

/** What a step of one operation works with; always passed as `run` (an ApplyRun is `apply`). */
export interface StepContext extends MachineFacts {
  readonly context: ApplyContext
  readonly journal: Journal
  /** Reports progress. */
  readonly say: (message: string) => void
  /** What an operation that sets up a volume has found out so far. */
  readonly bringUp: BringUp
  /** What its steps have made so far, the oldest first: undone where one of them fails. */
  readonly made: Undo[]
  /** So far. */
  readonly deleted: { files: number; bytes: number }
}

// Runs a program for a step, looks at paths by one, and fails a step by a rule.

/** @throws StepFailed TimedOut if the program did not end, CommandFailed if it printed too much */
export async function command(
  run: StepContext,
  program: string,
  args: readonly string[],
  input?: string,
): Promise<CommandResult> {
  const result = await run.waiting.spend((ms) => run.host.run(program, args, ms, input))
  if (!result.timedOut && result.flooded !== true) return result
  const left = leftText(result)
  const line = `${program} ${args.join(' ')}`
  if (result.flooded === true) throw new StepFailed(said('CommandFailed.output', { line, left }), { stuck: true })
  throw new StepTimedOut(said('TimedOut.program', { line, seconds: run.waiting.limitMs / 1000, left }), { stuck: true })
}

/** Of a rule that is asked right before a step. @throws StepFailed */
export function requireNone(verdict: Verdict | undefined): void {
  if (verdict !== undefined) throw new StepFailed(verdict, verdict)
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

/** Undefined: nothing is there. @throws StepFailed InvalidPath, TimedOut */
export async function lookAtPath(path: string, run: StepContext): Promise<ReturnType<typeof parseStatLine>> {
  const mount = containingMount(run.around.table, path)
  // Asked in the one way that leaves at most one process behind, however often (S36).
  if (mount !== undefined && !cannotHang(mount.fsType) && (await run.waiting.spend((ms) => run.host.isDead(mount, ms))))
    throw new StepFailed(said('InvalidPath.dead', { ...mount, path }))
  const result = await command(run, 'stat', ['-L', '-c', STAT_FORMAT, '--', path])
  const found = result.status === 0 ? parseStatLine(result.stdout.trimEnd()) : undefined
  if (found !== undefined) return found
  if (/No such file or directory|Not a directory/.test(result.stderr)) return undefined
  throw new StepFailed(said('InvalidPath.stat', { path, output: firstLineOf(result) }))
}

/** The path with all links resolved. @throws StepFailed InvalidPath, TimedOut */
export async function resolvePath(path: string, run: StepContext): Promise<string> {
  const result = await command(run, 'readlink', ['-f', '--', path])
  const resolved = result.stdout.replace(/\n$/, '')
  if (result.status === 0 && resolved.startsWith('/')) return resolved
  throw new StepFailed(said('InvalidPath.links', { path, output: firstLineOf(result) }))
}
