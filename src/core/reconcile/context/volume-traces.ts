/**
 * Traces of an attached CSI volume on this node, apart from those of pods that must not be disturbed: by its state files, by
 * the staging directory of its handle, and by the name of its PersistentVolume, which still names the directory of a volume
 * whose records are lost (S21, O5, O7, O22). The name may belong to another volume by now (S17): then one trace too many is
 * found, which is safe.
 */

import type { BlockVolume } from '../../facts/actual/block-volume.ts'
import { type CsiTrace, csiTraces } from '../../facts/actual/csi-traces.ts'
import { isOld, isSetUp } from '../../facts/actual/staged-volumes.ts'
import type { StateFile } from '../../facts/actual/state-file.ts'
import { CSI_PLUGIN, csiUniqueName, escapeQualifiedName } from '../../facts/actual/volume-names.ts'
import type { CsiIdentity } from '../../facts/sources.ts'
import { stagedFor } from '../../volumes/same-volume.ts'
import { isLiving } from '../pods/volume-users.ts'
import type { PlanContext } from './context.ts'

/** One trace on disk or in the mount table, relative to the root directory. */
export interface VolumeTrace {
  readonly path: string
  /** An operation that removes the trace has one of these paths. */
  readonly within: readonly string[]
}

/** Made once per plan: attachments and directories may be thousands. */
export class VolumeTraces {
  readonly #context: PlanContext
  readonly #byName: ReadonlyMap<string, readonly CsiTrace[]>
  readonly #blocks: ReadonlyMap<string, readonly BlockVolume[]>
  /** By PersistentVolume: the layout before 1.24 (C11). */
  readonly #stagedByName: ReadonlyMap<string, PlanContext['staged']>

  constructor(context: PlanContext) {
    this.#context = context
    const ended = context.classes.all.filter((pod) => !isLiving(pod))
    const traces = ended.flatMap((pod) => csiTraces(context.inputs, pod.uid)).filter(({ setUp }) => setUp)
    this.#byName = Map.groupBy(traces, ({ name }) => name)
    const blocks = context.blocks.filter(({ plugin }) => plugin === CSI_PLUGIN)
    this.#blocks = Map.groupBy(blocks, ({ name }) => escapeQualifiedName(name))
    const old = context.staged.filter((each) => isOld(each) && isSetUp(each))
    this.#stagedByName = Map.groupBy(old, ({ key }) => key)
  }

  of(identity: CsiIdentity | undefined, persistentVolume: string | undefined): VolumeTrace[] {
    return [
      ...(identity === undefined ? [] : this.#ofHandle(identity)),
      ...(persistentVolume === undefined ? [] : this.#ofName(escapeQualifiedName(persistentVolume), identity)),
    ]
  }

  #ofHandle(identity: CsiIdentity): VolumeTrace[] {
    const { onDisk, inputs } = this.#context
    return [
      ...onDisk.of(csiUniqueName(identity.driver, identity.handle)).map(({ path }) => traceAt(`${path}/vol_data.json`)),
      ...stagedFor(inputs, identity)
        .filter(isSetUp)
        .map(({ target }) => traceAt(target)),
    ]
  }

  #ofName(name: string, identity: CsiIdentity | undefined): VolumeTrace[] {
    const mayBe = ({ stateFile }: { readonly stateFile: StateFile | undefined }): boolean =>
      !namesAnother(stateFile, identity)
    return [
      ...(this.#byName.get(name) ?? []).filter(mayBe).map(({ path }) => traceAt(path)),
      ...(this.#blocks.get(name) ?? []).filter(mayBe).flatMap((block) => this.#ofBlock(block)),
      ...(this.#stagedByName.get(name) ?? []).filter(mayBe).map(({ target }) => traceAt(target)),
    ]
  }

  #ofBlock({ dir, mapDir, stagingPath, publishDir, mappings }: BlockVolume): VolumeTrace[] {
    const { classes, inputs } = this.#context
    const ended = mappings.filter(({ podUid }) => {
      const pod = classes.of(podUid)
      return pod === undefined || !isLiving(pod)
    })
    const device = [dir, mapDir, stagingPath, publishDir].filter((path) => path !== undefined && inputs.tree.has(path))
    return [
      ...ended.flatMap(({ mapFile, publishPath, symlink }) => {
        const within = [mapFile, publishPath, symlink].filter((path) => path !== undefined)
        return within[0] === undefined ? [] : [{ path: within[0], within }]
      }),
      ...(device[0] === undefined ? [] : [{ path: device[0], within: device.filter((path) => path !== undefined) }]),
    ]
  }
}

function traceAt(path: string): VolumeTrace {
  return { path, within: [path] }
}

function namesAnother(stateFile: StateFile | undefined, identity: CsiIdentity | undefined): boolean {
  const data = stateFile?.data
  if (data === undefined || identity === undefined) return false
  return data.driverName !== identity.driver || data.volumeHandle !== identity.handle
}
