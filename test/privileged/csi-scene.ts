/** A live node with the test driver and its volumes, for scenarios with CSI volumes that are really set up. */
import { existsSync, lstatSync } from 'node:fs'
import type { CsiNode } from '../../src/core/apply/operation/step.ts'
import type {
  CsiDriver as CsiDriverObject,
  PersistentVolume,
  PodVolumeSource,
} from '../../src/core/kube/api/objects.ts'
import { loopDevices } from '../../src/core/linux/block/device-use.ts'
import { csiGlobalDir } from '../../src/core/volumes/volume-names.ts'
import { mountsAt } from '../helpers/csi-driver/mounts.ts'
import { type CsiDriver, type DriverOptions, startCsiDriver } from '../helpers/csi-driver/start.ts'
import { LiveNode, POD } from '../helpers/live-node.ts'

export const DRIVER = 'disk.test'

/** A node with the CSIDriver object of the test driver. */
export function nodeWithDriver(directory: string, spec: Partial<CsiDriverObject['spec']> = {}): LiveNode {
  const node = new LiveNode(directory)
  node.csiDrivers.push({
    metadata: { name: DRIVER, uid: 'driver-uid' },
    spec: {
      attachRequired: true,
      volumeLifecycleModes: ['Persistent'],
      fsGroupPolicy: 'ReadWriteOnceWithFSType',
      ...spec,
    },
  })
  return node
}

/** Runs work with the driver, which is ended and cleaned up afterwards. */
export async function withDriver<T>(
  directory: string,
  given: DriverOptions & { readonly spec?: Partial<CsiDriverObject['spec']> },
  work: (node: LiveNode, driver: CsiDriver) => Promise<T>,
): Promise<T> {
  const { spec, ...options } = given
  const node = nodeWithDriver(directory, spec)
  const driver = await startCsiDriver({ name: DRIVER, rootDir: node.root, stateDir: `${directory}/state`, ...options })
  try {
    return await work(node, driver)
  } finally {
    await driver.dispose()
  }
}

/** Long enough for a call to reach the driver on a machine that is busy; a call that hangs does nothing more in that time. */
const HANGS_MS = 1500

/**
 * For an apply that meets a fault: a call that hangs has no more time to answer, and every other call has its time, so that
 * exactly this call is abandoned, however slow the machine is.
 */
export function giveUpOn(fault: string, node: LiveNode): LiveNode['context'] {
  const [, hanging = ''] = /^hang\S* Node(\w+)/.exec(fault) ?? []
  return {
    csi: async (name) => {
      const driver = await node.csiNode(name)
      const method = `node${hanging}` as keyof CsiNode
      if (driver?.[method] === undefined) return driver
      const call = (request: never, ms: number) => driver[method](request, Math.min(ms, HANGS_MS))
      return { ...driver, [method]: call }
    },
  }
}

export function handleOf(volume: string): string {
  return `handle/${volume}`
}

/** A bound, attached volume. */
export function addVolume(
  node: LiveNode,
  name: string,
  spec: Partial<Omit<PersistentVolume['spec'], 'csi'>> & {
    readonly csi?: Partial<PersistentVolume['spec']['csi']>
  } = {},
): void {
  const { csi, ...rest } = spec
  const source = { driver: DRIVER, volumeHandle: handleOf(name), fsType: 'ext4', ...csi }
  node.persistentVolume(name, { source: { ...rest, csi: source } })
  node.attach(name, handleOf(name))
}

export function claim(volume: string, readOnly = false): PodVolumeSource {
  return { name: 'data', persistentVolumeClaim: { claimName: `claim-${volume}`, readOnly } }
}

/** The two directories of a staged and published file system. */
export function directories(node: LiveNode, volume: string, pod = POD) {
  return {
    global: `${node.root}/${csiGlobalDir(DRIVER, handleOf(volume))}`,
    pod: `${node.root}/pods/${pod}/volumes/kubernetes.io~csi/${volume}`,
  }
}

/**
 * The parts of the volume that exist, in words: `staged` and `published` are mounts, the others the state files beside them.
 */
export function present(node: LiveNode, volume: string, pod = POD): string[] {
  const { global, pod: dir } = directories(node, volume, pod)
  return [
    ...(mountsAt(`${global}/globalmount`) > 0 ? ['staged'] : []),
    ...(existsSync(`${global}/vol_data.json`) ? ['stage file'] : existsSync(global) ? ['stage directory'] : []),
    ...(mountsAt(`${dir}/mount`) > 0 ? ['published'] : []),
    ...(existsSync(`${dir}/vol_data.json`) ? ['publish file'] : existsSync(dir) ? ['publish directory'] : []),
  ]
}

/** The same of a raw block volume. */
export function presentBlock(node: LiveNode, volume: string, pod = POD): string[] {
  const base = `${node.root}/plugins/kubernetes.io/csi/volumeDevices`
  const map = `${base}/${volume}/dev/${pod}`
  const isThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined
  return [
    ...(isThere(`${base}/${volume}/data/vol_data.json`)
      ? ['data file']
      : isThere(`${base}/${volume}`)
        ? ['volume directory']
        : []),
    ...(isThere(`${base}/staging/${volume}`) ? ['staging'] : []),
    ...(mountsAt(`${base}/publish/${volume}/${pod}`) > 0 ? ['published'] : []),
    ...(mountsAt(map) > 0 ? ['mapped'] : []),
    ...(isThere(blockLink(node, volume, pod)) ? ['link'] : []),
    ...(loopDevices().some(({ backingFile }) => backingFile === map) ? ['loop'] : []),
  ]
}

export function blockLink(node: LiveNode, volume: string, pod = POD): string {
  return `${node.root}/pods/${pod}/volumeDevices/kubernetes.io~csi/${volume}`
}
