/**
 * A node's real state, small and complete, for the demo and the end-to-end tests: mounts, pod directories, a CSI driver on a
 * unix socket, a container runtime, and an API server over HTTPS. It must be built in a private mount namespace
 * (namespace.ts). First everything is healthy; `breakIt` breaks it as nodes break; after a repair, `setUp` makes it healthy
 * again.
 */
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { csiNodeClient } from '../../../src/core/rpc/csi-node-client.ts'
import type { SandboxState } from '../../../src/core/rpc/endpoints.ts'
import { mapBlockVolume, mountVolume, stageVolume } from '../csi-driver/kubelet-steps.ts'
import type { CsiDriver } from '../csi-driver/start.ts'
import { detachLoops } from '../detach-loops.ts'
import { temporary } from '../left-behind.ts'
import { type NodeParts, startNodeParts } from '../node-parts.ts'
import { OnDisk, volumePath } from '../pod-files.ts'
import { mountPointsBelow, unmountBelow } from '../scenario.ts'
import {
  clusterObjects,
  DRIVER,
  handleOf,
  isCsi,
  MACHINE,
  NAMESPACE,
  NODE,
  node,
  type OtherVolume,
  PASSWORD,
  pod,
  pvOf,
  type ScenePod,
  SETTINGS,
  volumeObjects,
} from './api-objects.ts'
import { hashOfCsiVolume, hashOfTree } from './content-hashes.ts'
import { type Layout, layOut, layOutLater } from './layouts.ts'
import { cast, FORGOTTEN, IDLE, smallCast } from './pods.ts'

export type Scene = Awaited<ReturnType<typeof makeScene>>

type Parts = Awaited<ReturnType<typeof startParts>>

export interface SceneOptions {
  /** Removed with everything in it; default: a new one below the temporary directory. */
  readonly directory?: string
  readonly small?: boolean
  /** The layout of the mounts around the root directory; default: private. */
  readonly layout?: Layout
}

export async function makeScene(options: SceneOptions = {}) {
  const directory = options.directory ?? temporary('volctl-scene-')
  let started: Parts | undefined
  /** Ends everything and removes it. */
  const dispose = async (): Promise<void> => {
    unmountBelow(directory, { itself: false })
    // Loop devices are identified by their files' paths, which no longer exist once the tree itself is gone.
    await Promise.allSettled([started?.[Symbol.asyncDispose]()])
    unmountBelow(directory)
    if (mountPointsBelow(directory).length === 0) rmSync(directory, { recursive: true, force: true })
  }
  try {
    const { layout = 'private' } = options
    const parts = await startParts(directory, options.small === true, layout)
    started = parts
    const { driver, rootDir, sources, pods } = parts
    /** Sets up every missing pod, and adds all of them to the API and the runtime. */
    const setUp = (): Promise<void> => setUpScene(parts)
    await setUp()
    layOutLater(layout, rootDir)
    return {
      ...parts,
      setUp,
      /** Breaks the node as nodes break, one step after another; the callback gets each step. */
      breakIt: (tell: (step: string) => void = () => undefined) => breakScene(parts, tell),
      /** The machine reboots: no mount and no loop device, every file kept, nothing runs, the kubelet still down (O25). */
      reboot: () => rebootScene(parts),
      /** Hashes of every file of every volume, by volume, without emptyDirs of deleted pods. */
      contentHashes: (): Readonly<Record<string, string>> => ({
        ...Object.fromEntries(csiVolumes(parts).map((volume) => [handleOf(volume), hashOfCsiVolume(driver, volume)])),
        local: hashOfTree(sources.local),
        hostPath: hashOfTree(sources.hostPath),
        'pod that lives': hashOfTree(join(rootDir, 'pods', pods.web.uid)),
      }),
      /** Mount points below the root directory. */
      mountPoints: () => mountPointsBelow(rootDir),
      dispose,
    }
  } catch (error) {
    await dispose()
    throw error
  }
}

async function startParts(directory: string, small: boolean, layout: Layout) {
  const rootDir = join(directory, 'kubelet')
  mkdirSync(join(rootDir, 'pods'), { recursive: true, mode: 0o750 })
  layOut(layout, directory, rootDir)
  const kubelet = { running: false, mayReturn: false, unit: 'kubelet.service', note: 'kubelet.service inactive' }
  const parts = await startNodeParts(directory, {
    rootDir,
    api: { objects: clusterObjects(), nodeName: NODE },
    drivers: [{ name: DRIVER, stateDir: join(directory, 'driver') }],
    host: { ...MACHINE, bootTime: new Date(Date.now() - 86_400_000).toISOString(), kubelet },
  })
  const [driver] = parts.drivers as [CsiDriver]
  const pods = small ? smallCast() : cast(driver.backend === 'loop')
  return { ...parts, directory, rootDir, pods, sources: makeHostSources(directory), driver }
}

const podVolumes = ({ pods }: Parts): ScenePod['volumes'] =>
  Object.values(pods).flatMap(({ volumes }: ScenePod) => volumes)
const csiVolumes = (parts: Parts): ScenePod['volumes'] => [...podVolumes(parts).filter(isCsi), FORGOTTEN, IDLE]

async function setUpScene(parts: Parts): Promise<void> {
  const { api, driver, rootDir, sources } = parts
  const pods: ScenePod[] = Object.values(parts.pods)
  api.put(
    node(podVolumes(parts)),
    ...podVolumes(parts).flatMap((volume) => volumeObjects(volume, sources.local)),
    ...pods.map((each) => pod(each, sources.hostPath)),
  )
  for (const each of pods) {
    if (!existsSync(join(rootDir, 'pods', each.uid))) await setUpPod(driver, each, sources)
  }
  setAlive(parts, pods)
}

/** Only these have containers and processes. */
export function setAlive(parts: NodeParts, pods: readonly ScenePod[]): void {
  parts.setAlive(pods.map(sandbox))
}

export function sandbox({ uid, name }: ScenePod): SandboxState {
  const containers = [{ name: 'main', state: 'CONTAINER_RUNNING' }]
  return { uid, namespace: NAMESPACE, name, state: 'SANDBOX_READY', containers }
}

async function breakScene(parts: Parts, tell: (step: string) => void): Promise<void> {
  const { api, driver, rootDir, sources, pods } = parts
  tell('The kubelet goes down. Meanwhile two pods are deleted by force.')
  for (const { name } of [pods.db, pods.batch]) api.remove('Pod', name, NAMESPACE)
  setAlive(parts, [pods.web])

  tell('One of them leaves a subPath mount behind, and nothing else of its volume.')
  await leakSubPath(driver, rootDir, pods.batch)

  tell('A volume was staged for a pod that never came: no pod directory leads to it.')
  await stageVolume(driver, handleOf(FORGOTTEN))

  tell('And a volume is still attached that nobody here wants.')
  api.put(
    node([...podVolumes(parts), FORGOTTEN, IDLE]),
    ...[FORGOTTEN, IDLE].flatMap((volume) => volumeObjects(volume, sources.local)),
  )
}

async function rebootScene(parts: Parts): Promise<void> {
  const { driver, rootDir } = parts
  await driver.stop()
  unmountBelow(rootDir, { itself: false })
  if (driver.backend === 'loop') detachLoops(rootDir, driver.stateDir)
  // A driver knows what is staged and published from the mounts of this boot.
  driver.forget()
  await driver.restart()
  setAlive(parts, [])
}

async function leakSubPath(driver: CsiDriver, rootDir: string, { uid, volumes }: ScenePod): Promise<void> {
  const podDirectory = join(rootDir, 'pods', uid)
  for (const volume of volumes) {
    const directory = join(podDirectory, 'volumes', 'kubernetes.io~csi', pvOf(volume))
    const targetPath = join(directory, 'mount')
    new OnDisk(rootDir).subPath(uid, pvOf(volume), { source: join(targetPath, 'shared') })
    const service = csiNodeClient(driver.name, driver.socketPath)
    await service.nodeUnpublishVolume({ volumeId: handleOf(volume), targetPath })
    rmSync(directory, { recursive: true })
  }
}

/** Directories that the node itself provides: a local volume, and the hostPath of every pod. */
function makeHostSources(directory: string) {
  const sources = { local: join(directory, 'host', 'archive'), hostPath: join(directory, 'host', 'logs') }
  mkdirSync(sources.local, { recursive: true })
  mkdirSync(join(sources.hostPath, 'shop'), { recursive: true })
  writeFileSync(join(sources.local, '2025.txt'), 'what is long past\n')
  writeFileSync(join(sources.hostPath, 'shop', 'access.log'), 'GET / 200\n'.repeat(50))
  return sources
}

/** A pod as a kubelet leaves it when it runs. */
async function setUpPod(driver: CsiDriver, { uid, volumes, others }: ScenePod, sources: Parts['sources']) {
  const disk = new OnDisk(driver.rootDir).podDirectory(uid)
  for (const volume of volumes) {
    const csi = { podUid: uid, specName: pvOf(volume), handle: handleOf(volume), nodeName: NODE }
    if (volume.kind === 'local') disk.localVolume(uid, pvOf(volume), { source: sources.local })
    else if (volume.kind === 'block') await mapBlockVolume(driver, csi)
    else fill(await mountVolume(driver, csi), volume.name)
  }
  const set: Readonly<Record<OtherVolume, () => unknown>> = {
    settings: () => disk.configMap(uid, 'settings', SETTINGS),
    password: () => disk.secret(uid, 'password', PASSWORD),
    logs: () => disk.subPath(uid, 'logs', { source: join(sources.hostPath, 'shop') }),
    scratch: () => disk.emptyDir(uid, 'scratch'),
    memory: () => disk.emptyDir(uid, 'memory', 'memory'),
  }
  for (const other of others) {
    set[other]()
    const directory = join(driver.rootDir, volumePath(uid, 'empty-dir', other))
    if (existsSync(directory)) writeFileSync(join(directory, 'notes.txt'), `${other} of a pod\n`)
  }
}

/** What is on a volume already stays. */
function fill(target: string, name: string): void {
  const shared = join(target, 'shared')
  if (existsSync(shared)) return
  mkdirSync(shared)
  writeFileSync(join(shared, 'data.txt'), `content of ${name}\n`.repeat(100))
}
