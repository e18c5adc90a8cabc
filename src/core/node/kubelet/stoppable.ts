/** Whether volctl may stop the unit that runs the kubelet: what it runs besides, and who else may start or stop it (S35). */

import { take } from '../../base/text.ts'
import { advice, commandLine, type Hint, marked } from '../../messages/command.ts'
import { type Finding, SafetyRefusal, said, saidOfAny } from '../../messages/findings.ts'
import { kernelTextIfAny, linkIfAny, processIds } from '../../trust/kernel.ts'
import { holdersOf, listeners } from '../../trust/listeners.ts'
import type { KubeletSnapshot } from '../../volumes/snapshot.ts'
import { RUNTIME_COMM, unitsOf } from './scan-processes.ts'
import { activeAmong, hasSystemd, OF_STATE, unitProperties, unitStateIn, unitsIn } from './systemctl.ts'

/** A process, for messages. */
interface UnitProcess {
  readonly pid: number
  readonly comm: string
}

export type UnitFacts = NonNullable<Awaited<ReturnType<typeof unitFacts>>>

const STOPPED_WITH_IT = ['RequiredBy', 'RequisiteOf', 'BoundBy', 'ConsistsOf', 'PropagatesStopTo']
const HOW_IT_STOPS = ['KillMode', 'RefuseManualStop', 'RefuseManualStart']

/** Names of processes that supervise containers, beside the runtimes themselves; comm is cut at 15 bytes. */
const SHIM_COMM = /^(containerd-shim.*|conmon.*|runc.*|crun.*|kata.*|cri-dockerd)$/

/**
 * @param apiPort of the API server; undefined: who listens there is not looked for
 * @param apiHost of the API server: an agent's own way there, on loopback (RKE2: 127.0.0.1:6443), is not the server of another address
 * @returns undefined: there is no systemd here, or it knows no such unit
 */
export async function unitFacts(unit: string, apiPort?: number, apiHost?: string) {
  if (!hasSystemd()) return undefined
  const shown = await unitProperties(unit, [...OF_STATE, ...HOW_IT_STOPS, ...STOPPED_WITH_IT])
  const state = shown && unitStateIn(shown)
  if (shown === undefined || state === undefined) return undefined
  const text = (name: string): string => shown.get(name) ?? ''
  const stopped = unitsIn(shown, ...STOPPED_WITH_IT)
  const [startedBy, stopsToo] = await Promise.all([activeAmong(state.startedBy), activeAmong(stopped)])
  const inside = processesOf(unit)
  const isRuntime = ({ comm }: UnitProcess): boolean => RUNTIME_COMM.test(comm)
  const api = apiPort === undefined ? [] : holdersOf(listeners(apiPort, undefined, apiHost))
  return {
    ...state,
    unit,
    startedBy,
    /** Active units that stop with it, and are not started with it. */
    stopsToo,
    /** Whom systemd ends when the unit stops: `control-group` and `mixed` mean everybody in its cgroup. */
    killMode: text('KillMode'),
    /** Only dependencies may start or stop it. */
    refusesManually: [text('RefuseManualStop'), text('RefuseManualStart')].includes('yes'),
    /** Processes in its cgroup that are, start or supervise containers. */
    containers: inside.filter((each) => isRuntime(each) || SHIM_COMM.test(each.comm) || isContained(each.pid)),
    /** One of them is a container runtime. */
    runsRuntime: inside.some(isRuntime),
    /** A process of the unit listens on the API server's port. */
    servesApi: inside.some(({ pid }) => api.includes(pid)),
  }
}

/** Whose cgroup, or a part of it, is the unit's. */
function processesOf(unit: string): UnitProcess[] {
  return processIds()
    .filter((pid) => unitsOf(kernelTextIfAny(`/proc/${pid}/cgroup`) ?? '').includes(unit))
    .map((pid) => ({ pid, comm: kernelTextIfAny(`/proc/${pid}/comm`) ?? '' }))
}

/** A process in its own PID namespace: no program that the kubelet starts for a moment has one. */
function isContained(pid: number): boolean {
  const own = linkIfAny(`/proc/${pid}/ns/pid`)
  return own !== undefined && own !== linkIfAny('/proc/1/ns/pid')
}

// What follows from these facts. Pure.

/** systemd ends all processes of such a unit. */
const ENDS_ALL = new Set(['control-group', 'mixed'])
const NAMED_AT_MOST = 3

/** What keeps volctl from stopping the kubelet. */
export function notStopped(finding: Finding<'KubeletNotStopped'>, hint: Hint): SafetyRefusal {
  return new SafetyRefusal('S35', finding, { hint })
}

/**
 * @param unit by the kubelet's process; undefined: it runs in none
 * @param facts undefined: systemd knows no such unit, or is not there
 * @returns the facts of a unit that runs, that only volctl stops, and with which nothing else stops
 * @throws SafetyRefusal
 */
export function requireStoppable(unit: string | undefined, facts: UnitFacts | undefined): UnitFacts {
  if (unit === undefined || facts === undefined)
    throw notStopped(
      unit === undefined ? said('KubeletNotStopped.noUnit') : said('KubeletNotStopped.unknownUnit', { unit }),
      marked('Stop what runs the kubelet yourself, then: `volctl apply`; and start it again.'),
    )
  const unstoppable = whyUnstoppable(facts)
  if (unstoppable === undefined) return facts
  const { why, remedy, command: argv } = unstoppable
  throw notStopped(saidOfAny('KubeletNotStopped', 'why', { why }), advice`${remedy}: ${commandLine(...argv)}`)
}

/** Why --stop-kubelet is refused; undefined: it is not. */
export function whyUnstoppable(facts: UnitFacts): KubeletSnapshot['unstoppable'] {
  const { unit, activeState, startedBy, killMode, containers, stopsToo } = facts
  const steady = {
    remedy: 'volctl only stops a unit that runs, and that stays stopped',
    command: ['systemctl', 'status', unit],
  }
  if (activeState !== 'active') return { why: `${unit} is ${activeState} (${facts.subState})`, ...steady }
  if (startedBy.length > 0)
    return {
      why: `${startedBy.join(', ')} may start ${unit} at any moment`,
      remedy: 'End that for as long, and start it again afterwards',
      command: ['systemctl', 'stop', ...startedBy],
    }
  if (facts.refusesManually) return { why: `${unit} may not be stopped or started by hand`, ...steady }
  if (facts.unitFileState === 'transient')
    return { why: `${unit} is transient: systemd forgets it once it is stopped`, ...steady }
  if (containers.length > 0 && ENDS_ALL.has(killMode)) {
    const named = containers.map(({ comm, pid }) => `${comm} (pid ${pid})`)
    return {
      ...steady,
      why: `stopping ${unit} would end containers: ${take(named, NAMED_AT_MOST, 'and ').join(', ')}`,
      remedy: `They are in the unit's cgroup, and its KillMode is ${killMode}: set KillMode=process, or move them to another unit`,
    }
  }
  if (stopsToo.length > 0)
    return {
      why: `stopping ${unit} would stop ${stopsToo.join(', ')} as well`,
      remedy: 'See why',
      command: ['systemctl', 'list-dependencies', '--reverse', unit],
    }
  // Last: it says to stop the unit, which must do no harm (S37).
  if (!facts.servesApi && !runsApiServer(unit)) return undefined
  return {
    why: `${unit} runs this node's API server as well`,
    remedy: 'Stop it yourself, and give volctl apply the --kubeconfig of an API server on another machine',
    command: ['systemctl', 'stop', unit],
  }
}

/** Units that run an API server in the same process or under it: once they are stopped, the API server no longer answers volctl. */
const WITH_API_SERVER: ReadonlySet<string> = new Set([
  'k3s.service',
  'rke2-server.service',
  'k0scontroller.service',
  'snap.microk8s.daemon-kubelite.service',
])

export function runsApiServer(unit: string): boolean {
  return WITH_API_SERVER.has(unit)
}
