/** What is wrong with the sockets of CSI drivers, one diagnosis each (C24-C29). */

import { alike } from '../../base/text.ts'
import { namespacedName } from '../../kube/api/names.ts'
import type { ObjectMeta } from '../../kube/api/objects.ts'
import { causeOf, type ProblemCode } from '../../messages/codes.ts'
import { type Finding, type Hint, marked, said } from '../../messages/findings.ts'
import type { CsiSocket } from '../../rpc/endpoints.ts'
import { aboutWanted, type PlanContext, podNameOf } from '../../rules/context.ts'
import { bringDriverBack, isLate, isOf, isSilent, whyNoDriver } from '../../rules/driver-call.ts'
import type { VolumeToMount } from '../../volumes/desired-state.ts'
import type { Because } from '../../volumes/finding.ts'
import { evidenceOf } from '../../volumes/registry.ts'
import { CSI_PLUGIN } from '../../volumes/volume-names.ts'

export function reportDrivers(context: PlanContext): void {
  const sockets = context.inputs.snapshot.csiSockets ?? []
  const missing = missingDrivers(context, sockets)
  for (const socket of sockets) {
    if (socket.driver === undefined) reportSilent(context, socket, missing)
    else reportSocket(context, socket, socket.driver, sockets)
  }
}

function reportSilent({ ledger, findings }: PlanContext, socket: CsiSocket, missing: readonly string[]): void {
  if (!isSilent(socket)) return
  const { path, error = 'no answer' } = socket
  const driver = missing.find((each) => isOf(socket, each)) ?? missing[0]
  const about = { path, subject: ledger.path(path) }
  const hint =
    'A driver that crashed leaves its socket behind: bring its node pod back, or remove the socket if the driver was uninstalled.'
  const because = driver === undefined ? undefined : ({ subject: { driver }, follows: true } as const)
  findings.problem('warning', said('DriverUnavailable.silentSocket', { path, error }), about, hint, because)
}

function reportSocket(
  { findings }: PlanContext,
  socket: CsiSocket,
  driver: string,
  sockets: readonly CsiSocket[],
): void {
  const { path, endpoint, registered, error } = socket
  const at = endpoint ?? path
  const why = error ?? 'no answer'
  const subject = { driver }
  const warn = (finding: Finding<ProblemCode>, hint?: Hint, because?: Because): void =>
    findings.problem('warning', finding, { path, subject }, hint, because)
  if (registered && endpoint?.startsWith('/'))
    findings.problem('info', said('DriverRegistration.outside', { driver, endpoint }), { path: endpoint, subject })
  if (registered && error !== undefined)
    warn(said('DriverRegistration.notRegistered', { driver, at, error }), undefined, {
      subject,
    })
  if (registered) return
  if (sockets.some((other) => other !== socket && other.driver === driver)) {
    const hint = "Remove this socket, which the driver's former installation left behind."
    warn(said('DriverRegistration.twoSockets', { driver, path, why }), hint)
  } else if (isLate(socket)) {
    const hint = 'It may be busy: plan again. If that does not help, read the log of its driver container.'
    warn(said('DriverUnavailable.silentAt', { driver, at, why }), hint, { subject })
  } else {
    const hint = "Bring the driver's node pod back; read the log of its driver container."
    warn(said('DriverUnavailable.cannotCall', { driver, at, why }), hint, { subject, follows: true })
  }
}

/** Drivers that something needs and that no socket names: what is said of them names each socket on which nobody answers. */
function missingDrivers({ findings }: PlanContext, sockets: readonly CsiSocket[]): readonly string[] {
  const said = [
    ...findings.operations.map((draft) => ({ code: draft.blocked?.code, driver: draft.volume?.driver })),
    ...findings.waiting.map(({ code, volume }) => ({ code, driver: volume?.driver })),
    ...findings.problems.map(({ code, about: { driver } }) => ({ code, driver })),
  ]
  return said.flatMap(({ code, driver }) => {
    if (driver === undefined || causeOf(code) !== 'driver') return []
    return sockets.every((socket) => socket.driver !== driver) ? driver : []
  })
}

// Mounted volumes whose claim, PersistentVolume or driver is being removed or gone: they work until their next call.

export function reportVolumeObjects(context: PlanContext): void {
  const { desired, classes, inputs } = context
  const mounted = desired.volumes.filter(
    (volume) =>
      (volume.persistentVolume ?? volume.claim ?? volume.driver) !== undefined &&
      classes.of(volume.podUid)?.class === 'Desired' &&
      evidenceOf(inputs, volume).state === 'mounted',
  )
  for (const [volume] of alike(mounted, ({ uniqueName }) => uniqueName)) reportEnding(context, volume)
  reportMissingDrivers(context, mounted)
}

/**
 * Finalizers keep both objects while a pod uses the volume; the reclaim policy decides what happens to the data after that.
 */
function reportEnding(context: PlanContext, volume: VolumeToMount): void {
  const { claim, persistentVolume, podUid, specName } = volume
  const pod = podNameOf(context, podUid)
  const about = aboutWanted(context, volume)
  const reportDeletion = (what: string, { deletionTimestamp }: ObjectMeta): void => {
    context.findings.problem('warning', said('BeingDeleted', { object: what, pod, deletionTimestamp }), about)
  }
  if (claim?.metadata.deletionTimestamp !== undefined)
    reportDeletion(`claim ${namespacedName(claim.metadata)} (volume ${specName})`, claim.metadata)
  if (persistentVolume?.metadata.deletionTimestamp !== undefined)
    reportDeletion(`PersistentVolume ${persistentVolume.metadata.name}`, persistentVolume.metadata)
  const phase = persistentVolume?.status?.phase
  if (phase !== 'Released' && phase !== 'Failed') return
  const hint = marked(
    'Look at the PersistentVolume (`kubectl describe pv`) before the pod is restarted: it may be deleted, or bound to another claim.',
  )
  context.findings.problem('warning', said('ClaimUnbound.mounted', { name: specName, phase, pod }), about, hint)
}

/** A driver that is missing can neither publish again nor unpublish, whatever is mounted at the moment (C26, O10). */
function reportMissingDrivers(context: PlanContext, mounted: readonly VolumeToMount[]): void {
  const { csiSockets, api } = context.inputs.snapshot
  const csi = mounted.filter(({ plugin, driver }) => plugin === CSI_PLUGIN && driver !== undefined)
  const listed = api?.csiNode?.spec.drivers?.map(({ name }) => name)
  for (const [driver = '', volumes] of Map.groupBy(csi, (volume) => volume.driver)) {
    const about = { driver, subject: { driver } }
    // Pods may share a volume.
    const names = [...new Set(volumes.map(({ specName }) => specName))]
    const mountedHere = `${names.length === 1 ? 'a volume is' : `${names.length} volumes are`} mounted here: ${names
      .slice(0, 5)
      .join(', ')}${names.length > 5 ? ', …' : ''}`
    // A driver's socket that exists but does not answer is reported in report-drivers.ts.
    if (csiSockets?.every((socket) => socket.driver !== driver)) {
      context.findings.problem(
        'warning',
        said('DriverUnavailable.mounted', { why: whyNoDriver(context, driver).message, mountedHere }),
        about,
        bringDriverBack(context, driver).hint,
      )
    } else if (context.inputs.driver(driver) !== undefined && listed !== undefined && !listed.includes(driver)) {
      context.findings.problem('warning', said('DriverRegistration.unlisted', { driver, mountedHere }), about)
    }
  }
}
