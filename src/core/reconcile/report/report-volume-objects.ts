/** Mounted volumes whose claim, PersistentVolume or driver is being removed or gone: they work until their next call. */

import { registeredDriver } from '../../facts/actual/staged-volumes.ts'
import { CSI_PLUGIN } from '../../facts/actual/volume-names.ts'
import type { ObjectMeta } from '../../kube/api/objects.ts'
import type { Findings } from '../../plan/draft.ts'
import { namespacedName, podName } from '../../plan/pod-name.ts'
import type { VolumeToMount } from '../../volumes/desired-state.ts'
import { evidenceOf } from '../../volumes/registry.ts'
import { type PlanContext, podRefOf } from '../context/context.ts'
import { bringDriverBack, whyNoDriver } from '../drivers/driver-call.ts'

export function reportVolumeObjects(context: PlanContext, findings: Findings): void {
  const { desired, classes, inputs } = context
  const mounted = desired.volumes.filter(
    (volume) =>
      (volume.persistentVolume ?? volume.claim ?? volume.driver) !== undefined &&
      classes.of(volume.podUid)?.class === 'Desired' &&
      evidenceOf(inputs, volume).state === 'mounted',
  )
  const said = new Set<string>()
  for (const volume of mounted) {
    if (said.has(volume.uniqueName)) continue
    said.add(volume.uniqueName)
    reportEnding(context, findings, volume)
  }
  reportMissingDrivers(context, findings, mounted)
}

/**
 * Finalizers keep both objects while a pod uses the volume; the reclaim policy decides what happens to the data after that.
 */
function reportEnding(context: PlanContext, findings: Findings, volume: VolumeToMount): void {
  const { claim, persistentVolume, podUid, specName } = volume
  const pod = podName(podRefOf(context, podUid))
  const about = { pod: podUid, volume: specName, subject: context.ledger.wanted(volume) }
  const reportDeletion = (what: string, { deletionTimestamp }: ObjectMeta): void =>
    findings.problem(
      'warning',
      'BeingDeleted',
      `${what} of pod ${pod} is being deleted (${deletionTimestamp}): it disappears as soon as no pod uses it, and if the reclaim policy is Delete, so does the data`,
      about,
    )
  if (claim?.metadata.deletionTimestamp !== undefined)
    reportDeletion(`claim ${namespacedName(claim.metadata)} (volume ${specName})`, claim.metadata)
  if (persistentVolume?.metadata.deletionTimestamp !== undefined)
    reportDeletion(`PersistentVolume ${persistentVolume.metadata.name}`, persistentVolume.metadata)
  const phase = persistentVolume?.status?.phase
  if (phase !== 'Released' && phase !== 'Failed') return
  findings.problem(
    'warning',
    'ClaimUnbound',
    `PersistentVolume ${specName} is ${phase}, but pod ${pod} has it mounted`,
    about,
    'Look at the PersistentVolume (kubectl describe pv) before the pod is restarted: it may be deleted, or bound to another claim.',
  )
}

/** A driver that is missing can neither publish again nor unpublish, whatever is mounted at the moment (C26, O10). */
function reportMissingDrivers(context: PlanContext, findings: Findings, mounted: readonly VolumeToMount[]): void {
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
      findings.problem(
        'warning',
        'DriverUnavailable',
        `${whyNoDriver(context, driver)}, and ${mountedHere}; only the driver can unmount properly`,
        about,
        bringDriverBack(context, driver).hint,
      )
    } else if (
      registeredDriver(context.inputs, driver) !== undefined &&
      listed !== undefined &&
      !listed.includes(driver)
    ) {
      findings.problem(
        'warning',
        'DriverRegistration',
        `CSI driver ${driver} answers on this node, but the CSINode object does not list it, and ${mountedHere}: the kubelet has not registered the driver`,
        about,
      )
    }
  }
}
