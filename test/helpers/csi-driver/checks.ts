/** What a strict driver demands of every request, by the CSI specification (C121 to C126). */
import { isAbsolute, normalize } from 'node:path'
import {
  VolumeCapability_AccessMode_Mode as Mode,
  type NodePublishVolumeRequest,
  type NodeStageVolumeRequest,
  type VolumeCapability,
} from '../../../src/core/rpc/gen/csi/v1/csi_pb.js'
import { StatusError, status } from '../grpc/serve.ts'
import type { DriverOptions } from './start.ts'

/** A request that a client of the specification would not send. The request is answered, and recorded. */
export class Violation extends StatusError {}

/** @throws Violation unless it holds */
export function demand(holds: boolean, code: status, text: string): void {
  if (!holds) throw new Violation(code, text)
}

export function require(fields: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(fields)) {
    const isPath = isAbsolute(value) && normalize(value) === value
    demand(
      value !== '' && (isPath || !name.endsWith('path')),
      status.INVALID_ARGUMENT,
      `${name} is ${value || 'missing'}`,
    )
  }
}

/** @returns how the volume is to be used */
export function requireCapability(capability: VolumeCapability | undefined): 'mount' | 'block' {
  const access = capability?.accessType.case
  if (access === undefined) throw new Violation(status.INVALID_ARGUMENT, 'volume_capability has no access type')
  const mode = capability?.accessMode?.mode ?? Mode.UNKNOWN
  demand(mode !== Mode.UNKNOWN, status.INVALID_ARGUMENT, 'volume_capability has no access mode')
  return access
}

/** The file system that the request asks for; empty for a block volume, or if the client does not say. */
export function fsTypeOf({ volumeCapability }: Pick<NodeStageVolumeRequest, 'volumeCapability'>): string {
  const access = volumeCapability?.accessType
  return access?.case === 'mount' ? access.value.fsType : ''
}

/** A field that a request may have only for a driver with the capability, and what this driver demands (C56, C58, C62). */
export function requireFit(
  options: DriverOptions,
  request: Pick<NodeStageVolumeRequest, 'volumeCapability' | 'secrets'>,
): void {
  const access = request.volumeCapability?.accessType
  const group = access?.case === 'mount' ? access.value.volumeMountGroup : ''
  demand(group === '' || options.mountGroup === true, status.INVALID_ARGUMENT, 'no VOLUME_MOUNT_GROUP')
  if (options.strict && request.secrets.password !== PASSWORD)
    throw new StatusError(
      status.UNAUTHENTICATED,
      `the secrets lack the right password; given: ${Object.values(request.secrets)}`,
    )
}

/** Of a strict driver. */
export const PASSWORD = 'hunter2'

const POD_INFORMATION = ['pod.name', 'pod.namespace', 'pod.uid', 'serviceAccount.name', 'ephemeral']

export function requirePodInfo({ volumeContext }: NodePublishVolumeRequest): void {
  const missing = POD_INFORMATION.filter((key) => volumeContext[`csi.storage.k8s.io/${key}`] === undefined)
  demand(missing.length === 0, status.INVALID_ARGUMENT, `volume_context lacks ${missing.join(', ')}`)
}

const TOKENS = 'csi.storage.k8s.io/serviceAccount.tokens'

/** What two stagings of one volume must have in common. */
export function stageParameters({ volumeCapability, volumeContext, publishContext }: NodeStageVolumeRequest): unknown {
  return [capabilityParameters(volumeCapability), volumeContext, publishContext]
}

/** What two publications of one target must have in common: all but tokens and secrets. */
export function publishParameters(request: NodePublishVolumeRequest): unknown {
  const { volumeCapability, readonly, publishContext, stagingTargetPath } = request
  const { [TOKENS]: _, ...volumeContext } = request.volumeContext
  return [capabilityParameters(volumeCapability), readonly, publishContext, stagingTargetPath, volumeContext]
}

function capabilityParameters(capability: VolumeCapability | undefined): unknown {
  const access = capability?.accessType
  const { fsType, mountFlags, volumeMountGroup } = access?.case === 'mount' ? access.value : {}
  return [access?.case, fsType, mountFlags, volumeMountGroup, capability?.accessMode?.mode]
}
