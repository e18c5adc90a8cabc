/** From a look to the answer of `volctl doctor`. Pure: whatever could not be read, what could be is judged. */
import { compareText } from '../lang/compare-text.ts'
import { count } from '../lang/count.ts'
import { defined } from '../lang/defined.ts'
import { formatDuration } from '../lang/duration.ts'
import type { ApiSnapshot, CsiSocket, NodeSnapshot } from '../model/snapshot.ts'
import { NODE_USER } from '../names/volume-names.ts'
import { insecureApiHint } from '../plan/insecure-api.ts'
import type { Plan, PlanOptions } from '../plan/plan.ts'
import { missingText } from '../processes/capabilities.ts'
import type { PlanContext } from '../reconcile/context/context.ts'
import { howToStop } from '../reconcile/context/kubelet-unit.ts'
import { isOf, isSilent } from '../reconcile/drivers/why-no-driver.ts'
import { decideNode } from '../reconcile/plan-node.ts'
import {
  CHECK_STATES,
  type Check,
  type CheckState,
  check,
  type Doctor,
  type Finding,
  failed,
  ok,
  unknown,
  warning,
} from './check.ts'
import type { DoctorLook, Failure } from './doctor-look.ts'

/**
 * @param options of a plan without any flag: whether a safety rule refuses it is one of the checks
 * @param createdAt RFC 3339; of a snapshot when it was taken
 */
export function diagnose(look: DoctorLook, options: PlanOptions, createdAt: string): Doctor {
  const { state, host } = look
  const rank = ({ state: found }: Check): number => CHECK_STATES.indexOf(found)
  const checks = [
    ...(host === undefined ? [] : hostChecks(host)),
    ...ofNode(look, options),
    ...apiChecks(look, state?.snapshot.api),
  ].toSorted((a, b) => rank(a) - rank(b))
  const isPrevented = (what: 'plan' | 'apply'): boolean => checks.some(({ prevents }) => prevents === what)
  const plans = !isPrevented('plan')
  return {
    apiVersion: 'volctl.io/v1',
    kind: 'Doctor',
    ...defined({ node: state?.snapshot.nodeName, rootDir: state?.snapshot.rootDir }),
    createdAt,
    volctlVersion: options.volctlVersion,
    source: host === undefined ? 'snapshot' : 'node',
    works: { plan: plans, ...(host !== undefined && { apply: plans && !isPrevented('apply') }) },
    checks,
    summary: Object.fromEntries(
      CHECK_STATES.map((each) => [each, checks.filter((one) => one.state === each).length]),
    ) as Record<CheckState, number>,
  }
}

function ofNode(look: DoctorLook, options: PlanOptions): Check[] {
  const { state, failures } = look
  if (state === undefined) {
    const { message, hint = 'Name the node with --root-dir and --node.' } = failures.node ?? { message: 'not found' }
    return [check('NodeFound', failed(message, hint, 'plan'))]
  }
  const { snapshot } = state
  const { plan, context } = decideNode(state, options)
  return [
    ...nodeChecks(look, snapshot, plan),
    check('KubeletState', kubeletState(look, snapshot)),
    check('Runtime', runtime(failures.runtime ?? context.witnesses.blindRuntime, snapshot)),
    ...driverChecks(failures.csiSockets, snapshot, context),
    ...ignored(snapshot),
  ]
}

/** @param api absent: it could not be read, or the snapshot has none */
function apiChecks(look: DoctorLook, api: ApiSnapshot | undefined): Check[] {
  const server = check('ApiServer', apiServer(look, api))
  if (api === undefined) return [server]
  return [
    server,
    check('ApiVerified', verified(api)),
    check('PlanRights', planRights(api)),
    check('ApplyRights', applyRights(api)),
    check('Clock', clock(api)),
  ]
}

function apiServer({ failures, credential }: DoctorLook, api: ApiSnapshot | undefined): Finding {
  const { api: why } = failures
  if (why !== undefined) return failed(why.message, why.hint ?? 'Give a kubeconfig with --kubeconfig.', 'plan')
  if (api === undefined) return unknown('the API server was not asked')
  const refused = api.errors.find(({ resource, name }) => resource === 'pods' && name === undefined)
  if (refused !== undefined) return failed(refused.message, 'Use a credential that may list pods.', 'plan')
  const user = api.user === undefined ? '' : ` to ${api.user}`
  const from = credential === undefined ? `a ${api.credential} credential` : credential
  return ok(`${api.server} answers${user}, by ${from}: ${count(api.pods.length, 'pod')} of this node`)
}

const INSECURE = {
  TlsNotVerified: 'the kubeconfig says insecure-skip-tls-verify: anyone on the network path could answer',
  PlainHttp: 'plain http: anyone on the network path could read the credential, and answer',
} as const

function verified({ insecure: own, podListCheck }: ApiSnapshot): Finding {
  const insecure = own ?? podListCheck?.insecure
  if (insecure === undefined) return ok('TLS; the certificate of the API server is verified')
  return warning(INSECURE[insecure], insecureApiHint(), 'apply')
}

/** A kubelet's identity is refused every list, and each object that no pod of its node uses (N29): that is no right that is missing. */
function planRights(api: ApiSnapshot): Finding {
  const { errors, user, credential } = api
  if (user?.startsWith(NODE_USER) === true || credential === 'kubelet')
    return ok("the kubelet's: what pods of this node use is read object by object")
  const refused = errors.filter(({ status }) => status === 401 || status === 403)
  if (refused.length === 0) return ok('nothing was refused')
  const resources = [...new Set(refused.map(({ resource }) => resource))].join(', ')
  return warning(`may not read ${resources}: the plan says what is not known`, bindRole('plan', user))
}

function applyRights({ mayDeleteVolumeAttachments: may, user }: ApiSnapshot): Finding {
  if (may === undefined)
    return unknown('the API server did not say whether this credential may delete volumeattachments')
  if (may) return ok('may delete volumeattachments')
  return warning('may not delete volumeattachments: DetachVolume is blocked', bindRole('apply', user))
}

function bindRole(command: 'plan' | 'apply', user = 'this user'): string {
  return `Bind the ClusterRole in deploy/clusterrole-${command}.yaml to ${user}, or give another credential with --kubeconfig.`
}

/** As far as a header in whole seconds shows it. */
const SAME_CLOCK_MS = 2000
const CLOCK_MARGIN_MS = 60_000

/** volctl allows for clocks that differ (S28), but leases and ages on the screen then look wrong, and so do certificates. */
function clock({ clockSkewMs: skew }: ApiSnapshot): Finding {
  if (skew === undefined) return unknown("the API server's clock is not known")
  if (Math.abs(skew) <= SAME_CLOCK_MS) return ok("agrees with the API server's")
  const text = `${formatDuration(Math.abs(skew))} ${skew > 0 ? 'behind' : 'ahead of'} the API server's clock`
  return Math.abs(skew) < CLOCK_MARGIN_MS ? ok(text) : warning(text, 'Set the clock of this host (chronyc makestep).')
}

const READ_AS_ROOT = 'Run volctl as root of the host.'

/** @param plan of what could be read */
function nodeChecks({ failures }: DoctorLook, { nodeName, rootDir }: NodeSnapshot, plan: Plan): Check[] {
  const unread = [failures.mountinfo, failures.tree].flatMap((why) => why ?? [])
  return [
    check('NodeFound', ok(`${nodeName}, ${rootDir}`)),
    ...unread.map(({ message, hint = READ_AS_ROOT }) => check('NodeRead', failed(message, hint, 'plan'))),
    ...refused(plan),
  ]
}

/** A safety rule that refuses the whole plan: another machine (S1), pods that seem lost (S29). */
function refused({ refused: why }: Plan): Check[] {
  if (why === undefined) return []
  const finding = failed(why.message, why.hint ?? 'See the plan: volctl plan', 'plan')
  return [check('PlanRefused', { ...finding, ...defined({ about: why.rule }) })]
}

/** That a kubelet runs is as it should be: then volctl leaves to the kubelet what is the kubelet's. */
export function kubeletState({ failures }: DoctorLook, { kubelet, api }: NodeSnapshot): Finding {
  if (kubelet === undefined) {
    const { message, hint } = failures.kubelet ?? { message: 'the kubelet was not looked for' }
    return unknown(message, hint)
  }
  const version = api?.node?.status?.nodeInfo?.kubeletVersion
  const unit = `${[kubelet.unit, version].map((each) => (each === undefined ? '' : `${each}, `)).join('')}`
  const note = kubelet.note === undefined ? '' : `: ${kubelet.note}`
  if (kubelet.running)
    return ok(`${unit}running${note}; volctl then only cleans up leftovers of orphaned pods that the kubelet ignores`)
  if (kubelet.mayReturn)
    return warning(
      `${unit}down, but may come back${note}; volctl then does no more than beside a kubelet`,
      howToStop(kubelet),
    )
  const isShown = kubelet.stoppedAt !== undefined && kubelet.stopShownBy !== 'nothing'
  const since = isShown ? ` since ${kubelet.stoppedAt?.replace(/\.\d+/, '')}` : ''
  return ok(`${unit}stopped${since}${note}`)
}

const START_IT = 'Start the container runtime, or name its socket with --runtime-endpoint.'

/** @param why it could not be asked, or does not see the pods that live (S9) */
export function runtime(why: Failure | undefined, { runtime: seen, api }: NodeSnapshot): Finding {
  if (why !== undefined) return failed(why.message, why.hint ?? START_IT)
  if (seen === undefined) return unknown('the container runtime was not asked', START_IT)
  if (seen.source === 'none') return warning('no container runtime answers here, and none is configured', START_IT)
  const version = api?.node?.status?.nodeInfo?.containerRuntimeVersion
  const called = version === undefined ? '' : ` (${version})`
  return ok(`${seen.endpoint ?? 'it'} answers${called}: ${count(seen.pods.length, 'sandbox', 'sandboxes')}`)
}

/** What volctl may do on this host: privileges and namespaces (S6, S7). */
function hostChecks({ uid, missingCapabilities: missing, standing }: NonNullable<DoctorLook['host']>): Check[] {
  const root =
    uid !== 0
      ? failed(`volctl runs as user ${uid}: most of the node cannot be read`, 'As root: sudo volctl doctor', 'apply')
      : missing.length > 0
        ? failed(`root without ${missingText(missing)}`, 'Run volctl with these capabilities.', 'apply')
        : ok('root, with every capability that apply needs')
  const namespaces =
    standing.length === 0
      ? [ok("the node's mount, PID and user namespace, and its root directory")]
      : standing.map(({ message, hint }) => failed(message, hint, 'apply'))
  return [check('Root', root), ...namespaces.map((finding) => check('Namespaces', finding))]
}

/** Files and processes that somebody else than root could have made, and that volctl does without (S33). */
export function ignored({ notBelieved = [] }: NodeSnapshot): Check[] {
  if (notBelieved.length === 0) return [check('Ignored', ok('nothing is ignored'))]
  return notBelieved.map(({ what, why, hint, unknown: obeyed }) =>
    check('Ignored', { ...warning(why, hint, obeyed ? 'apply' : undefined), ...defined({ about: what }) }),
  )
}

// Drivers: what answers on a socket, what the kubelet registered, and what volumes here need.

/** @param why the sockets could not be looked at */
function driverChecks(why: Failure | undefined, snapshot: NodeSnapshot, context: PlanContext): Check[] {
  const used = driversInUse(snapshot, context)
  const names = driverNames(snapshot, used)
  return [...csiDrivers(why, snapshot, used, names), ...silentSockets(snapshot, names)]
}

/** Drivers of volumes that pods want, that state files name, and that are attached here. */
function driversInUse({ api, nodeName }: NodeSnapshot, { desired, onDisk }: PlanContext): ReadonlySet<string> {
  const attached = (api?.volumeAttachments ?? []).filter(({ spec }) => spec.nodeName === nodeName)
  return new Set([
    ...desired.volumes.flatMap(({ driver }) => driver ?? []),
    ...onDisk.all.map(({ volume }) => volume.driver),
    ...attached.map(({ spec }) => spec.attacher),
  ])
}

/** Of all that are here, that the cluster has here, or that a volume needs. */
function driverNames({ csiSockets = [], api }: NodeSnapshot, used: ReadonlySet<string>): readonly string[] {
  const registered = (api?.csiNode?.spec.drivers ?? []).map(({ name }) => name)
  const known = csiSockets.flatMap(({ driver }) => driver ?? [])
  return [...new Set([...known, ...registered, ...used])].toSorted(compareText)
}

const RESTART = "Bring the driver's node pod back: kubectl get pods -A -o wide; read the log of its driver container."
const REGISTRAR = "Read the log of the node-driver-registrar container in the driver's node pod."

function csiDrivers(
  why: Failure | undefined,
  snapshot: NodeSnapshot,
  used: ReadonlySet<string>,
  names: readonly string[],
): Check[] {
  const { csiSockets, api } = snapshot
  if (csiSockets === undefined)
    return [check('CsiDriver', unknown(why?.message ?? 'the sockets of CSI drivers were not looked at'))]
  if (names.length === 0) return [check('CsiDriver', ok('no CSI driver is here, and no volume needs one'))]
  return names.map((name) => {
    const listed =
      api?.csiNode == null ? undefined : api.csiNode.spec.drivers?.some((each) => each.name === name) === true
    const sockets = csiSockets.filter((socket) => isOf(socket, name))
    return check('CsiDriver', { ...driver(name, sockets, listed, used.has(name)), about: name })
  })
}

/** @param listed whether the node's CSINode has the driver; undefined: it was not read */
function driver(name: string, sockets: readonly CsiSocket[], listed: boolean | undefined, isUsed: boolean): Finding {
  const use = isUsed ? '' : '; no volume here needs it'
  const answering = sockets.find(({ registered }) => registered)
  if (answering === undefined) {
    const [dead] = sockets
    const found =
      dead === undefined ? 'no socket of it is on this node' : `${placeOf(dead)}: ${dead.error ?? 'no answer'}`
    const where = listed === true ? ', though its CSINode has the driver' : ''
    const message = `${found}${where}${use}`
    if (isUsed) return failed(`${message}; volumes of ${name} can be neither mounted nor unmounted`, RESTART)
    return warning(message, RESTART)
  }
  const place = placeOf(answering)
  if (answering.error !== undefined) return warning(`${place} answers, but ${answering.error}${use}`, REGISTRAR)
  if (listed === false)
    return warning(`${place} answers, but the CSINode of this node does not list the driver${use}`, REGISTRAR)
  const where = listed === undefined ? '; the CSINode was not read' : ', in CSINode'
  return ok(`${place} answers, registered${where}${use}`)
}

function placeOf({ endpoint, path }: CsiSocket): string {
  return endpoint ?? path
}

/** A socket without a driver behind it, or a directory that could not be read; with one of these names it is the driver's own. */
function silentSockets({ csiSockets = [] }: NodeSnapshot, names: readonly string[]): Check[] {
  const strangers = csiSockets.filter((socket) => isSilent(socket) && !names.some((name) => isOf(socket, name)))
  return strangers.map(({ path, error = 'no answer' }) =>
    check('CsiSocket', {
      ...warning(error, "Bring the driver's node pod back, or remove the socket if the driver was uninstalled."),
      about: path,
    }),
  )
}
