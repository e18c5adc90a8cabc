import { Covers } from '../../mountinfo/covers.ts'
import type { MountInfo, MountTable } from '../../mountinfo/mount-table.ts'
import { goesWith } from '../../mountinfo/propagation.ts'
import type { Draft, Obstacle } from '../../plan/draft.ts'
import type { ExpectedMount } from '../../plan/plan.ts'

/** Nothing is done to a mount that another lies over: what its path leads to is something else (S18). */
export class CoveredMounts {
  readonly #mounts: MountTable
  readonly #covers: Covers
  #seen = 0

  constructor(mounts: MountTable) {
    this.#mounts = mounts
    this.#covers = new Covers(mounts)
  }

  /** @param drafts those of the last call, and what has come since */
  block(drafts: readonly Draft[]): void {
    for (const draft of drafts.slice(this.#seen)) {
      const obstacle = draft.blocked === undefined ? this.#obstacle(draft) : undefined
      if (obstacle !== undefined) draft.blocked = obstacle
    }
    this.#seen = drafts.length
  }

  #obstacle({ expects = [] }: Draft): Obstacle | undefined {
    for (const { path, layers } of expects) {
      const cover = layers.length === 0 ? undefined : this.#coverOf(path, layers)
      if (cover === undefined) continue
      return {
        code: 'ForeignMount',
        message: `${cover.fsType} mount of ${cover.source} on ${cover.mountPoint} lies over what is mounted on ${path}: no path leads there`,
        hint: `Find out who mounted it (findmnt ${cover.mountPoint}); unmount it if nothing needs it, then plan again.`,
      }
    }
    return undefined
  }

  /**
   * Below a shared directory that is bound over itself every mount has a copy that nothing leads to, and that goes with
   * it: only of that the other one is in the way.
   */
  #coverOf(path: string, expected: ExpectedMount['layers']): MountInfo | undefined {
    const stacked = this.#mounts.at(path)
    const covered = stacked.filter((mount) => this.#covers.of(mount) !== undefined)
    if (covered.length === 0) return undefined
    const reached = stacked.filter((mount) => !covered.includes(mount))
    const stays = covered.find(
      (mount) =>
        expected.some(({ id }) => id === mount.id) && !reached.some((each) => goesWith(this.#mounts, each, mount)),
    )
    return stays && this.#covers.of(stays)
  }
}
