/**
 * A kubelet's own work around a driver's calls, to set up the state that volctl finds: directories, state files, loop devices
 * (C133, C134).
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { csiNodeClient } from '../../../src/core/rpc/csi-node-client.ts'
import { VolumeCapability_AccessMode_Mode as Mode } from '../../../src/core/rpc/gen/csi/v1/csi_pb.js'
import { attachmentName, csiGlobalDir } from '../../../src/core/volumes/volume-names.ts'
import type { CsiDriver } from './start.ts'

export interface KubeletVolume {
  readonly podUid: string
  /** The PersistentVolume's name; of an inline volume the name in the pod. */
  readonly specName: string
  /** The volume's handle; of an inline volume it is generated. */
  readonly handle: string
  readonly nodeName: string
}

const MOUNT = { case: 'mount', value: { fsType: 'ext4' } } as const
const BLOCK = { case: 'block', value: {} } as const

function capability(accessType: typeof MOUNT | typeof BLOCK) {
  return { accessType, accessMode: { mode: Mode.SINGLE_NODE_MULTI_WRITER } }
}

/** Stages the volume; @returns the global mount. */
export async function stageVolume(driver: CsiDriver, handle: string): Promise<string> {
  const directory = join(driver.rootDir, csiGlobalDir(driver.name, handle))
  const stagingTargetPath = join(directory, 'globalmount')
  makeDirectory(stagingTargetPath)
  writeState(directory, { driverName: driver.name, volumeHandle: handle })
  const volumeCapability = capability(MOUNT)
  await clientOf(driver).nodeStageVolume({ volumeId: handle, stagingTargetPath, volumeCapability })
  return stagingTargetPath
}

/** Publishes a staged volume for a pod; @returns the target. */
export async function publishVolume(driver: CsiDriver, volume: KubeletVolume): Promise<string> {
  const { podUid, specName, handle } = volume
  const directory = join(driver.rootDir, 'pods', podUid, 'volumes', 'kubernetes.io~csi', specName)
  makeDirectory(directory)
  writeState(directory, { ...stateOf(driver, volume), volumeLifecycleMode: 'Persistent' })
  const targetPath = join(directory, 'mount')
  await clientOf(driver).nodePublishVolume({
    volumeId: handle,
    stagingTargetPath: join(driver.rootDir, csiGlobalDir(driver.name, handle), 'globalmount'),
    targetPath,
    volumeCapability: capability(MOUNT),
  })
  return targetPath
}

/** Stages and publishes; @returns the target. */
export async function mountVolume(driver: CsiDriver, volume: KubeletVolume): Promise<string> {
  await stageVolume(driver, volume.handle)
  return publishVolume(driver, volume)
}

/** Maps a raw block volume for a pod, with the loop device that keeps it open. */
export async function mapBlockVolume(driver: CsiDriver, volume: KubeletVolume): Promise<void> {
  const { podUid, specName, handle } = volume
  const devices = join(driver.rootDir, 'plugins/kubernetes.io/csi/volumeDevices')
  const stagingTargetPath = join(devices, 'staging', specName)
  const targetPath = join(devices, 'publish', specName, podUid)
  const mapDirectory = join(devices, specName, 'dev')
  const podDirectory = join(driver.rootDir, 'pods', podUid, 'volumeDevices', 'kubernetes.io~csi')
  for (const directory of [stagingTargetPath, join(devices, 'publish', specName), mapDirectory, podDirectory]) {
    makeDirectory(directory)
  }
  makeDirectory(join(devices, specName, 'data'))
  writeState(join(devices, specName, 'data'), stateOf(driver, volume))
  const client = clientOf(driver)
  const volumeCapability = capability(BLOCK)
  await client.nodeStageVolume({ volumeId: handle, stagingTargetPath, volumeCapability })
  await client.nodePublishVolume({
    volumeId: handle,
    stagingTargetPath,
    targetPath,
    volumeCapability,
  })
  const mapped = join(mapDirectory, podUid)
  writeFileSync(mapped, '')
  execFileSync('mount', ['--bind', targetPath, mapped])
  symlinkSync(targetPath, join(podDirectory, specName))
  execFileSync('losetup', ['--find', mapped])
}

function clientOf(driver: CsiDriver): ReturnType<typeof csiNodeClient> {
  return csiNodeClient(driver.name, driver.socketPath)
}

function makeDirectory(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o750 })
}

/** The content of vol_data.json for a pod's volume; keys in order (C12). */
function stateOf({ name }: CsiDriver, { specName, handle, nodeName }: KubeletVolume): Readonly<Record<string, string>> {
  return {
    attachmentID: attachmentName(handle, name, nodeName),
    driverName: name,
    nodeName,
    specVolID: specName,
    volumeHandle: handle,
  }
}

/** One line, keys in order (C12). */
function writeState(directory: string, data: Readonly<Record<string, string>>): void {
  writeFileSync(join(directory, 'vol_data.json'), `${JSON.stringify(data)}\n`)
}
