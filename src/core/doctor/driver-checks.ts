/** Drivers: what answers on a socket, what the kubelet registered, what the cluster knows, and what volumes here need. */
import { isListedWhole } from '../desired/api-lookup.ts'
import { compareText } from '../lang/compare-text.ts'
import type { CsiSocket, NodeSnapshot } from '../model/snapshot.ts'
import type { PlanContext } from '../reconcile/context/context.ts'
import { isOf, isSilent } from '../reconcile/drivers/why-no-driver.ts'
import { type Check, check, type Finding, failed, NO_NODE, notApplicable, ok, unknown, warning } from './check.ts'
import type { DoctorFacts } from './facts.ts'

export function driverChecks(facts: DoctorFacts, context: PlanContext | undefined): Check[] {
  const snapshot = facts.state?.snapshot
  if (snapshot === undefined || context === undefined)
    return (['CsiDriver', 'CsiDriverObject', 'FlexVolume'] as const).map((id) => check(id, NO_NODE))
  const used = driversInUse(snapshot, context)
  const names = driverNames(snapshot, used)
  return [
    ...csiDrivers(facts, snapshot, used, names),
    ...silentSockets(snapshot, names),
    check('CsiDriverObject', driverObjects(snapshot, used)),
    ...flexDrivers(snapshot),
  ]
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
  { failures }: DoctorFacts,
  snapshot: NodeSnapshot,
  used: ReadonlySet<string>,
  names: readonly string[],
): Check[] {
  const { csiSockets, api } = snapshot
  if (csiSockets === undefined)
    return [
      check('CsiDriver', unknown(failures.csiSockets?.message ?? 'the sockets of CSI drivers were not looked at')),
    ]
  if (names.length === 0) return [check('CsiDriver', notApplicable('no CSI driver is here, and no volume needs one'))]
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

function driverObjects({ api }: NodeSnapshot, used: ReadonlySet<string>): Finding {
  if (used.size === 0) return notApplicable('no volume here needs a CSI driver')
  if (api === undefined) return unknown('the API server could not be asked for CSIDriver objects')
  const there = new Set(api.csiDrivers.map(({ metadata }) => metadata.name))
  const missing = [...used].filter((name) => !there.has(name)).toSorted(compareText)
  if (missing.length === 0) return ok(`exist for ${[...used].toSorted(compareText).join(', ')}`)
  if (!isListedWhole(api, 'csidrivers'))
    return unknown(`${missing.join(', ')}: it could not be read whether volumes have to be attached`)
  return warning(
    `none for ${missing.join(', ')}: Kubernetes then attaches every volume of the driver`,
    'If the driver has no attacher, create its CSIDriver object with attachRequired: false.',
  )
}

function flexDrivers({ flexDrivers: installed, api }: NodeSnapshot): Check[] {
  if (installed === undefined) return [check('FlexVolume', unknown('the directory of flexVolume drivers was not read'))]
  const sources = [
    ...(api?.pods ?? []).flatMap(({ spec }) => spec.volumes ?? []),
    ...(api?.persistentVolumes ?? []).map(({ spec }) => spec),
  ]
  const needed = new Set(sources.flatMap(({ flexVolume }) => flexVolume?.driver ?? []))
  const missing = [...needed].filter((name) => !installed.some((each) => each.name === name))
  const broken = installed.filter(({ error }) => error !== undefined)
  const checks = [
    ...missing.map((name) => ({
      ...failed('not installed, and volumes here need it', 'Install the driver in the volume plugin directory.'),
      about: name,
    })),
    ...broken.map(({ name, executable, error }) => ({
      ...warning(`${executable} cannot be run: ${error}`, 'Let root alone own the program, and make it executable.'),
      about: name,
    })),
  ]
  if (checks.length > 0) return checks.map((finding) => check('FlexVolume', finding))
  if (installed.length === 0)
    return [check('FlexVolume', notApplicable('no driver is installed, and no volume needs one'))]
  return [check('FlexVolume', ok(`${installed.map(({ name }) => name).join(', ')} can be run`))]
}
