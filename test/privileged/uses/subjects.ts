/** A volume of each kind, made as kubelet, driver and runtime leave it, for one trial. */
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { readLoops } from '../../../src/core/linux/block/device-use.ts'
import { csiNodeClient } from '../../../src/core/rpc/csi-node-client.ts'
import { csiGlobalDir } from '../../../src/core/volumes/volume-names.ts'
import { mapBlockVolume, publishVolume, stageVolume } from '../../helpers/csi-driver/kubelet-steps.ts'
import { detachLoop } from '../../helpers/detach-loops.ts'
import { OnDisk, subPathOf, volumePath } from '../../helpers/pod-files.ts'
import { sh } from '../../helpers/scenario.ts'
import { NODE } from '../../helpers/scene/api-objects.ts'
import { type Combination, type Kind, USES } from './combinations.ts'
import { attachDisk, type Disk, wipe } from './disk.ts'
import { PAGE } from './held.ts'
import type { PersistentVolume, TrialNode } from './node.ts'

export interface Subject extends Made {
  readonly combination: Combination
  /** Of the PersistentVolume, and of all that is made for this trial. */
  readonly name: string
  readonly podUid: string
  /** What stands in it, and must stay; empty where nothing may stand. */
  readonly mark: string
}

interface Made {
  /** What the operation takes away: a mount point, or a directory. */
  readonly directory?: string
  /** A directory in it; default: `inner`. */
  readonly inner?: string
  readonly disk?: Disk
  readonly volume?: PersistentVolume
  /** Where all content lies by a name that nobody takes away. */
  readonly store?: string
  /** Where all content must still be if it is refused to take it away. */
  readonly content?: string
  /** What is done elsewhere once it is detached, or its session has ended. */
  taken?(): void
}

/** A trial's own, below the scenario's directory. */
interface Plan {
  readonly node: TrialNode
  readonly combination: Combination
  readonly name: string
  readonly handle: string
  readonly podUid: string
  readonly mark: string
  readonly podDirectory: string
}

/** Where users have their own mounts and files: not below the root directory. */
export const ownDirectory = ({ directory }: TrialNode, name: string): string => `${directory}/own/${name}`

export async function makeSubject(node: TrialNode, combination: Combination, number: number): Promise<Subject> {
  const name = `pv-${number}`
  const podUid = `11111111-2222-4333-8444-${String(number).padStart(12, '0')}`
  const mark = combination.kind === 'pod directory' ? '' : randomBytes(16).toString('hex')
  const podDirectory = `${node.root}/pods/${podUid}`
  const made = await MAKE[combination.kind]({
    node,
    combination,
    name,
    handle: `vol-${number}`,
    podUid,
    mark,
    podDirectory,
  })
  return { combination, name, podUid, mark, ...made }
}

const MAKE: Readonly<Record<Kind, (plan: Plan) => Made | Promise<Made>>> = {
  'CSI file system': onCsiDisk,
  'CSI raw block': onCsiDisk,
  'subPath of a CSI volume': onCsiDisk,

  'CSI directory': async (plan) => {
    const { node, name, handle, mark } = plan
    const driver = node.directories
    const backing = `${driver.stateDir}/volumes/${hexOf(handle)}`
    mkdirSync(backing, { recursive: true })
    fill(backing, mark)
    const directory = (await setUp(plan, driver)) ?? backing
    return {
      directory,
      store: backing,
      volume: { name, mode: 'Filesystem', csi: { driver: driver.name, handle } },
      taken: () => empty(backing),
    }
  },

  'local device': async ({ node, combination, name, podUid, podDirectory, mark }) => {
    const disk = await attachDisk(`${node.directory}/${name}.img`, mark, isPartitioned(combination))
    const global = `${node.root}/plugins/kubernetes.io/local-volume/mounts/${name}`
    mkdirSync(global, { recursive: true })
    sh('mount', disk.fileSystem, global)
    fill(global, mark)
    const bound = `${podDirectory}/volumes/kubernetes.io~local-volume/${name}`
    if (combination.operation === 'CleanOrphanVolume')
      new OnDisk(node.root).podDirectory(podUid).localVolume(podUid, name, { source: global })
    return {
      directory: existsSync(bound) ? bound : global,
      disk,
      volume: { name, mode: 'Filesystem', path: disk.fileSystem },
    }
  },

  'emptyDir on disk': (plan) => emptyDir(plan, 'disk'),
  'emptyDir in memory': (plan) => emptyDir(plan, 'memory'),

  'subPath of a hostPath': ({ node, name, podUid, mark }) => {
    const source = `${node.directory}/host/${name}`
    fill(source, mark)
    new OnDisk(node.root).podDirectory(podUid).subPath(podUid, 'logs', { source })
    const directory = `${node.root}/${subPathOf(podUid, 'logs')}`
    return { directory, store: source }
  },

  'pod directory': ({ node, podUid, podDirectory }) => {
    new OnDisk(node.root).podDirectory(podUid)
    mkdirSync(`${podDirectory}/volumes/kubernetes.io~csi`, { recursive: true })
    return {
      directory: podDirectory,
      inner: `${podDirectory}/volumes`,
    }
  },
}

/** A disk of a CSI driver: merely attached, staged, or set up for a pod, as the first operation of the trial wants it. */
async function onCsiDisk(plan: Plan): Promise<Made> {
  const { node, combination, name, handle, podUid, mark } = plan
  const { kind } = combination
  const driver = node.disks
  mkdirSync(`${driver.stateDir}/volumes`, { recursive: true })
  const disk = await attachDisk(`${driver.stateDir}/volumes/${hexOf(handle)}.img`, mark, isPartitioned(combination))
  const mounted = kind === 'CSI raw block' ? await map(plan) : await setUp(plan, driver, disk)
  if (mounted !== undefined) fill(mounted, mark)
  const isSubPath = mounted !== undefined && kind === 'subPath of a CSI volume'
  if (isSubPath) new OnDisk(node.root).subPath(podUid, name, { source: `${mounted}/part` })
  const directory = isSubPath ? `${node.root}/${subPathOf(podUid, name)}` : mounted
  const metadata = { devicePath: disk.device }
  return {
    directory,
    disk,
    volume: {
      name,
      mode: kind === 'CSI raw block' ? 'Block' : 'Filesystem',
      csi: { driver: driver.name, handle, metadata },
    },
    taken: () => takeDisk(disk, combination),
  }
}

/** @returns where it is mounted, if it is */
async function setUp(plan: Plan, driver: TrialNode['disks'], disk?: Disk): Promise<string | undefined> {
  const { node, combination, name, handle, podUid } = plan
  if (combination.operation === 'DetachVolume') return undefined
  if (disk?.other !== undefined) {
    // This driver would take the disk as a whole; what it finds mounted it takes as it is.
    const directory = `${node.root}/${csiGlobalDir(driver.name, handle)}/globalmount`
    mkdirSync(directory, { recursive: true })
    sh('mount', disk.fileSystem, directory)
  }
  const global = await stageVolume(driver, handle)
  if (combination.operation === 'UnmountDevice') return global
  new OnDisk(node.root).podDirectory(podUid)
  return publishVolume(driver, { podUid, specName: name, handle, nodeName: NODE })
}

async function map({ node, combination, name, handle, podUid, podDirectory }: Plan): Promise<undefined> {
  const { root, disks } = node
  if (combination.operation === 'DetachVolume') return
  new OnDisk(root).podDirectory(podUid)
  await mapBlockVolume(disks, { podUid, specName: name, handle, nodeName: NODE })
  if (combination.operation === 'UnmapVolume') return
  // The pod and its part of the map go; what the node has for all pods is left.
  const devices = `${root}/plugins/kubernetes.io/csi/volumeDevices`
  const mapped = `${devices}/${name}/dev/${podUid}`
  for (const { device, backingFile } of readLoops()) if (backingFile === mapped) detachLoop(device)
  sh('umount', mapped)
  rmSync(mapped)
  const targetPath = `${devices}/publish/${name}/${podUid}`
  await csiNodeClient(disks.name, disks.socketPath).nodeUnpublishVolume({ volumeId: handle, targetPath })
  rmSync(podDirectory, { recursive: true })
}

function emptyDir({ node, podUid, mark }: Plan, medium: 'disk' | 'memory'): Made {
  new OnDisk(node.root).podDirectory(podUid).emptyDir(podUid, 'scratch', medium)
  const directory = `${node.root}/${volumePath(podUid, 'empty-dir', 'scratch')}`
  if (medium === 'memory') sh('mount', '-o', 'remount,size=8m', directory)
  fill(directory, mark)
  return {
    directory,
    ...(medium === 'disk' && { content: directory }),
  }
}

/** Other processes' memory may be in a swap area: that disk is only said to be gone. */
function takeDisk(disk: Disk, { use }: Combination): void {
  if (use === 'swap file' || use === 'swap on the disk') disk.gone = true
  else wipe(disk.image)
}

const isPartitioned = ({ use }: Combination): boolean => USES[use] === 'partition'

/** Where content stands below a directory that was filled. */
const FILLED = ['', '/inner', '/part', '/part/inner']

export function fill(directory: string, mark: string): void {
  const file = Buffer.alloc(2 * PAGE)
  file.write(mark, 'latin1')
  for (const path of FILLED.map((each) => `${directory}${each}`)) {
    mkdirSync(path, { recursive: true })
    writeFileSync(`${path}/mark`, `${mark}\n`)
    writeFileSync(`${path}/file`, file)
  }
}

export const isFilled = (directory: string): boolean =>
  FILLED.every((each) => existsSync(`${directory}${each}/mark`) && existsSync(`${directory}${each}/file`))

function empty(directory: string): void {
  for (const name of readdirSync(directory)) {
    try {
      rmSync(`${directory}/${name}`, { recursive: true })
    } catch {
      // The kernel keeps a swap file.
    }
  }
}

const hexOf = (handle: string): string => Buffer.from(handle).toString('hex')
