/**
 * Every volume of a node, once: what pods want, what the disk and the mount table show and what is attached, put together
 * under one name as the planner does (R815). What nothing identifies stands alone.
 */

import { parentOf } from '../actual/tree.ts'
import { globalMounts } from '../devices/global-mounts.ts'
import type { PlanContext } from '../reconcile/context/context.ts'
import { noteObjects, notePodsVolumes } from './api-volumes.ts'
import { noteBlock, noteGlobal, notePod, noteStaged } from './found-volumes.ts'
import type { NodeVolume } from './node-volume.ts'
import { VolumeRegister } from './volume-register.ts'

/** Made once for an explanation. */
export class NodeVolumes {
  readonly #register = new VolumeRegister()

  constructor(context: PlanContext) {
    const register = this.#register
    notePodsVolumes(context, register)
    for (const global of globalMounts(context.inputs)) noteGlobal(register, global)
    for (const staged of context.staged) noteStaged(context, register, staged)
    for (const { uid } of context.classes.all) notePod(context, register, uid)
    for (const block of context.blocks) noteBlock(context, register, block)
    noteObjects(context, register)
  }

  get all(): readonly NodeVolume[] {
    return this.#register.all
  }

  ofPod(uid: string): readonly NodeVolume[] {
    return this.all.filter(({ podUids }) => podUids.has(uid))
  }

  /** The volume behind a PersistentVolume, on this node or not; undefined: neither the API nor this node has it. */
  ofPersistentVolume(name: string): NodeVolume | undefined {
    return this.#register.byPersistentVolume.get(name)
  }

  ofAttachment(name: string): NodeVolume | undefined {
    return this.#register.byAttachment.get(name)
  }

  /** By a path below the root directory: the volume that it lies in, or that lies below it. */
  at(relative: string): readonly NodeVolume[] {
    for (let path = relative; path !== '.'; path = parentOf(path)) {
      const found = this.all.filter(({ directories }) => directories.includes(path))
      if (found.length > 0) return found
    }
    return this.all.filter(({ directories }) =>
      directories.some((each) => relative === '.' || each.startsWith(`${relative}/`)),
    )
  }
}
