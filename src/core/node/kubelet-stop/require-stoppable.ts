/** Whether volctl may stop the unit that runs the kubelet (S35). Pure. */

import { commandLine } from '../../base/command.ts'
import { SafetyRefusal } from '../../base/errors.ts'
import { take } from '../../base/take.ts'
import type { KubeletSnapshot } from '../../facts/actual/snapshot.ts'
import { runsApiServer } from '../../plan/kubelet-units.ts'
import type { UnitFacts } from './unit-facts.ts'

export interface StopAsked {
  /** By the kubelet's process; undefined: it runs in no unit. */
  readonly unit: string | undefined
  /** Undefined: systemd knows no such unit, or is not there. */
  readonly facts: UnitFacts | undefined
  /** --kubeconfig was given, and its server is not on this machine. */
  readonly otherApi: boolean
}

/** systemd ends all processes of such a unit. */
const ENDS_ALL = new Set(['control-group', 'mixed'])
const NAMED_AT_MOST = 3

/**
 * @returns the facts of a unit that runs, that only volctl stops, and with which nothing else stops
 * @throws SafetyRefusal
 */
export function requireStoppable({ unit, facts, otherApi }: StopAsked): UnitFacts {
  if (unit === undefined || facts === undefined) {
    throw new SafetyRefusal(
      'S35',
      'KubeletNotStopped',
      unit === undefined ? 'the kubelet runs in no systemd unit' : `systemd knows no unit ${unit}`,
      { hint: 'Stop what runs the kubelet yourself, then: volctl apply; and start it again.' },
    )
  }
  if (!otherApi && (facts.servesApi || runsApiServer(unit))) {
    throw new SafetyRefusal('S35', 'KubeletNotStopped', `${unit} runs this node's API server as well`, {
      hint: 'Give the --kubeconfig of an API server on another machine.',
    })
  }
  const unstoppable = whyUnstoppable(facts)
  if (unstoppable === undefined) return facts
  const { why, remedy, command } = unstoppable
  throw new SafetyRefusal('S35', 'KubeletNotStopped', why, { hint: `${remedy}: ${commandLine(...command)}` })
}

/** Why --stop-kubelet is refused, whatever API server is asked; undefined: it is not. */
export function whyUnstoppable(facts: UnitFacts): KubeletSnapshot['unstoppable'] {
  const { unit, activeState, subState, unitFileState, refusesManually, startedBy, killMode, containers, stopsToo } =
    facts
  const steady = {
    remedy: 'volctl only stops a unit that runs, and that stays stopped',
    command: ['systemctl', 'status', unit],
  }
  if (activeState !== 'active') return { why: `${unit} is ${activeState} (${subState})`, ...steady }
  if (startedBy.length > 0)
    return {
      why: `${startedBy.join(', ')} may start ${unit} at any moment`,
      remedy: 'End that for as long, and start it again afterwards',
      command: ['systemctl', 'stop', ...startedBy],
    }
  if (refusesManually) return { why: `${unit} may not be stopped or started by hand`, ...steady }
  if (unitFileState === 'transient')
    return { why: `${unit} is transient: systemd forgets it once it is stopped`, ...steady }
  if (containers.length > 0 && ENDS_ALL.has(killMode)) {
    const named = take(
      containers.map(({ comm, pid }) => `${comm} (pid ${pid})`),
      NAMED_AT_MOST,
      'and ',
    )
    return {
      why: `stopping ${unit} would end containers: ${named.join(', ')}`,
      remedy: `They are in the unit's cgroup, and its KillMode is ${killMode}: set KillMode=process, or move them to another unit`,
      command: ['systemctl', 'status', unit],
    }
  }
  if (stopsToo.length === 0) return undefined
  return {
    why: `stopping ${unit} would stop ${stopsToo.join(', ')} as well`,
    remedy: 'See why',
    command: ['systemctl', 'list-dependencies', '--reverse', unit],
  }
}
