/** What every phase of the pass reads, made once per plan: only its findings change afterwards; and what several phases say and do alike. */

import { rfc3339 } from '../base/text.ts'
import type { Ledger } from '../facts/ledger.ts'
import type { LedgerSources } from '../facts/row.ts'
import { isSameMount, type MountInfo } from '../linux/mount-table.ts'
import { withoutCopies } from '../linux/propagation.ts'
import { type Code, remedyOf } from '../messages/codes.ts'
import { type Advice, advice, commandLine, type Hint } from '../messages/command.ts'
import { type Finding, said, saidOfAny } from '../messages/findings.ts'
import { runsApiServer } from '../node/kubelet/stoppable.ts'
import type { About, Findings, Wait } from '../plan/draft.ts'
import type { PlanInputs, PlanOptions } from '../plan/plan.ts'
import type { VolumeToMount } from '../volumes/desired-state.ts'
import type { PodRef } from '../volumes/finding.ts'
import { podName } from '../volumes/pods.ts'
import type { KubeletSnapshot } from '../volumes/snapshot.ts'
import type { Step } from '../volumes/steps.ts'
import type { PodClasses } from './pods/pod-classes.ts'
import type { StaticSources } from './pods/static-sources.ts'
import type { VolumeUses } from './pods/volume-uses.ts'
import type { Witnesses } from './pods/witnesses.ts'

export interface PlanContext extends Omit<LedgerSources, 'podUids' | 'endedPods'> {
  readonly options: PlanOptions
  readonly classes: PodClasses
  readonly witnesses: Witnesses
  readonly statics: StaticSources
  /** Every volume of the node: what findings are made about. */
  readonly ledger: Ledger
  /** What refers to each of them. */
  readonly uses: VolumeUses
  /** What the phases have found so far: each reads what earlier ones have added, and none changes it. */
  readonly findings: Findings
  readonly kubelet: PlanInputs['kubelet']
  /** Milliseconds since the epoch: when the snapshot was taken. */
  readonly now: number
  /**
   * The same by this host's clock or the API server's, whichever is behind (S28): if this host's clock was set forward, a
   * change of a moment before would look old.
   */
  readonly cautiousNow: number
  readonly bootTime: number | undefined
}

/** A pod's name, if the API or the runtime has it; otherwise its UID. */
export function podRefOf({ classes }: PlanContext, uid: string): PodRef {
  return classes.of(uid)?.ref ?? { uid }
}

export function podNameOf(context: PlanContext, uid: string): string {
  return podName(podRefOf(context, uid))
}

/** What a problem with a volume that a pod wants is about. @param path absolute */
export function aboutWanted({ ledger }: PlanContext, volume: VolumeToMount, path?: string): About {
  const { podUid: pod, specName } = volume
  return { pod, volume: specName, path, subject: ledger.wanted(volume) }
}

/**
 * S11: a kubelet that runs or may come back owns devices, maps, attachments and mounts; one that has just stopped may have
 * driver calls in flight.
 * @returns what to wait for, or undefined if volctl may act
 */
export function waitForKubelet(context: PlanContext): Wait | undefined {
  const { kubelet, inputs, options, now } = context
  if (kubelet.state !== 'stopped') return { ...said(OWNS[kubelet.state]), hint: howToStop(inputs.snapshot.kubelet) }
  const { stoppedAt, stopShownBy } = { ...inputs.snapshot.kubelet }
  if (stoppedAt === undefined) return undefined
  const since = now - Date.parse(stoppedAt)
  if (since >= options.settleMs) return undefined
  if (stopShownBy === 'nothing') {
    return {
      ...said('Settling.unknown'),
      hint: `If the kubelet stopped more than ${options.settleMs / 1000} s ago: volctl plan --settle 0s`,
    }
  }
  return {
    ...said('Settling.kubelet', { seconds: options.settleMs / 1000 }),
    hint: 'Wait, or give a shorter --settle.',
    until: rfc3339(Date.parse(stoppedAt) + options.settleMs),
  }
}

const OWNS = {
  running: 'KubeletRunning.running',
  mayReturn: 'KubeletRunning.mayReturn',
  unknown: 'KubeletRunning.unknown',
} as const

// Next steps that several phases give.

/**
 * S13: what volctl leaves, a kubelet that starts does not (O40, O47): that is said before anyone starts it.
 *
 * @param what the kubelet deletes
 */
export function lostAtStart<T extends Partial<Finding<Code>> & { readonly message: string; readonly hint?: Hint }>(
  { inputs }: PlanContext,
  said: T,
  what = 'it',
): T {
  if (inputs.snapshot.kubelet?.running === true) return said
  const { code, hint = code && remedyOf(code) } = said
  const { message, args } = saidOfAny('', 'lost', { message: said.message, what })
  return {
    ...said,
    message,
    args,
    hint: hint === undefined ? NOT_YET : advice`${NOT_YET} ${hint}`,
  }
}

/** For work that volctl cannot do, and a kubelet can. @param why follows the command */
export function startKubelet({ inputs }: PlanContext, why = 'it mounts the volume'): Advice {
  return advice`Start the kubelet${startAside(inputs.snapshot.kubelet)}: ${why}.`
}

/** Before what would be lost. */
const NOT_YET = 'Do not start the kubelet yet.'

/** @param what "list persistentvolumes" */
export function useCredential(what: string): string {
  return `Use a credential that may ${what} (--kubeconfig).`
}

// How a person stops and starts the kubelet of this node: the unit that really runs the kubelet, which k3s, RKE2, k0s and
// MicroK8s name after themselves.

/** "Stop the kubelet (systemctl stop k3s-agent.service) and plan again.", with a warning if one is needed. */
export function howToStop(kubelet: KubeletSnapshot | undefined): Advice {
  const { mayReturn = false, running = false, unit = '' } = { ...kubelet }
  const api = runsApiServer(unit)
    ? ` ${unit} also runs this node's API server: plan with the --kubeconfig of another one.`
    : ''
  const starters = mayReturn && !running ? ', and stop whatever may start it,' : ''
  return advice`Stop the kubelet${stopCommand(kubelet)}${starters} and plan again.${api}`
}

/** " (systemctl stop kubelet.service)". A process without a known unit nobody is told to end: what started it may start it again. */
export function stopCommand({ unit, running }: Partial<KubeletSnapshot> = {}): Hint {
  if (unit !== undefined) return advice` (${commandLine('systemctl', 'stop', unit)})`
  return running ? ' (no unit of it is known: stop what runs it, so that it stays down)' : ''
}

/** "start the kubelet (systemctl start kubelet.service)", inside a sentence. */
export function howToStart(kubelet: Partial<KubeletSnapshot> | undefined): Advice {
  return advice`start the kubelet${startAside(kubelet)}`
}

/** " (systemctl start kubelet.service)" */
function startAside(kubelet: Partial<KubeletSnapshot> | undefined): Hint {
  return kubelet?.unit === undefined ? '' : advice` (${startCommand(kubelet)})`
}

/** "systemctl start kubelet.service", behind a colon. */
export function startCommand({ unit }: Partial<KubeletSnapshot> = {}): Hint {
  return unit === undefined ? 'start the kubelet' : commandLine('systemctl', 'start', unit)
}

// Steps that unmount what is stacked on one path (S19, S20, R819, P120).

/** What is mounted on one path, oldest first. */
export interface Stack {
  /** Relative to the root directory. */
  readonly path: string
  readonly layers: readonly MountInfo[]
}

/**
 * One umount per layer, newest first: below a root directory that is bind-mounted on itself, copies go away with their mounts
 * (O35). A flag may ask for a forced or lazy umount of the mount that this path shows.
 */
export function umountSteps(context: PlanContext, { path, layers }: Stack): Step[] {
  const { inputs } = context
  const detail = umountDetail(context, path)
  const top = layers.at(-1)
  const all = inputs.at(path)
  const own = withoutCopies(inputs.mounts, inputs.absolute(path))
  return layers
    .filter((layer) => own.includes(layer) || !all.includes(layer))
    .toReversed()
    .map((layer) => ({
      op: 'umount',
      target: path,
      // A layer of another file system is neither dead nor meant by the flag.
      detail: isSameMount(top, layer) ? detail : undefined,
    }))
}

function umountDetail({ options, inputs }: PlanContext, path: string): string | undefined {
  const at = inputs.absolute(path)
  if (options.lazy.includes(at)) return 'lazy'
  if (options.forceUnmount.includes(at)) return 'force'
  return inputs.deadError(path) === undefined ? undefined : 'dead'
}

/** Only the newest mount was probed: a layer of another file system, or of another part of it, may answer. */
export function layersBelowDead(layers: readonly MountInfo[]): MountInfo[] {
  const top = layers.at(-1)
  return layers.filter((layer) => !isSameMount(top, layer))
}
