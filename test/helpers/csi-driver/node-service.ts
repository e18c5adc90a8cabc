import { existsSync, lstatSync, mkdirSync, rmdirSync, statfsSync, statSync, unlinkSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import {
  NodeServiceCapability_RPC_Type as Capability,
  VolumeCapability_AccessMode_Mode as Mode,
  type NodeExpandVolumeRequest,
  type NodeGetVolumeStatsRequest,
  type NodePublishVolumeRequest,
  type NodeStageVolumeRequest,
  type NodeUnpublishVolumeRequest,
  type NodeUnstageVolumeRequest,
  VolumeUsage_Unit as Unit,
} from '../../../src/core/grpc/gen/csi/v1/csi_pb.js'
import { StatusError, status } from '../grpc/serve.ts'
import { type Backend, createBackend } from './backend.ts'
import {
  fsTypeOf,
  publishParameters,
  require,
  requireCapability,
  requireFit,
  requirePodInfo,
  stageParameters,
  Violation,
} from './checks.ts'
import { bindMount, mountsAt, unmountAll } from './mounts.ts'
import type { DriverOptions } from './options.ts'
import { type Volume, Volumes } from './volumes.ts'

/** The node service of a driver that really mounts, and that holds its client to the specification. */
export class NodeService {
  readonly #options: DriverOptions
  readonly #backend: Backend
  readonly #volumes: Volumes

  constructor(options: DriverOptions) {
    this.#options = options
    this.#backend = createBackend(options.backend, options.stateDir, options.size)
    this.#volumes = new Volumes(options.stateDir)
  }

  capabilities(): readonly Capability[] {
    const { stage, canExpand, multiWriter, mountGroup } = this.#options
    return [
      ...(stage ? [Capability.STAGE_UNSTAGE_VOLUME] : []),
      Capability.GET_VOLUME_STATS,
      ...(canExpand ? [Capability.EXPAND_VOLUME] : []),
      ...(multiWriter ? [Capability.SINGLE_NODE_MULTI_WRITER] : []),
      ...(mountGroup ? [Capability.VOLUME_MOUNT_GROUP] : []),
    ]
  }

  async stage(request: NodeStageVolumeRequest): Promise<object> {
    const { volumeId, stagingTargetPath } = request
    require({ volume_id: volumeId, staging_target_path: stagingTargetPath })
    const access = requireCapability(request.volumeCapability)
    if (!this.#options.stage) throw new StatusError(status.UNIMPLEMENTED, 'no STAGE_UNSTAGE_VOLUME')
    requireFit(this.#options, request)
    if (!isDirectory(stagingTargetPath)) {
      throw new Violation(status.INVALID_ARGUMENT, `staging_target_path is no directory: ${stagingTargetPath}`)
    }
    const parameters = stageParameters(request)
    const volume = this.#volumes.get(volumeId) ?? {
      id: volumeId,
      access,
      ephemeral: false,
      staged: null,
      published: {},
    }
    if (volume.staged !== null && volume.staged.path !== stagingTargetPath) {
      throw new Violation(status.FAILED_PRECONDITION, `volume ${volumeId} is staged at ${volume.staged.path}`)
    }
    if (volume.staged !== null && volume.staged.parameters !== parameters) {
      throw new Violation(status.ALREADY_EXISTS, `volume ${volumeId} is staged with other parameters`)
    }
    await this.#backend.create(volumeId, access, fsTypeOf(request))
    if (access === 'block') await this.#backend.openDevice(volumeId)
    else if (this.#options.mountAtStage && mountsAt(stagingTargetPath) === 0) {
      await this.#backend.mount(volumeId, stagingTargetPath)
    }
    this.#volumes.put({ ...volume, staged: { path: stagingTargetPath, parameters } })
    return {}
  }

  async unstage({ volumeId, stagingTargetPath }: NodeUnstageVolumeRequest): Promise<object> {
    require({ volume_id: volumeId, staging_target_path: stagingTargetPath })
    const volume = this.#volumes.get(volumeId)
    const targets = Object.keys(volume?.published ?? {})
    if (targets.length > 0) {
      throw new Violation(status.FAILED_PRECONDITION, `volume ${volumeId} is still published at ${targets.join(', ')}`)
    }
    if (volume?.access === 'block') await this.#backend.closeDevice(volumeId)
    else await this.#unmount(volumeId, stagingTargetPath)
    if (volume?.staged?.path === stagingTargetPath) this.#volumes.put({ ...volume, staged: null })
    return {}
  }

  async publish(request: NodePublishVolumeRequest): Promise<object> {
    const { volumeId, targetPath, readonly } = request
    require({ volume_id: volumeId, target_path: targetPath })
    const access = requireCapability(request.volumeCapability)
    const ephemeral = request.volumeContext['csi.storage.k8s.io/ephemeral'] === 'true'
    requireFit(this.#options, request)
    if (this.#options.requirePodInfo) requirePodInfo(request)
    const volume = this.#volumes.get(volumeId) ?? { id: volumeId, access, ephemeral, staged: null, published: {} }
    if (this.#options.stage && !ephemeral) this.#requireStaged(volume, request)
    if (!isDirectory(dirname(targetPath))) {
      throw new Violation(status.INVALID_ARGUMENT, `the parent of target_path is no directory: ${targetPath}`)
    }
    const parameters = publishParameters(request)
    const before = volume.published[targetPath]
    if (before !== undefined && before.parameters !== parameters) {
      throw new Violation(
        status.ALREADY_EXISTS,
        `volume ${volumeId} is published at ${targetPath} with other parameters`,
      )
    }
    const single = request.volumeCapability?.accessMode?.mode === Mode.SINGLE_NODE_SINGLE_WRITER
    const others = Object.keys(volume.published).filter((path) => path !== targetPath)
    if (single && others.length > 0) {
      throw new StatusError(status.FAILED_PRECONDITION, `volume ${volumeId} is published at ${others.join(', ')}`)
    }
    await this.#backend.create(volumeId, access, fsTypeOf(request))
    await this.#mountTarget(volume, targetPath, readonly)
    this.#volumes.put({ ...volume, published: { ...volume.published, [targetPath]: { parameters, readonly } } })
    return {}
  }

  async unpublish({ volumeId, targetPath }: NodeUnpublishVolumeRequest): Promise<object> {
    require({ volume_id: volumeId, target_path: targetPath })
    const volume = this.#volumes.get(volumeId)
    if (volume?.access === 'block') await unmountAll(targetPath)
    else await this.#unmount(volumeId, targetPath)
    removeTarget(targetPath)
    if (volume === undefined) return {}
    const { [targetPath]: _, ...published } = volume.published
    if (volume.ephemeral) this.#volumes.forget(volumeId)
    else this.#volumes.put({ ...volume, published })
    return {}
  }

  async expand(request: NodeExpandVolumeRequest): Promise<object> {
    require({ volume_id: request.volumeId, volume_path: request.volumePath })
    if (!this.#options.canExpand) throw new Violation(status.UNIMPLEMENTED, 'no EXPAND_VOLUME')
    requireFit(this.#options, request)
    const volume = this.#volumes.get(request.volumeId)
    if (volume === undefined) throw new StatusError(status.NOT_FOUND, `no volume ${request.volumeId}`)
    if (volume.access === 'mount' && volume.published[request.volumePath] === undefined) {
      throw new Violation(status.NOT_FOUND, `volume ${request.volumeId} is not published at ${request.volumePath}`)
    }
    if (volume.staged !== null && request.stagingTargetPath !== volume.staged.path) {
      throw new Violation(status.INVALID_ARGUMENT, `volume ${request.volumeId} is staged at ${volume.staged.path}`)
    }
    const size = request.capacityRange?.requiredBytes ?? 0n
    if (size > 0n) await this.#backend.expand(request.volumeId, Number(size))
    return { capacityBytes: size }
  }

  stats({ volumeId, volumePath }: NodeGetVolumeStatsRequest): object {
    require({ volume_id: volumeId, volume_path: volumePath })
    if (this.#volumes.get(volumeId) === undefined || !existsSync(volumePath)) {
      throw new StatusError(status.NOT_FOUND, `no volume ${volumeId} at ${volumePath}`)
    }
    const { bsize, blocks, bavail, bfree } = statfsSync(volumePath, { bigint: true })
    const total = bsize * blocks
    return { usage: [{ unit: Unit.BYTES, total, available: bsize * bavail, used: total - bsize * bfree }] }
  }

  /** After a reboot the records still say staged, and nothing is mounted: that does not count. */
  #requireStaged({ id, access, staged }: Volume, { stagingTargetPath }: NodePublishVolumeRequest): void {
    if (stagingTargetPath === '') throw new Violation(status.FAILED_PRECONDITION, 'staging_target_path is missing')
    if (staged === null) throw new Violation(status.FAILED_PRECONDITION, `volume ${id} is not staged`)
    if (access === 'mount' && this.#options.mountAtStage && mountsAt(staged.path) === 0) {
      throw new Violation(status.FAILED_PRECONDITION, `volume ${id} is not mounted at ${staged.path} any more`)
    }
    if (staged.path !== stagingTargetPath) {
      throw new Violation(
        status.INVALID_ARGUMENT,
        `volume ${id} is staged at ${staged.path}, not at ${stagingTargetPath}`,
      )
    }
  }

  async #mountTarget(volume: Volume, targetPath: string, readonly: boolean): Promise<void> {
    if (volume.access === 'block') {
      if (!existsSync(targetPath)) writeFileSync(targetPath, '')
      if (mountsAt(targetPath) === 0) await bindMount(await this.#backend.openDevice(volume.id), targetPath, readonly)
      return
    }
    mkdirSync(targetPath, { recursive: true, mode: 0o750 })
    if (!this.#options.mount || mountsAt(targetPath) > 0) return
    const { staged } = volume
    if (staged !== null && this.#options.mountAtStage) {
      await bindMount(staged.path, targetPath, readonly)
    } else {
      await this.#backend.mount(volume.id, targetPath)
    }
  }

  async #unmount(volumeId: string, path: string): Promise<void> {
    if (mountsAt(path) === 0) return
    const staged = this.#volumes.get(volumeId)?.staged
    // A bind mount of the staging directory is unmounted alone; otherwise the volume itself is mounted here.
    if (staged && staged.path !== path && this.#options.mountAtStage) await unmountAll(path)
    else await this.#backend.unmount(volumeId, path)
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

/** The driver made the target, and removes it: an empty directory, or the file under a device (C123). */
function removeTarget(path: string): void {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (stat?.isDirectory()) rmdirSync(path)
  else if (stat !== undefined) unlinkSync(path)
}
