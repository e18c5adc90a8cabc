/**
 * Whether a kubelet runs here, or may start again (S11, N19). Its --lock-file is never opened: that makes some kubelets exit
 * (N20).
 */
import { get } from 'node:http'
import { addDoubt } from '../../trust/files.ts'
import { holdersOf, type Listener, listeners, socketTables } from '../../trust/listeners.ts'
import { pin } from '../../trust/processes.ts'
import type { KubeletCandidate } from './kubelet-candidate.ts'
import type { KubeletConfig } from './kubelet-config.ts'
import { whyNotHosts } from './scan-processes.ts'
import type { LocalKubelet } from './signs-of-life.ts'
import { type UnitState, unitState } from './systemctl.ts'

const HEALTHZ_PORT = 10248
const API_PORT = 10250
const HEALTHZ_DEADLINE_MS = 500

interface KubeletSigns {
  /** Every kubelet process of this host, whatever its root directory. */
  readonly running: readonly KubeletCandidate[]
  /** The kubelet of this root directory. */
  readonly chosen: KubeletCandidate | undefined
  readonly config: KubeletConfig
  /** It is volctl that has stopped it (S35). */
  readonly stoppedHere?: boolean
}

/** Asks systemd and the kubelet's ports, if the process table shows no kubelet. */
export async function kubeletState(signs: KubeletSigns): Promise<LocalKubelet> {
  const unit = signs.chosen?.unit ?? 'kubelet.service'
  if (signs.running.length > 0) return judgeKubelet(signs, { unit })
  const sockets = socketTables()
  const [state, healthy] = await Promise.all([unitState(unit, signs.stoppedHere), healthOf(signs.config, sockets)])
  return judgeKubelet(signs, { unit, state, healthy, port: listensOnItsPort(signs.config, sockets) })
}

export interface KubeletAnswers {
  readonly unit: string
  readonly state?: UnitState | 'no systemd' | 'no answer'
  /** Undefined: the health port is off, or somebody else has it. */
  readonly healthy?: boolean
  /** The port of the kubelet's API, if root listens on it. */
  readonly port?: number
}

/**
 * Pure: the kubelet's state from its signs. If systemd says nothing, the kubelet "may return"; if no unit says since when it
 * is stopped, other sources decide.
 */
export function judgeKubelet(signs: KubeletSigns, answers: KubeletAnswers): LocalKubelet {
  const { chosen, config } = signs
  const running = signs.running.find((candidate) => candidate === chosen) ?? signs.running[0]
  // Otherwise one that systemd knows.
  const known = typeof answers.state === 'object' ? answers.unit : undefined
  const common = {
    pid: running?.pid,
    unit: running === undefined ? known : running.unit,
    args: chosen?.args,
    config: Object.keys(config).length > 0 ? config : undefined,
  }
  const here = { running: true, mayReturn: true, ...common }
  if (running !== undefined) return here
  if (answers.healthy) return { ...here, note: 'a process answers "ok" on the kubelet\'s health port' }
  if (answers.port === undefined) return { running: false, ...held(answers), ...common }
  return { ...here, note: `a process of root listens on the kubelet's port ${answers.port}` }
}

type Held = Pick<LocalKubelet, 'mayReturn' | 'stoppedAt' | 'stopUnknown' | 'note'>

/** systemd forgets a stopped unit that nothing wants, and then does not know when it stopped (O38). */
function held({ unit, state }: KubeletAnswers): Held {
  const unknown = (note: string, mayReturn = false): Held => ({ mayReturn, stopUnknown: true, note })
  if (state === 'no systemd') return unknown('no kubelet process; no systemd here that could start one')
  if (state === 'no answer') return unknown('no kubelet process; systemd did not answer whether one may start', true)
  if (state === undefined) return unknown(`no kubelet process, no unit ${unit}`)
  const since: Pick<Held, 'stoppedAt' | 'stopUnknown'> =
    state.inactiveSince === undefined ? { stopUnknown: true } : { stoppedAt: state.inactiveSince }
  const { activeState, subState, unitFileState } = state
  if (activeState !== 'inactive' && activeState !== 'failed')
    return { mayReturn: true, ...since, note: `${unit} ${activeState} (${subState})` }
  const startedBy = state.startedBy.join(', ')
  if (startedBy) return { mayReturn: true, ...since, note: `${unit} ${activeState}; ${startedBy} may start the unit` }
  const atBoot = unitFileState.startsWith('enabled') ? ', starts at next boot' : ''
  return { mayReturn: false, ...since, note: `${unit} ${activeState}; ${unitFileState || 'not installed'}${atBoot}` }
}

/** 200 "ok" on localhost; undefined: the port is off, or somebody else has it. It only shows that the process serves (N19). */
export async function healthOf(config: KubeletConfig, sockets = socketTables()): Promise<boolean | undefined> {
  const port = config.healthzPort ?? HEALTHZ_PORT
  if (port === 0 || isOthers(port, sockets)) return undefined
  const address = config.healthzBindAddress
  const host = address === undefined || address === '0.0.0.0' || address === '::' ? '127.0.0.1' : address
  return new Promise((resolve) => {
    const signal = AbortSignal.timeout(HEALTHZ_DEADLINE_MS)
    const request = get({ host, port, path: '/healthz', agent: false, signal }, (response) => {
      response.resume()
      resolve(response.statusCode === 200)
    })
    request.on('error', () => resolve(false))
  })
}

/**
 * If the health port is off, the API's port is checked. A listener of root's is enough, since a request would need a
 * certificate.
 */
function listensOnItsPort(config: KubeletConfig, sockets: readonly string[]): number | undefined {
  const port = config.port ?? API_PORT
  return port !== 0 && !isOthers(port, sockets) && listeners(port, sockets).length > 0 ? port : undefined
}

/**
 * While the kubelet is down any user may listen there, and so keep root from repairing the node (S32): another user, or a pod
 * in the host's network, whose uid may be 0.
 */
function isOthers(port: number, sockets: readonly string[]): boolean {
  const found = listeners(port, sockets)
  const why = found.some(({ uid }) => uid !== 0) ? 'it does not run as root' : whyHoldersAreOthers(found)
  if (why === undefined) return false
  addDoubt({
    what: `port ${port}`,
    why: `its listener does not count as this node's kubelet: ${why}`,
    hint: `Find the process: ss -ltnp sport = :${port}`,
  })
  return true
}

/** Why the listening processes are not the host's; undefined: one of them is, or none was found. */
function whyHoldersAreOthers(found: readonly Listener[]): string | undefined {
  const whys = (found.length === 0 ? [] : holdersOf(found)).map((pid) => {
    using process = pin(pid)
    try {
      return process && whyNotHosts(process)
    } catch {
      // The process has ended, so its owner is unknown.
      return undefined
    }
  })
  return whys.includes(undefined) ? undefined : whys[0]
}
