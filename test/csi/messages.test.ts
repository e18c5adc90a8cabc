/**
 * Names, numbers and types of fields against the tables of the specifications (C112 to C116): a driver of the tests is made from the
 * same files, and would not see a mistake in them.
 */
import { type DescField, type DescFile, ScalarType } from '@bufbuild/protobuf'
import { expect, test } from 'vitest'
import { file_csi_v1_csi as csi } from '../../src/core/rpc/gen/csi/v1/csi_pb.js'
import { file_pluginregistration_registration as registration } from '../../src/core/rpc/gen/pluginregistration/registration_pb.js'
import { file_runtime_v1_runtime as runtime } from '../../src/core/rpc/gen/runtime/v1/runtime_pb.js'

function typeOf({ fieldKind, scalar, message, enum: values }: DescField): string {
  const of = scalar === undefined ? (message?.name ?? values?.name) : ScalarType[scalar].toLowerCase()
  return fieldKind === 'list' || fieldKind === 'map' ? `${fieldKind} of ${of}` : `${of}`
}

const CONTEXT = 'map of string'

test.each<[file: DescFile, message: string, fields: readonly string[]]>([
  [
    csi,
    'NodeStageVolumeRequest',
    [
      ...['1 volume_id string', `2 publish_context ${CONTEXT}`, '3 staging_target_path string'],
      ...['4 volume_capability VolumeCapability', `5 secrets ${CONTEXT}`, `6 volume_context ${CONTEXT}`],
    ],
  ],
  [
    csi,
    'NodePublishVolumeRequest',
    [
      ...['1 volume_id string', `2 publish_context ${CONTEXT}`, '3 staging_target_path string', '4 target_path string'],
      ...['5 volume_capability VolumeCapability', '6 readonly bool'],
      ...[`7 secrets ${CONTEXT}`, `8 volume_context ${CONTEXT}`],
    ],
  ],
  [csi, 'NodeUnpublishVolumeRequest', ['1 volume_id string', '2 target_path string']],
  [csi, 'NodeUnstageVolumeRequest', ['1 volume_id string', '2 staging_target_path string']],
  [
    csi,
    'NodeExpandVolumeRequest',
    [
      ...['1 volume_id string', '2 volume_path string', '3 capacity_range CapacityRange'],
      ...['4 staging_target_path string', '5 volume_capability VolumeCapability', `6 secrets ${CONTEXT}`],
    ],
  ],
  [csi, 'CapacityRange', ['1 required_bytes int64', '2 limit_bytes int64']],
  [csi, 'VolumeCapability', ['1 block BlockVolume', '2 mount MountVolume', '3 access_mode AccessMode']],
  [csi, 'MountVolume', ['1 fs_type string', '2 mount_flags list of string', '3 volume_mount_group string']],
  [csi, 'AccessMode', ['1 mode Mode']],
  [csi, 'GetPluginInfoResponse', ['1 name string', '2 vendor_version string', '3 manifest map of string']],
  [csi, 'NodeGetCapabilitiesResponse', ['1 capabilities list of NodeServiceCapability']],
  [csi, 'NodeServiceCapability', ['1 rpc RPC']],
  [
    registration,
    'PluginInfo',
    ['1 type string', '2 name string', '3 endpoint string', '4 supported_versions list of string'],
  ],
  [runtime, 'ListPodSandboxResponse', ['1 items list of PodSandbox']],
  [
    runtime,
    'PodSandbox',
    [
      ...['1 id string', '2 metadata PodSandboxMetadata', '3 state PodSandboxState', '4 created_at int64'],
      ...['5 labels map of string', '6 annotations map of string', '7 runtime_handler string'],
    ],
  ],
  [runtime, 'PodSandboxMetadata', ['1 name string', '2 uid string', '3 namespace string', '4 attempt uint32']],
  [runtime, 'ListContainersResponse', ['1 containers list of Container']],
  [
    runtime,
    'Container',
    [
      ...['1 id string', '2 pod_sandbox_id string', '3 metadata ContainerMetadata', '6 state ContainerState'],
      ...['7 created_at int64', '8 labels map of string', '9 annotations map of string'],
    ],
  ],
])('$1', (file, name, fields) => {
  const nested = file.messages.flatMap((each) => [each, ...each.nestedMessages])
  const message = nested.find((each) => each.name === name)
  expect(message?.fields.map((field) => `${field.number} ${field.name} ${typeOf(field)}`)).toEqual(fields)
})
