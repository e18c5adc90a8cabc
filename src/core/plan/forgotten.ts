import type { Waiting } from './plan.ts'

/**
 * A running kubelet lists the volumes that it knows in node.status.volumesInUse. It unstages these within seconds, or
 * tries again at least every 2 min 2 s; a volume that is not listed is forgotten, and the kubelet never looks for it
 * again.
 */
export function isForgotten({ code, kind, volume }: Waiting): boolean {
  return code === 'KubeletRunning' && (kind === 'UnmountDevice' || kind === 'UnmapDevice') && volume?.inUse === false
}
