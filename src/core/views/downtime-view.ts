/** What volctl says of a kubelet that is stopped for an apply: before the question, meanwhile, and at the end. */

import { formatDuration } from '../base/text.ts'
import { advice, kubectl } from '../messages/command.ts'
import { said } from '../messages/findings.ts'
import type { KubeletDowntime } from '../plan/events.ts'
import { type Palette, type Width, wrapped } from './screen.ts'

/** Kubernetes' defaults: how long a node may be silent, and how long pods tolerate that it is not ready. */
const NOT_READY_MS = 40_000
const TOLERATED_MS = 300_000

interface Announced {
  readonly unit: string
  /** The node's name. */
  readonly node: string
  readonly maxMs: number
  readonly settleMs: number
  /** It starts at the next boot. */
  readonly atBoot: boolean
}

/** Below the plan, above the question. */
export function announcement({ unit, node, maxMs, settleMs, atBoot }: Announced, width: Width): string {
  const evicted = NOT_READY_MS + TOLERATED_MS
  const means =
    maxMs < NOT_READY_MS
      ? 'Pods keep running.'
      : `Node ${node} becomes NotReady after ${formatDuration(NOT_READY_MS)}. Pods keep running; they are evicted after ${formatDuration(TOLERATED_MS)} more, unless they tolerate it longer${maxMs < evicted ? '' : `: --max-downtime ${formatDuration(maxMs)} is longer than that`}.`
  return [
    '\n',
    wrapped(
      '',
      `This is what volctl would do once ${unit} is stopped. It stops ${unit}, waits ${formatDuration(settleMs)} for its last calls to end, and starts it again after at most ${formatDuration(maxMs)}. If volctl dies, systemd starts it.`,
      width,
    ),
    wrapped('', means, width),
    atBoot ? '' : wrapped('', `${unit} is not enabled: if the node reboots meanwhile, it stays stopped.`, width),
  ].join('')
}

/** As one sentence. */
export function stopText(unit: string, maxMs: number): string {
  return `${unit} is stopped; it starts again after at most ${formatDuration(maxMs)}, even if volctl dies`
}

export function startText(downtime: KubeletDowntime): string {
  const { unit, downMs, runs, byOthers } = downtime
  if (!runs) return stillStopped(downtime).message
  return `${unit} runs again, after ${formatDuration(downMs)}${byOthers === true ? ': somebody else has started it' : ''}`
}

export function stillStopped({ unit, downMs, why = 'unknown' }: KubeletDowntime) {
  return said('KubeletNotStarted', { unit, down: formatDuration(downMs), why })
}

/** At the end of the apply. */
export function downtimeText(downtime: KubeletDowntime, node: string, paint: Palette, width: Width): string {
  const { ready, runs } = downtime
  const isReady =
    ready === undefined || !runs
      ? ''
      : ready
        ? `; node ${node} is Ready`
        : advice`; node ${node} is not Ready yet: ${kubectl('get', 'node', node)}`
  return wrapped('', advice`${startText(downtime)}${isReady}.`, width, runs ? paint.good : paint.bad)
}
