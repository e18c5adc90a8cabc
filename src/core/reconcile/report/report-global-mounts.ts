/** Volumes that pods have mounted by a bind mount of a global mount that is gone (O1). */
import { registeredDriver, stages } from '../../actual/csi-drivers.ts'
import type { VolumeToMount } from '../../desired/desired-state.ts'
import type { Findings } from '../../plan/draft.ts'
import { podName } from '../../plan/pod-name.ts'
import { pluginNamed } from '../../plugins/registry.ts'
import { type PlanContext, podRefOf } from '../context/context.ts'

/** Says what a kubelet does about it: the pod runs on, and nothing has to be done by hand. */
export function reportGlobalMounts(context: PlanContext, findings: Findings): void {
  const { inputs, classes, desired, kubelet, ledger } = context
  for (const volume of desired.volumes) {
    if (classes.of(volume.podUid)?.class !== 'Desired' || !lacksGlobalMount(context, volume)) continue
    const { podUid, specName } = volume
    const path = inputs.absolute(pluginNamed(volume.plugin).globalPath(volume) ?? '')
    findings.problem(
      'warning',
      'GlobalMountGone',
      `pod ${podName(podRefOf(context, podUid))} has volume ${specName} mounted, but nothing is mounted any more where the volume was staged: ${path}`,
      { pod: podUid, volume: specName, path, subject: ledger.wanted(volume) },
      kubelet.state === 'running'
        ? 'The pod runs on. The kubelet does not notice; the next one that starts has the driver stage the volume again.'
        : 'The pod runs on. A kubelet that starts has the driver stage the volume again, and publish it as it is.',
    )
  }
}

/** A driver may stage without a mount; it does not where it has one for another volume, and the pod shows a whole disk. */
function lacksGlobalMount(context: PlanContext, volume: VolumeToMount): boolean {
  const { inputs, staged } = context
  const { driver, mode, deviceMountable, plugin } = volume
  if (driver === undefined || mode !== 'Filesystem' || !deviceMountable) return false
  const { globalPath, podPath, evidence } = pluginNamed(plugin)
  const [global, mount] = [globalPath(volume), inputs.top(podPath(volume))]
  if (global === undefined || mount === undefined || inputs.at(global).length > 0) return false
  const found = evidence(inputs, volume)
  if (found.state !== 'mounted' || found.other !== undefined || mount.dev.startsWith('0:') || mount.root !== '/')
    return false
  if (!stages(registeredDriver(inputs, driver))) return false
  return staged.some(({ driverDir, layers }) => driverDir === driver && layers.length > 0)
}
