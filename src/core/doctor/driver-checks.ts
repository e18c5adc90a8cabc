/** Drivers: what answers on a socket, what the kubelet registered, and what volumes here need. */
import { compareText } from '../lang/compare-text.ts'
import type { CsiSocket, NodeSnapshot } from '../model/snapshot.ts'
import type { PlanContext } from '../reconcile/context/context.ts'
import { isOf, isSilent } from '../reconcile/drivers/why-no-driver.ts'
import { type Check, check, type Finding, failed, ok, unknown, warning } from './check.ts'
import type { Failure } from './doctor-look.ts'

/** @param why the sockets could not be looked at */
export function driverChecks(why: Failure | undefined, snapshot: NodeSnapshot, context: PlanContext): Check[] {
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
