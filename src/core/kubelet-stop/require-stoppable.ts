/** Whether volctl may stop the unit that runs the kubelet (S35). Pure. */

import { SafetyRefusal } from '../errors/errors.ts'
import { commandLine } from '../lang/command.ts'
import { firstFew } from '../lang/first-few.ts'
import { runsApiServer } from '../plan/kubelet-units.ts'
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
  requireSteady(facts)
  requireAlone(facts, otherApi)
  return facts
}

function requireSteady({ unit, activeState, subState, unitFileState, refusesManually, startedBy }: UnitFacts): void {
  const why =
    activeState !== 'active'
      ? `${unit} is ${activeState} (${subState})`
      : startedBy.length > 0
        ? `${startedBy.join(', ')} may start ${unit} at any moment`
        : refusesManually
          ? `${unit} may not be stopped or started by hand`
          : unitFileState === 'transient'
            ? `${unit} is transient: systemd forgets it once it is stopped`
            : undefined
  if (why === undefined) return
  throw new SafetyRefusal('S35', 'KubeletNotStopped', why, {
    hint: `volctl only stops a unit that runs, and that stays stopped: ${commandLine('systemctl', 'status', unit)}`,
  })
}

function requireAlone(facts: UnitFacts, otherApi: boolean): void {
  const { unit, killMode, containers, stopsToo, servesApi } = facts
  if (!otherApi && (servesApi || runsApiServer(unit))) {
    throw new SafetyRefusal('S35', 'KubeletNotStopped', `${unit} runs this node's API server as well`, {
      hint: 'Give the --kubeconfig of an API server on another machine.',
    })
  }
  const [first] = containers
  if (first !== undefined && ENDS_ALL.has(killMode)) {
    const named = firstFew(
      containers.map(({ comm, pid }) => `${comm} (pid ${pid})`),
      NAMED_AT_MOST,
      'and ',
    )
    throw new SafetyRefusal('S35', 'KubeletNotStopped', `stopping ${unit} would end containers: ${named.join(', ')}`, {
      hint: `They are in the unit's cgroup, and its KillMode is ${killMode}: set KillMode=process, or move them to another unit.`,
    })
  }
  if (stopsToo.length > 0) {
    throw new SafetyRefusal('S35', 'KubeletNotStopped', `stopping ${unit} would stop ${stopsToo.join(', ')} as well`, {
      hint: `See why: ${commandLine('systemctl', 'list-dependencies', '--reverse', unit)}`,
    })
  }
}
