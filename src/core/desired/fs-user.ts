/** The user for whom a pod's tokens and certificates are written (P33). */
import type { Pod } from '../model/objects.ts'
import { allContainers } from './pods.ts'

/** The runAsUser of all containers, ephemeral ones included; undefined if one has none or two differ. */
export function fsUserOf(pod: Pod): number | undefined {
  const ofPod = pod.spec.securityContext?.runAsUser
  const users = new Set(allContainers(pod).map(({ securityContext }) => securityContext?.runAsUser ?? ofPod))
  const [user] = users
  return users.size === 1 ? user : undefined
}
