import { existsSync, lstatSync, mkdirSync, rmdirSync, statSync, unlinkSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Message } from '@bufbuild/protobuf'
import {
  NodeServiceCapability_RPC_Type as Capability,
  VolumeCapability_AccessMode_Mode as Mode,
  type NodeExpandVolumeRequest,
  type NodePublishVolumeRequest,
  type NodeStageVolumeRequest,
  type NodeUnpublishVolumeRequest,
  type NodeUnstageVolumeRequest,
} from '../../../src/core/rpc/gen/csi/v1/csi_pb.js'
import { StatusError, status } from '../grpc/serve.ts'
import { type Backend, type BackendName, createBackend } from './backend.ts'
import {
  demand,
  fsTypeOf,
  publishParameters,
  require,
  requireCapability,
  requireFit,
  requirePodInfo,
  stageParameters,
} from './checks.ts'
import { bindMount, mountsAt, unmountAll } from './mounts.ts'
import type { CsiDriverOptions } from './start.ts'

/** What the driver knows of a volume. */
interface Volume {
  readonly id: string
  readonly access: 'mount' | 'block'
  readonly ephemeral: boolean
  readonly staged: { readonly path: string; readonly parameters: unknown } | null
  /** By target path: the request's lasting part (no tokens, no secrets), for comparison with a second one. */
  readonly published: Readonly<Record<string, unknown>>
}

/** The services of a driver that really mounts, and that holds its client to the specification. */
export class NodeService {
  readonly #options: CsiDriverOptions
  readonly #backend: Backend
  readonly #volumes = new Map<string, Volume>()
  readonly #stages: boolean
  readonly #mountsAtStage: boolean

  constructor(options: CsiDriverOptions, backend: BackendName) {
    const { stage = true, mountAtStage = true } = options
    this.#options = options
    this.#backend = createBackend(backend, options.stateDir)
    this.#stages = stage
    this.#mountsAtStage = mountAtStage
  }

  answer(rpc: string, request: Message): Promise<object> | object {
    switch (rpc) {
      case 'GetPluginInfo':
        return { name: this.#options.name, vendorVersion: '1.0.0-test' }
      case 'NodeGetCapabilities':
        return { capabilities: this.#capabilities().map((type) => ({ type: { case: 'rpc', value: { type } } })) }
      case 'NodeStageVolume':
        return this.#stage(request as NodeStageVolumeRequest)
      case 'NodeUnstageVolume':
        return this.#unstage(request as NodeUnstageVolumeRequest)
      case 'NodePublishVolume':
        return this.#publish(request as NodePublishVolumeRequest)
      case 'NodeUnpublishVolume':
        return this.#unpublish(request as NodeUnpublishVolumeRequest)
      case 'NodeExpandVolume':
        return this.#expand(request as NodeExpandVolumeRequest)
      default:
        throw new StatusError(status.UNIMPLEMENTED, rpc)
    }
  }

  #capabilities(): readonly Capability[] {
    return [
      ...(this.#stages ? [Capability.STAGE_UNSTAGE_VOLUME] : []),
      ...[Capability.EXPAND_VOLUME, Capability.SINGLE_NODE_MULTI_WRITER],
      ...(this.#options.mountGroup ? [Capability.VOLUME_MOUNT_GROUP] : []),
    ]
  }

  #known(id: string, access: Volume['access'], ephemeral = false): Volume {
    return this.#volumes.get(id) ?? { id, access, ephemeral, staged: null, published: {} }
  }

  #note(volume: Volume): void {
    this.#volumes.set(volume.id, volume)
  }

  async #stage(request: NodeStageVolumeRequest): Promise<object> {
    const { volumeId, stagingTargetPath } = request
    require({ volume_id: volumeId, staging_target_path: stagingTargetPath })
    const access = requireCapability(request.volumeCapability)
    if (!this.#stages) throw new StatusError(status.UNIMPLEMENTED, 'no STAGE_UNSTAGE_VOLUME')
    requireFit(this.#options, request)
    demand(isDirectory(stagingTargetPath), status.INVALID_ARGUMENT, `no directory: ${stagingTargetPath}`)
    const parameters = stageParameters(request)
    const volume = this.#known(volumeId, access)
    const { path, parameters: before } = volume.staged ?? { path: stagingTargetPath, parameters }
    demand(path === stagingTargetPath, status.FAILED_PRECONDITION, `volume ${volumeId} is staged at ${path}`)
    demand(isDeepStrictEqual(before, parameters), status.ALREADY_EXISTS, `volume ${volumeId} is staged differently`)
    await this.#backend.create(volumeId, access, fsTypeOf(request))
    if (access === 'block') await this.#backend.openDevice(volumeId)
    else if (this.#mountsAtStage && mountsAt(stagingTargetPath) === 0) {
      await this.#backend.mount(volumeId, stagingTargetPath)
    }
    this.#note({ ...volume, staged: { path: stagingTargetPath, parameters } })
    return {}
  }

  async #unstage({ volumeId, stagingTargetPath }: NodeUnstageVolumeRequest): Promise<object> {
    require({ volume_id: volumeId, staging_target_path: stagingTargetPath })
    const volume = this.#volumes.get(volumeId)
    const targets = Object.keys(volume?.published ?? {})
    demand(targets.length === 0, status.FAILED_PRECONDITION, `volume ${volumeId} is still published at ${targets}`)
    if (volume?.access === 'block') await this.#backend.closeDevice(volumeId)
    else await this.#unmount(volumeId, stagingTargetPath)
    if (volume?.staged?.path === stagingTargetPath) this.#note({ ...volume, staged: null })
    return {}
  }

  async #publish(request: NodePublishVolumeRequest): Promise<object> {
    const { volumeId, targetPath, readonly } = request
    require({ volume_id: volumeId, target_path: targetPath })
    const access = requireCapability(request.volumeCapability)
    const ephemeral = request.volumeContext['csi.storage.k8s.io/ephemeral'] === 'true'
    requireFit(this.#options, request)
    if (this.#options.strict) requirePodInfo(request)
    const volume = this.#known(volumeId, access, ephemeral)
    if (this.#stages && !ephemeral) this.#requireStaged(volume, request)
    demand(isDirectory(dirname(targetPath)), status.INVALID_ARGUMENT, `no directory for ${targetPath}`)
    const parameters = publishParameters(request)
    const { [targetPath]: before = parameters } = volume.published
    demand(isDeepStrictEqual(before, parameters), status.ALREADY_EXISTS, `${targetPath} is published differently`)
    const single = request.volumeCapability?.accessMode?.mode === Mode.SINGLE_NODE_SINGLE_WRITER
    const others = Object.keys(volume.published).filter((path) => path !== targetPath)
    if (single && others.length > 0)
      throw new StatusError(status.FAILED_PRECONDITION, `volume ${volumeId} is published at ${others}`)
    await this.#backend.create(volumeId, access, fsTypeOf(request))
    await this.#mountTarget(volume, targetPath, readonly)
    this.#note({ ...volume, published: { ...volume.published, [targetPath]: parameters } })
    return {}
  }

  async #unpublish({ volumeId, targetPath }: NodeUnpublishVolumeRequest): Promise<object> {
    require({ volume_id: volumeId, target_path: targetPath })
    const volume = this.#volumes.get(volumeId)
    if (volume?.access === 'block') await unmountAll(targetPath)
    else await this.#unmount(volumeId, targetPath)
    removeTarget(targetPath)
    if (volume === undefined) return {}
    const { [targetPath]: _, ...published } = volume.published
    if (volume.ephemeral) this.#volumes.delete(volumeId)
    else this.#note({ ...volume, published })
    return {}
  }

  async #expand(request: NodeExpandVolumeRequest): Promise<object> {
    require({ volume_id: request.volumeId, volume_path: request.volumePath })
    requireFit(this.#options, request)
    const volume = this.#volumes.get(request.volumeId)
    if (volume === undefined) throw new StatusError(status.NOT_FOUND, `no volume ${request.volumeId}`)
    const isThere = volume.access === 'block' || volume.published[request.volumePath] !== undefined
    demand(isThere, status.NOT_FOUND, `volume ${request.volumeId} is not published at ${request.volumePath}`)
    const { path } = volume.staged ?? { path: request.stagingTargetPath }
    demand(
      request.stagingTargetPath === path,
      status.INVALID_ARGUMENT,
      `volume ${request.volumeId} is staged at ${path}`,
    )
    const size = request.capacityRange?.requiredBytes ?? 0n
    if (size > 0n) await this.#backend.expand(request.volumeId, Number(size))
    return { capacityBytes: size }
  }

  /** Where nothing is mounted any more, the record does not count. */
  #requireStaged({ id, access, staged }: Volume, { stagingTargetPath }: NodePublishVolumeRequest): void {
    const isMounted = access === 'block' || !this.#mountsAtStage || (staged !== null && mountsAt(staged.path) > 0)
    demand(staged !== null && isMounted, status.FAILED_PRECONDITION, `volume ${id} is not staged`)
    const isThere = staged?.path === stagingTargetPath
    demand(isThere, status.INVALID_ARGUMENT, `volume ${id} is staged at ${staged?.path}, not at ${stagingTargetPath}`)
  }

  async #mountTarget(volume: Volume, targetPath: string, readonly: boolean): Promise<void> {
    if (volume.access === 'block') {
      if (!existsSync(targetPath)) writeFileSync(targetPath, '')
      if (mountsAt(targetPath) === 0) await bindMount(await this.#backend.openDevice(volume.id), targetPath, readonly)
      return
    }
    mkdirSync(targetPath, { recursive: true, mode: 0o750 })
    if (mountsAt(targetPath) > 0) return
    const { staged } = volume
    if (staged !== null && this.#mountsAtStage) {
      await bindMount(staged.path, targetPath, readonly)
    } else {
      await this.#backend.mount(volume.id, targetPath)
    }
  }

  async #unmount(volumeId: string, path: string): Promise<void> {
    if (mountsAt(path) === 0) return
    const staged = this.#volumes.get(volumeId)?.staged
    // A bind mount of the staging directory is unmounted alone; otherwise the volume itself is mounted here.
    if (staged && staged.path !== path && this.#mountsAtStage) await unmountAll(path)
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
