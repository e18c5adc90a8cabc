/**
 * The answer of `volctl doctor`, as data: checks, and whether volctl can work. From a look to the answer, pure: whatever could not be
 * read, what could be is judged.
 */

import { compareText, count, counted, formatDuration, inSeconds, present } from '../../base/text.ts'
import { NODE_USER } from '../../kube/api/names.ts'
import { missingText } from '../../linux/capabilities.ts'
import { remedyOf } from '../../messages/codes.ts'
import { type Hint, marked } from '../../messages/command.ts'
import { INSECURE_API } from '../../plan/insecure-api.ts'
import type { PlanOptions } from '../../plan/plan.ts'
import { decideNode } from '../../reconcile/plan-node.ts'
import { howToStop, type PlanContext } from '../../rules/context.ts'
import { bringDriverBack, isOf, isSilent } from '../../rules/driver-call.ts'
import { readOnlyPlace } from '../../rules/foreign-mounts.ts'
import type { ApiSnapshot, NodeSnapshot } from '../../volumes/snapshot.ts'
import { judgeDriver } from '../driver.ts'
import type { DoctorLook, Failure } from './doctor-look.ts'

/** The worst first. */
export const CHECK_STATES = ['failed', 'unknown', 'warning', 'ok'] as const
type CheckState = (typeof CHECK_STATES)[number]

/** Every check, and what it is called. A check of a driver or a file comes once for each. */
export const CHECKS = {
  Root: 'privileges',
  Namespaces: 'namespaces',
  NodeFound: 'node and root directory',
  NodeRead: 'this node',
  ApiServer: 'API server',
  ApiVerified: 'API server verified',
  PlanRights: 'rights for plan',
  ApplyRights: 'rights for apply',
  Clock: 'clock',
  PlanRefused: 'safety rules',
  KubeletState: 'kubelet',
  Runtime: 'container runtime',
  CsiDriver: 'CSI driver',
  CsiSocket: 'CSI socket',
  Ignored: 'trusted files',
} as const

export type CheckId = keyof typeof CHECKS

export interface Check {
  readonly id: CheckId
  readonly title: string
  readonly state: CheckState
  readonly message: string
  /** What to do. */
  readonly next?: Hint
  /** What cannot work meanwhile; without plan there is no apply either. */
  readonly prevents?: 'plan' | 'apply'
  /** The driver, path or rule. */
  readonly about?: string
}

export type Doctor = ReturnType<typeof diagnose>

/**
 * @param options of a plan without any flag: whether a safety rule refuses it is one of the checks
 * @param createdAt RFC 3339; of a snapshot when it was taken
 */
export function diagnose(look: DoctorLook, options: PlanOptions, createdAt: string) {
  const { state, host } = look
  const rank = ({ state: found }: Check): number => CHECK_STATES.indexOf(found)
  const api = state?.snapshot.api
  const checks = [
    ...hostChecks(host),
    ...ofNode(look, options),
    serverCheck(look, api),
    ...(api === undefined ? [] : [verified(api), planRights(api), applyRights(api), clock(api)]),
  ].toSorted((a, b) => rank(a) - rank(b))
  const isPrevented = (what: 'plan' | 'apply'): boolean => checks.some(({ prevents }) => prevents === what)
  const plan = !isPrevented('plan')
  return {
    apiVersion: 'volctl.io/v1',
    kind: 'Doctor',
    /** Undefined: it could not be found out which node this is. */
    node: state?.snapshot.nodeName,
    rootDir: state?.snapshot.rootDir,
    createdAt,
    volctlVersion: options.volctlVersion,
    source: host === undefined ? 'snapshot' : 'node',
    /** Whether plan and apply can work here; `apply` is undefined of a snapshot, which does not show it. */
    works: { plan, apply: host && plan && !isPrevented('apply') },
    /** The worst first. */
    checks,
    /** How many checks have each state; a state without any is absent. */
    summary: counted(checks.map((each) => each.state)),
  }
}

function check(
  id: CheckId,
  state: CheckState,
  message: string,
  next?: Hint,
  more?: Pick<Check, 'prevents' | 'about'>,
): Check {
  return { id, title: CHECKS[id], state, message, next, ...more }
}

const NO_PLAN = { prevents: 'plan' } as const
const NO_APPLY = { prevents: 'apply' } as const

function ofNode(look: DoctorLook, options: PlanOptions): Check[] {
  const { state, failures } = look
  if (state === undefined) {
    const { message, hint = 'Name the node with --root-dir and --node.' } = failures.node ?? { message: 'not found' }
    return [check('NodeFound', 'failed', message, hint, NO_PLAN)]
  }
  const { snapshot } = state
  const { plan, context } = decideNode(state, options)
  const readOnly = readOnlyPlace(context.inputs, snapshot.rootDir)
  const unread = [failures.mountinfo, failures.tree].flatMap((why) => why ?? [])
  return [
    readOnly === undefined
      ? check('NodeFound', 'ok', `${snapshot.nodeName}, ${snapshot.rootDir}`)
      : check('NodeFound', 'failed', readOnly.message, readOnly.hint, NO_APPLY),
    ...unread.map(({ message, hint = 'Run volctl as root of the host.' }) =>
      check('NodeRead', 'failed', message, hint, NO_PLAN),
    ),
    // A safety rule that refuses the whole plan: another machine (S1), pods that seem lost (S29).
    ...present(plan.refused).map(({ message, hint = marked('See the plan: `volctl plan`'), rule: about }) =>
      check('PlanRefused', 'failed', message, hint, { ...NO_PLAN, about }),
    ),
    kubeletCheck(look, snapshot),
    runtimeCheck(failures.runtime ?? context.witnesses.blindRuntime, snapshot),
    ...driverChecks(failures.csiSockets, snapshot, context),
    ...ignored(snapshot),
  ]
}

/** @param api absent: it could not be read, or the snapshot has none */
function serverCheck({ failures, credential }: DoctorLook, api: ApiSnapshot | undefined): Check {
  const { api: why } = failures
  if (why !== undefined)
    return check('ApiServer', 'failed', why.message, why.hint ?? 'Give a kubeconfig with --kubeconfig.', NO_PLAN)
  if (api === undefined) return check('ApiServer', 'unknown', 'the API server was not asked')
  const refusal = api.errors.find(({ resource, name }) => resource === 'pods' && name === undefined)
  if (refusal !== undefined)
    return check('ApiServer', 'failed', refusal.message, 'Use a credential that may list pods.', NO_PLAN)
  const user = api.user === undefined ? '' : ` to ${api.user}`
  const from = credential === undefined ? `the ${api.credential} credential` : credential
  const pods = count(api.pods.length, 'pod')
  return check('ApiServer', 'ok', `${api.server} answers${user}, by ${from}: ${pods} of this node`)
}

function verified({ insecure: own, podListCheck }: ApiSnapshot): Check {
  const insecure = own ?? podListCheck?.insecure
  if (insecure !== undefined)
    return check('ApiVerified', 'warning', INSECURE_API[insecure], remedyOf('InsecureApi'), NO_APPLY)
  return check('ApiVerified', 'ok', 'TLS; the certificate of the API server is verified')
}

/** A kubelet's identity is refused every list, and each object that no pod of its node uses (N29): that is no right that is missing. */
function planRights({ errors, user, credential }: ApiSnapshot): Check {
  if (user?.startsWith(NODE_USER) === true || credential === 'kubelet')
    return check('PlanRights', 'ok', "the kubelet's: what pods of this node use is read object by object")
  const refusals = errors.filter(({ status }) => status === 401 || status === 403)
  if (refusals.length === 0) return check('PlanRights', 'ok', 'nothing was refused')
  const resources = [...new Set(refusals.map(({ resource }) => resource))].join(', ')
  const message = `may not read ${resources}: the plan says what is not known`
  return check('PlanRights', 'warning', message, bindRole('plan', user))
}

function applyRights({ mayDeleteVolumeAttachments: may, user }: ApiSnapshot): Check {
  const what = 'delete volumeattachments'
  if (may === undefined)
    return check('ApplyRights', 'unknown', `the API server did not say whether this credential may ${what}`)
  if (may) return check('ApplyRights', 'ok', `may ${what}`)
  return check('ApplyRights', 'warning', `may not ${what}: DetachVolume is blocked`, bindRole('apply', user))
}

function bindRole(command: 'plan' | 'apply', user = 'this user'): string {
  return `Bind the ClusterRole in deploy/clusterrole-${command}.yaml to ${user}, or give another credential with --kubeconfig.`
}

const CLOCK_MARGIN_MS = 60_000

/** volctl allows for clocks that differ (S28), but leases and ages on the screen then look wrong, and so do certificates. */
function clock({ clockSkewMs: skew }: ApiSnapshot): Check {
  if (skew === undefined) return check('Clock', 'unknown', "the API server's clock is not known")
  if (Math.abs(skew) < CLOCK_MARGIN_MS) return check('Clock', 'ok', "agrees with the API server's, within a minute")
  const text = `${formatDuration(Math.abs(skew))} ${skew > 0 ? 'behind' : 'ahead of'} the API server's clock`
  return check('Clock', 'warning', text, 'Set the clock of this host (chronyc makestep).')
}

const BESIDE_A_KUBELET = 'cleans up leftovers of orphaned pods that the kubelet ignores'

/** That a kubelet runs is as it should be: then volctl leaves to the kubelet what is the kubelet's. */
function kubeletCheck({ failures }: DoctorLook, { kubelet, api }: NodeSnapshot): Check {
  if (kubelet === undefined) {
    const { message, hint } = failures.kubelet ?? { message: 'the kubelet was not looked for' }
    return check('KubeletState', 'unknown', message, hint)
  }
  const { unit, running, mayReturn, note = '', stoppedAt, stopShownBy } = kubelet
  const names = [unit, api?.node?.status?.nodeInfo?.kubeletVersion].flatMap((each) => each ?? [])
  const say = (text: string): string => [...names, text].join(', ') + (note && `: ${note}`)
  const isShown = stoppedAt !== undefined && stopShownBy !== 'nothing'
  if (running) return check('KubeletState', 'ok', `${say('running')}; volctl then only ${BESIDE_A_KUBELET}`)
  if (mayReturn) {
    const message = `${say('down, but may come back')}; volctl then does no more than beside a kubelet`
    return check('KubeletState', 'warning', message, howToStop(kubelet))
  }
  return check('KubeletState', 'ok', say(`stopped${isShown ? ` since ${inSeconds(stoppedAt)}` : ''}`))
}

const START_IT = 'Start the container runtime, or name its socket with --runtime-endpoint.'

/** @param why it could not be asked, or does not see the pods that live (S9) */
function runtimeCheck(why: Failure | undefined, { runtime, api }: NodeSnapshot): Check {
  if (why !== undefined) return check('Runtime', 'failed', why.message, why.hint ?? START_IT)
  if (runtime === undefined) return check('Runtime', 'unknown', 'the container runtime was not asked', START_IT)
  if (runtime.source === 'none')
    return check('Runtime', 'warning', 'no container runtime answers here, and none is configured', START_IT)
  const version = api?.node?.status?.nodeInfo?.containerRuntimeVersion
  const answers = `${runtime.endpoint ?? 'it'} answers${version === undefined ? '' : ` (${version})`}`
  return check('Runtime', 'ok', `${answers}: ${count(runtime.pods.length, 'sandbox', 'sandboxes')}`)
}

function rootCheck({ uid, missingCapabilities: missing }: NonNullable<DoctorLook['host']>): Check {
  const rootless = `volctl runs as user ${uid}: most of the node cannot be read`
  if (uid !== 0) return check('Root', 'failed', rootless, marked('As root: `sudo volctl doctor`'), NO_APPLY)
  if (missing.length === 0) return check('Root', 'ok', 'root, with every capability that apply needs')
  const lacks = `root without ${missingText(missing)}`
  return check('Root', 'failed', lacks, 'Run volctl with these capabilities.', NO_APPLY)
}

/** What volctl may do on this host: privileges and namespaces (S6, S7). */
function hostChecks(host: DoctorLook['host']): Check[] {
  if (host === undefined) return []
  const { standing } = host
  return [
    rootCheck(host),
    ...(standing.length === 0
      ? [check('Namespaces', 'ok', "the node's mount, PID and user namespace, and its root directory")]
      : standing.map(({ message, hint }) => check('Namespaces', 'failed', message, hint, NO_APPLY))),
  ]
}

/** Files and processes that somebody else than root could have made, and that volctl does without (S33). */
function ignored({ notBelieved = [] }: NodeSnapshot): Check[] {
  if (notBelieved.length === 0) return [check('Ignored', 'ok', 'nothing is ignored')]
  return notBelieved.map(({ what: about, why, hint, unknown }) =>
    check('Ignored', 'warning', why, hint, { about, ...(unknown && NO_APPLY) }),
  )
}

/**
 * Each driver that is here, that the cluster has here, or that a volume needs; and each socket without a driver behind it, unless it
 * has the name of one of these.
 *
 * @param why the sockets could not be looked at
 */
function driverChecks(why: Failure | undefined, snapshot: NodeSnapshot, context: PlanContext): Check[] {
  const { csiSockets, api, nodeName } = snapshot
  if (csiSockets === undefined)
    return [check('CsiDriver', 'unknown', why?.message ?? 'the sockets of CSI drivers were not looked at')]
  const attached = (api?.volumeAttachments ?? []).filter(({ spec }) => spec.nodeName === nodeName)
  const used = new Set([
    ...context.desired.volumes.flatMap(({ driver }) => driver ?? []),
    ...context.onDisk.all.map(({ volume }) => volume.driver),
    ...attached.map(({ spec }) => spec.attacher),
  ])
  const listed = api?.csiNode?.spec.drivers?.map(({ name }) => name) ?? []
  const known = csiSockets.flatMap(({ driver }) => driver ?? [])
  const names = [...new Set([...known, ...listed, ...used])].toSorted(compareText)
  const strangers = csiSockets.filter((socket) => isSilent(socket) && !names.some((name) => isOf(socket, name)))
  return [
    ...(names.length === 0 ? [check('CsiDriver', 'ok', 'no CSI driver is here, and no volume needs one')] : []),
    ...names.map((name) => driverCheck(context, name, used.has(name))),
    ...strangers.map(({ path: about, error = 'no answer' }) =>
      check('CsiSocket', 'warning', error, REMOVE_IT, { about }),
    ),
  ]
}

const REMOVE_IT = "Bring the driver's node pod back, or remove the socket if the driver was uninstalled."

function driverCheck(context: PlanContext, about: string, isUsed: boolean): Check {
  const { chain, broken } = judgeDriver(context, about, true)
  const links = chain.filter(({ kind }) => kind !== 'NodePluginPod' && kind !== 'CSIDriver')
  const said = links.find(({ state }) => state !== 'good') ?? links[0]
  const use = isUsed ? '' : '; no volume here needs it'
  const says = `${said?.name}: ${said?.says}`
  if (!links.some(({ kind, state }) => kind === 'Socket' && state === 'good')) {
    const lost = isUsed ? `; volumes of ${about} can be neither mounted nor unmounted` : use
    const { hint } = bringDriverBack(context, about)
    return check('CsiDriver', isUsed ? 'failed' : 'warning', `${says}${lost}`, hint, { about })
  }
  if (broken === undefined) return check('CsiDriver', 'ok', `${says}${use}`, undefined, { about })
  return check('CsiDriver', 'warning', `${said?.kind} ${says}${use}`, remedyOf('DriverRegistration'), { about })
}
