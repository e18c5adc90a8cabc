/** What a strict driver demands of every request, by the CSI specification (C121 to C126). */
import { isAbsolute, normalize } from 'node:path'
import {
  VolumeCapability_AccessMode_Mode as Mode,
  type NodePublishVolumeRequest,
  type NodeStageVolumeRequest,
  type VolumeCapability,
} from '../../../src/core/grpc/gen/csi/v1/csi_pb.js'
import { StatusError, status } from '../grpc/serve.ts'
import type { DriverOptions } from './options.ts'

/** A request that a client of the specification would not send. The request is answered, and recorded. */
export class Violation extends StatusError {}

export function require(fields: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(fields)) {
    if (value === '') throw new Violation(status.INVALID_ARGUMENT, `${name} is missing`)
    if (name.endsWith('path') && (!isAbsolute(value) || normalize(value) !== value)) {
      throw new Violation(status.INVALID_ARGUMENT, `${name} is not a clean absolute path: ${value}`)
    }
  }
}

/** @returns how the volume is to be used */
export function requireCapability(capability: VolumeCapability | undefined): 'mount' | 'block' {
  const access = capability?.accessType.case
  if (capability === undefined) throw new Violation(status.INVALID_ARGUMENT, 'volume_capability is missing')
  if (access === undefined) throw new Violation(status.INVALID_ARGUMENT, 'volume_capability has no access type')
  if ((capability.accessMode?.mode ?? Mode.UNKNOWN) === Mode.UNKNOWN) {
    throw new Violation(status.INVALID_ARGUMENT, 'volume_capability has no access mode')
  }
  return access
}

/** The file system that the request asks for; empty for a block volume, or if the client does not say. */
export function fsTypeOf({ volumeCapability }: Pick<NodeStageVolumeRequest, 'volumeCapability'>): string {
  const access = volumeCapability?.accessType
  return access?.case === 'mount' ? access.value.fsType : ''
}

/**
 * Fields that a request may have only for a driver with the capability, and fields that this driver was started to demand
 * (C56, C58, C62).
 */
export function requireFit(
  options: DriverOptions,
  request: Pick<NodeStageVolumeRequest, 'volumeCapability' | 'secrets'>,
): void {
  const mode = request.volumeCapability?.accessMode?.mode
  const needsCapability = mode === Mode.SINGLE_NODE_SINGLE_WRITER || mode === Mode.SINGLE_NODE_MULTI_WRITER
  if (needsCapability && !options.multiWriter)
    throw new Violation(status.INVALID_ARGUMENT, 'no SINGLE_NODE_MULTI_WRITER')
  const access = request.volumeCapability?.accessType
  const group = access?.case === 'mount' ? access.value.volumeMountGroup : ''
  if (group !== '' && !options.mountGroup) throw new Violation(status.INVALID_ARGUMENT, 'no VOLUME_MOUNT_GROUP')
  const [key = '', value] = options.requireSecret?.split('=') ?? []
  if (options.requireSecret !== undefined && request.secrets[key] !== value)
    throw new StatusError(
      status.UNAUTHENTICATED,
      `the secrets lack the right ${key}; given: ${Object.values(request.secrets)}`,
    )
}

const POD_INFORMATION = ['pod.name', 'pod.namespace', 'pod.uid', 'serviceAccount.name', 'ephemeral']

export function requirePodInfo({ volumeContext }: NodePublishVolumeRequest): void {
  const missing = POD_INFORMATION.filter((key) => volumeContext[`csi.storage.k8s.io/${key}`] === undefined)
  if (missing.length > 0) throw new Violation(status.INVALID_ARGUMENT, `volume_context lacks ${missing.join(', ')}`)
}

const TOKENS = 'csi.storage.k8s.io/serviceAccount.tokens'

/** What two stagings of one volume must have in common. */
export function stageParameters(request: NodeStageVolumeRequest): string {
  const { volumeCapability, volumeContext, publishContext } = request
  return stable([capabilityParameters(volumeCapability), volumeContext, publishContext])
}

/** What two publications of one target must have in common: all but tokens and secrets. */
export function publishParameters(request: NodePublishVolumeRequest): string {
  const { volumeCapability, readonly, publishContext, stagingTargetPath } = request
  const { [TOKENS]: _, ...volumeContext } = request.volumeContext
  return stable([capabilityParameters(volumeCapability), readonly, publishContext, stagingTargetPath, volumeContext])
}

function capabilityParameters(capability: VolumeCapability | undefined): unknown {
  const access = capability?.accessType
  const mount = access?.case === 'mount' ? access.value : undefined
  const flags = [mount?.fsType, mount?.mountFlags, mount?.volumeMountGroup]
  return [access?.case, flags, capability?.accessMode?.mode]
}

/** JSON with keys in order, so that equal maps are equal texts. */
function stable(value: unknown): string {
  return JSON.stringify(value, (_key, inner) =>
    inner !== null && typeof inner === 'object' && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )
}
