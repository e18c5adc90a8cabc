/**
 * The pass, in the order of the kubelet's reconciler (R403, R833).
 *
 * Unmounts come first, so that a volume is free before another pod gets it. Mounts are decided before devices, so that
 * no device is unstaged that a pod is about to need. Attachments come after the devices that are on them, and directories
 * of pods last, when nothing is mounted in them any more.
 */
import type { Findings } from '../plan/draft.ts'
import type { PlanContext } from './context/context.ts'
import { mountOrAttachVolumes } from './mount-volumes/mount-volumes.ts'
import { reportLazyMemory } from './obstacles/lazy-detachments.ts'
import { removeOrphanPodDirs } from './remove-orphan-pod-dirs.ts'
import { detachVolumes } from './unmount-detach-devices/detach-volumes.ts'
import { unmapDevices } from './unmount-detach-devices/unmap-devices.ts'
import { unmapVolumes } from './unmount-detach-devices/unmap-volumes.ts'
import { unmountDevices } from './unmount-detach-devices/unmount-devices.ts'
import { unmountOtherDevices } from './unmount-detach-devices/unmount-other-devices.ts'
import { unmountVolumes } from './unmount-volumes/unmount-volumes.ts'
import { ruleOfAll } from './what-blocks.ts'

/** Every phase reads the context and what the phases before it found, and adds to that; none changes it. */
export function runPass(context: PlanContext, findings: Findings): void {
  // 1. Volumes of pods that are gone.
  unmountVolumes(context, findings)
  unmapVolumes(context, findings)

  // 2. Volumes that living pods want and do not have.
  mountOrAttachVolumes(context, findings)

  // 3. Devices, and then attachments, that no pod needs any more.
  unmountDevices(context, findings)
  unmapDevices(context, findings)
  unmountOtherDevices(context, findings)
  detachVolumes(context, findings)

  // What is known of a volume only now holds all operations on it.
  reportLazyMemory(context, findings)
  findings.judge(ruleOfAll(context, findings.operations))

  // 4. Directories of pods that are gone: only those whose volumes all come down.
  removeOrphanPodDirs(context, findings)
}
