/**
 * A model of a node that steps are carried out on; the result is planned again. It does what kernel, drivers and controller
 * do, and refuses what they would refuse; `Impossible` means that the plan has wrong steps or a wrong order.
 */

import { parseMountinfo } from '../../src/core/linux/parse-mountinfo.ts'
import type { Operation } from '../../src/core/plan/plan.ts'
import type { NodeSnapshot, NodeState, TreeEntry } from '../../src/core/volumes/snapshot.ts'
import type { Step } from '../../src/core/volumes/steps.ts'
import { HOUR_AGO } from './node-builder.ts'

export class Impossible extends Error {}

export class SimulatedNode {
  readonly #snapshot: NodeSnapshot
  readonly #tree: Map<string, TreeEntry>
  #lines: string[]
  #detached = new Set<string>()

  constructor({ snapshot, mounts }: NodeState) {
    this.#snapshot = snapshot
    this.#tree = new Map((snapshot.tree ?? []).map((entry) => [entry.path, entry]))
    this.#lines = mounts.text.split('\n').filter((line) => line !== '')
  }

  state(): NodeState {
    const { api } = this.#snapshot
    const tree = [...this.#tree.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1))
    const text = `${this.#lines.join('\n')}\n`
    const mine = api?.volumeAttachments.filter(({ metadata }) => !this.#detached.has(metadata.name)) ?? []
    const snapshot = {
      ...this.#snapshot,
      ...(api === undefined ? {} : { api: { ...api, volumeAttachments: mine } }),
      mountinfo: text,
      tree,
    }
    return { snapshot, mounts: parseMountinfo(text) }
  }

  /** @throws Impossible */
  carryOut({ steps, attachment }: Operation): void {
    for (const step of steps) this.#step(step, attachment?.name)
  }

  #step({ op, target }: Step, attachment: string | undefined): void {
    switch (op) {
      case 'umount':
        this.#umount(target)
        break
      case 'NodeUnpublishVolume':
      case 'NodeUnstageVolume':
      case 'flexUnmount':
      case 'flexUnmountDevice':
        // Drivers unmount all of their layers; the target is then an empty directory, which they remove (C123).
        while (this.#at(target).length > 0) this.#umount(target)
        if (op.startsWith('Node') && this.#entry(target) !== undefined) this.#remove(target)
        break
      case 'rmdir':
      case 'unlink':
        this.#remove(target)
        break
      case 'deleteContent':
        for (const below of this.#below(target)) this.#tree.delete(below)
        if (this.#mountsBelow(target).length > 0) throw new Impossible(`${target} has mounts in it`)
        break
      case 'deleteVolumeAttachment':
        if (attachment !== undefined) this.#detached.add(attachment)
        break
      case 'mkdir':
        this.#make(target, 'dir')
        break
      case 'writeContent':
      case 'writeMarker':
      case 'writeVolumeData':
        this.#make(target, 'file')
        break
      default:
        throw new Impossible(`${op} is not simulated`)
    }
  }

  #umount(path: string): void {
    const layer = this.#at(path).at(-1)
    if (layer === undefined) throw new Impossible(`nothing is mounted on ${path}`)
    if (this.#mountsBelow(path).length > 0) throw new Impossible(`${path} is busy: there is a mount below it`)
    this.#lines = this.#lines.filter((line) => !line.startsWith(`${layer.id} `))
    const entry = this.#entry(path)
    if (entry === undefined || this.#at(path).length > 0) return
    const shown = entry.type === 'dir' ? { mode: '750' } : { mode: '640', size: 0 }
    this.#tree.set(entry.path, { path: entry.path, type: entry.type, mtime: HOUR_AGO, ...shown })
  }

  #remove(path: string): void {
    if (this.#at(path).length > 0) throw new Impossible(`${path} is a mount point`)
    const [below] = [...this.#below(path), ...this.#mountsBelow(path).map(({ mountPoint }) => mountPoint)]
    if (below !== undefined) throw new Impossible(`${path} is not empty: ${below}`)
    this.#tree.delete(this.#relative(path))
  }

  #make(path: string, type: 'dir' | 'file'): void {
    const parts = this.#relative(path).split('/')
    for (let i = 1; i <= parts.length; i++) {
      const each = parts.slice(0, i).join('/')
      if (this.#tree.has(each)) continue
      this.#tree.set(each, {
        path: each,
        type: i === parts.length ? type : 'dir',
        mode: '750',
        size: 0,
        mtime: HOUR_AGO,
      })
    }
  }

  #at(path: string) {
    return parseMountinfo(`${this.#lines.join('\n')}\n`).at(path)
  }

  #mountsBelow(path: string) {
    return parseMountinfo(`${this.#lines.join('\n')}\n`)
      .under(path)
      .filter(({ mountPoint }) => mountPoint !== path)
  }

  #entry(path: string): TreeEntry | undefined {
    return this.#tree.get(this.#relative(path))
  }

  #below(path: string): string[] {
    const prefix = `${this.#relative(path)}/`
    return [...this.#tree.keys()].filter((each) => each.startsWith(prefix))
  }

  #relative(path: string): string {
    return path.slice(this.#snapshot.rootDir.length + 1)
  }
}
