/** What a unit runs besides the kubelet, and who else may start or stop it: asked before volctl stops it (S35). */
import { omitUndefined } from '../../base/omit-undefined.ts'
import { kernelTextIfAny, linkIfAny, listIfAny } from '../../trust/kernel.ts'
import { holdersOf, listeners } from '../../trust/listeners.ts'
import { RUNTIME_COMM, unitsOf } from '../kubelet/scan-processes.ts'
import { activeAmong, hasSystemd, STARTERS, startersIn, unitProperties } from '../kubelet/systemctl.ts'

/** A process, for messages. */
export interface UnitProcess {
  readonly pid: number
  readonly comm: string
}

export interface UnitFacts {
  readonly unit: string
  readonly activeState: string
  readonly subState: string
  /** `enabled`: it starts at the next boot. */
  readonly unitFileState: string
  /** Whom systemd ends when the unit stops: `control-group` and `mixed` mean everybody in its cgroup. */
  readonly killMode: string
  /** Only dependencies may start or stop it. */
  readonly refusesManually: boolean
  /** Active units that may start it at any moment. */
  readonly startedBy: readonly string[]
  /** Active units that stop with it, and are not started with it. */
  readonly stopsToo: readonly string[]
  /** Processes in its cgroup that are, start or supervise containers. */
  readonly containers: readonly UnitProcess[]
  /** One of them is a container runtime. */
  readonly runsRuntime: boolean
  /** A process of the unit listens on the API server's port. */
  readonly servesApi: boolean
}

const STOPPED_WITH_IT = ['RequiredBy', 'RequisiteOf', 'BoundBy', 'ConsistsOf', 'PropagatesStopTo']
const PLAIN = [
  'LoadState',
  'ActiveState',
  'SubState',
  'UnitFileState',
  'KillMode',
  'RefuseManualStop',
  'RefuseManualStart',
]

/** Names of processes that supervise containers, beside the runtimes themselves; comm is cut at 15 bytes. */
const SHIM_COMM = /^(containerd-shim.*|conmon.*|runc.*|crun.*|kata.*|cri-dockerd)$/

/**
 * @param apiPort of the API server, where it is on this machine
 * @returns undefined: there is no systemd here, or it knows no such unit
 */
export async function unitFacts(unit: string, apiPort: number | undefined): Promise<UnitFacts | undefined> {
  if (!hasSystemd()) return undefined
  const shown = await unitProperties(unit, [...PLAIN, ...STARTERS, ...STOPPED_WITH_IT])
  if (shown === undefined || shown.get('LoadState') === 'not-found') return undefined
  const text = (name: string): string => shown.get(name) ?? ''
  const named = (names: readonly string[]): string[] => names.flatMap((name) => text(name).split(/\s+/).filter(Boolean))
  const [startedBy, stopsToo] = await Promise.all([activeAmong(startersIn(shown)), activeAmong(named(STOPPED_WITH_IT))])
  const inside = processesOf(unit)
  const containers = inside.filter(
    ({ pid, comm }) => RUNTIME_COMM.test(comm) || SHIM_COMM.test(comm) || isContained(pid),
  )
  const api = apiPort === undefined ? [] : holdersOf(listeners(apiPort))
  return {
    ...{ unit, activeState: text('ActiveState'), subState: text('SubState'), unitFileState: text('UnitFileState') },
    killMode: text('KillMode'),
    refusesManually: [text('RefuseManualStop'), text('RefuseManualStart')].includes('yes'),
    ...{ startedBy, stopsToo, containers },
    runsRuntime: inside.some(({ comm }) => RUNTIME_COMM.test(comm)),
    servesApi: inside.some(({ pid }) => api.includes(pid)),
  }
}

/** Whose cgroup, or a part of it, is the unit's. */
function processesOf(unit: string): UnitProcess[] {
  return listIfAny('/proc').flatMap((name) => {
    const cgroup = /^\d+$/.test(name) ? kernelTextIfAny(`/proc/${name}/cgroup`) : undefined
    if (cgroup === undefined || !unitsOf(cgroup).includes(unit)) return []
    return [{ pid: Number(name), ...omitUndefined({ comm: kernelTextIfAny(`/proc/${name}/comm`) ?? '' }) }]
  })
}

/** A process in its own PID namespace: no program that the kubelet starts for a moment has one. */
function isContained(pid: number): boolean {
  const own = linkIfAny(`/proc/${pid}/ns/pid`)
  return own !== undefined && own !== linkIfAny('/proc/1/ns/pid')
}
