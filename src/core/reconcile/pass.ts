/**
 * The pass, in the order of the kubelet's reconciler (R403).
 *
 * Unmounts come first, so that a volume is free before another pod gets it. Mounts are decided before devices: a device
 * that a pod is about to need must not be unstaged. Attachments come after their devices, and directories of pods last,
 * when nothing is mounted in them any more.
 */
import type { PlanContext } from '../rules/context.ts'
import { reportLazyMemory } from '../rules/dead-volumes.ts'
import { mountOrAttachVolumes } from './mount-volumes/mount-volumes.ts'
import { removeOrphanPodDirs } from './remove-orphan-pod-dirs.ts'
import { detachVolumes } from './unmount-detach-devices/detach-volumes.ts'
import { unmapDevice, unmapVolume } from './unmount-detach-devices/unmap-volumes.ts'
import { unmountDevices } from './unmount-detach-devices/unmount-devices.ts'
import { unmountGlobal } from './unmount-detach-devices/unmount-other-devices.ts'
import { unmountVolumes } from './unmount-volumes/unmount-volumes.ts'

/** Every phase reads the context with the findings of earlier phases, and adds to them; none changes them. */
export function runPass(context: PlanContext): void {
  // 1. Volumes of orphaned and finished pods.
  unmountVolumes(context)
  for (const block of context.blocks) for (const mapping of block.mappings) unmapVolume(context, block, mapping)

  // 2. Volumes that desired pods lack.
  mountOrAttachVolumes(context)

  // 3. Devices, and then attachments, that no pod needs any more.
  unmountDevices(context)
  for (const block of context.blocks) unmapDevice(context, block)
  for (const global of context.ledger.globals) unmountGlobal(context, global)
  detachVolumes(context)
  reportLazyMemory(context)

  // 4. Directories of orphaned pods: only those whose volumes are all torn down.
  removeOrphanPodDirs(context)
}
