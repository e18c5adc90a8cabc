/** Who else shows the file system of a staged mount: the references of R031, R032 and S24. */

import type { MountInfo } from '../mountinfo/mount-table.ts'
import { isWithin } from '../path-within.ts'
import type { PlanContext } from './context.ts'
import type { Draft, Findings, Obstacle } from './draft.ts'
import type { PodClass } from './pod-classes.ts'
import { isLiving } from './volume-users.ts'

export type References =
  /** A pod that must not be disturbed shows it: the volume is in use. */
  | { readonly kind: 'inUse'; readonly by: PodClass }
  /** Free once these operations are done. */
  | { readonly kind: 'free'; readonly after: readonly Draft[] }
  | { readonly kind: 'held'; readonly obstacle: Obstacle }

/**
 * @param staged the mounts that are about to go
 * @param target absolute path of the staged mount
 */
export function referencesTo(
  context: PlanContext,
  findings: Findings,
  staged: readonly MountInfo[],
  target: string,
): References {
  const { inputs, classes } = context
  const after = new Set<Draft>()
  const own = new Set(staged.map((mount) => mount.id))
  let held: Obstacle | undefined
  for (const mount of staged) {
    for (const reference of inputs.mounts.ofDevice(mount.dev)) {
      if (own.has(reference.id) || !showsThe(mount, reference)) continue
      const remover = findings.removerOf(reference.id)
      if (remover !== undefined) {
        after.add(remover)
        continue
      }
      const path = inputs.plain(reference.mountPoint)
      const uid = podUidOf(inputs.relative(path))
      const pod = uid === undefined ? undefined : classes.of(uid)
      if (pod !== undefined && isLiving(pod)) return { kind: 'inUse', by: pod }
      if (isCopyOf(path, target)) continue
      held = {
        code: 'HeldBy',
        message: `${path} shows the same file system (${reference.dev} ${reference.root})`,
        hint: `See who needs ${path} (findmnt ${path}); unmount it first.`,
      }
    }
  }
  return held === undefined ? { kind: 'free', after: [...after] } : { kind: 'held', obstacle: held }
}

/** A reference shows the staged tree itself or a part of it: bind mounts, sub-paths included. */
function showsThe(staged: MountInfo, reference: MountInfo): boolean {
  return isWithin(reference.root.replace(/\/\/deleted$/, ''), staged.root)
}

/** The same global mount seen through another prefix is no second user (R032, P18, S24). */
function isCopyOf(path: string, target: string): boolean {
  const at = target.indexOf('/plugins/kubernetes.io/')
  return at !== -1 && path.endsWith(target.slice(at))
}

function podUidOf(relative: string): string | undefined {
  const parts = relative.split('/')
  return parts[0] === 'pods' ? parts[1] : undefined
}
