/**
 * A node's real state, small and complete, for the demo and the end-to-end tests: mounts, pod directories, a CSI driver
 * on a unix socket, a container runtime, and an API server over HTTPS. It must be built in a mount namespace of its own
 * (namespace.ts). First everything is as it should be; `breakIt` breaks it as nodes break.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CsiNodeClient } from '../../../src/core/csi/csi-node-client.ts'
import type { SandboxState } from '../../../src/core/model/snapshot.ts'
import { startApiServer, type TestApiServer } from '../api-server/start.ts'
import { type CriServer, startCriServer } from '../cri-server/start.ts'
import { mountVolume, stageVolume } from '../csi-driver/kubelet-steps.ts'
import { type CsiDriver, startCsiDriver } from '../csi-driver/start.ts'
import {
  clusterObjects,
  DRIVER,
  handleOf,
  MACHINE,
  NAMESPACE,
  NODE,
  node,
  pod,
  pvOf,
  type ScenePod,
  type SceneVolume,
  SETTINGS,
  volumeObjects,
} from './api-objects.ts'
import { contentHashes } from './content-hashes.ts'
import { makeConfigMap, makeEmptyDir, makePodDirectory, makeSubPath } from './pod-directory.ts'

export const PODS = {
  /** Lives through everything. */
  web: { name: 'web-0', uid: '11111111-2222-4333-8444-000000000001', volume: { name: 'web' } },
  /** Deleted while the kubelet is down. */
  db: { name: 'db-0', uid: '11111111-2222-4333-8444-000000000002', volume: { name: 'db' } },
  /** Deleted as well; of its volume only a subPath mount is left. */
  batch: { name: 'batch-0', uid: '11111111-2222-4333-8444-000000000003', volume: { name: 'batch' } },
} as const satisfies Record<string, ScenePod>

/** A staged volume that no pod directory leads to, and one that is merely attached. */
const FORGOTTEN: SceneVolume = { name: 'old' }
const IDLE: SceneVolume = { name: 'idle' }
const WANTED = Object.values(PODS).map(({ volume }) => volume)
const VOLUMES = [...WANTED, FORGOTTEN, IDLE]

export interface Scene {
  readonly directory: string
  readonly rootDir: string
  readonly driver: CsiDriver
  readonly api: TestApiServer
  readonly cri: CriServer
  /** What volctl needs in its environment. */
  readonly env: Readonly<Record<string, string>>
  /** Breaks the node as nodes break, one step after another; `tell` hears what. */
  breakIt(tell?: (step: string) => void): Promise<void>
  /** Of every file of every volume, by volume. */
  contentHashes(): Readonly<Record<string, string>>
  /** Mount points below the root directory. */
  mountPoints(): readonly string[]
  /** Ends everything and removes it. */
  dispose(): Promise<void>
}

export async function makeScene(prefix = 'volctl-scene-'): Promise<Scene> {
  const directory = mkdtempSync(join(tmpdir(), prefix))
  const rootDir = join(directory, 'kubelet')
  mkdirSync(join(rootDir, 'pods'), { recursive: true, mode: 0o750 })
  const toEnd: (() => Promise<unknown>)[] = []
  const dispose = async (): Promise<void> => {
    unmountAllBelow(directory)
    for (const end of toEnd.splice(0).reverse()) await end().catch(() => undefined)
    if (mountPointsBelow(directory).length === 0) rmSync(directory, { recursive: true, force: true })
  }
  try {
    const driver = await startCsiDriver({
      name: DRIVER,
      rootDir,
      stateDir: join(directory, 'driver'),
      ...(inUserNamespace() ? { backend: 'tmpfs' as const } : {}),
    })
    toEnd.push(() => driver.dispose())
    const cri = await startCriServer({
      socketPath: join(directory, 'cri.sock'),
      pods: Object.values(PODS).map(sandbox),
    })
    toEnd.push(() => cri.stop())
    const objects = [
      node(WANTED),
      ...clusterObjects(),
      ...WANTED.flatMap(volumeObjects),
      ...Object.values(PODS).map(pod),
    ]
    const api = await startApiServer({ objects, nodeName: NODE })
    toEnd.push(() => api.stop())
    for (const each of Object.values(PODS)) await setUpPod(driver, each)
    const hostFile = join(directory, 'host.json')
    const host = testHost(directory, rootDir, cri.endpoint, api.kubeconfig('admin'))
    writeFileSync(hostFile, JSON.stringify({ ...host, processes: Object.values(PODS).map(({ uid }) => uid) }))
    return {
      directory,
      rootDir,
      driver,
      api,
      cri,
      env: { VOLCTL_TEST_HOST: hostFile },
      breakIt: async (tell = () => undefined) => {
        await breakScene({ driver, cri, api, rootDir }, tell)
        writeFileSync(hostFile, JSON.stringify({ ...host, processes: [PODS.web.uid] }))
      },
      contentHashes: () => contentHashes(driver, VOLUMES.map(handleOf)),
      mountPoints: () => mountPointsBelow(rootDir),
      dispose,
    }
  } catch (error) {
    await dispose()
    throw error
  }
}

function sandbox({ uid, name }: ScenePod): SandboxState {
  const containers = [{ name: 'main', state: 'CONTAINER_RUNNING' }]
  return { uid, namespace: NAMESPACE, name, state: 'SANDBOX_READY', containers }
}

/** The fake host: a machine of its own, with a kubelet that is down and stays so. */
function testHost(directory: string, rootDir: string, runtime: string, kubeconfig: string): object {
  return {
    ...MACHINE,
    bootTime: new Date(Date.now() - 86_400_000).toISOString(),
    nodeName: NODE,
    rootDir,
    kubelet: { running: false, mayReturn: false, note: 'kubelet.service is masked' },
    runtimeEndpoints: [runtime],
    runtimeExpected: true,
    processes: [],
    lockFile: join(directory, 'apply.lock'),
    journalDir: join(directory, 'journal'),
    kubeconfig,
  }
}

async function setUpPod(driver: CsiDriver, { uid, volume }: ScenePod): Promise<void> {
  const { rootDir } = driver
  const podDirectory = makePodDirectory(rootDir, uid)
  const target = await mountVolume(driver, csiVolume(uid, volume))
  mkdirSync(join(target, 'shared'))
  writeFileSync(join(target, 'shared', 'data.txt'), `content of ${volume.name}\n`.repeat(100))
  makeConfigMap(podDirectory, 'settings', SETTINGS)
  writeFileSync(join(makeEmptyDir(podDirectory, 'scratch', 'disk'), 'notes.txt'), 'scratch\n')
  writeFileSync(join(makeEmptyDir(podDirectory, 'memory', 'memory'), 'cache.bin'), Buffer.alloc(4096, 1))
}

const csiVolume = (podUid: string, volume: SceneVolume) => ({
  podUid,
  specName: pvOf(volume),
  handle: handleOf(volume),
  nodeName: NODE,
})

type Parts = Pick<Scene, 'driver' | 'cri' | 'api' | 'rootDir'>

async function breakScene({ driver, cri, api, rootDir }: Parts, tell: (step: string) => void): Promise<void> {
  tell('The kubelet goes down. Meanwhile two pods are deleted by force, and their containers end:')
  for (const { name } of [PODS.db, PODS.batch]) await api.remove('Pod', name, NAMESPACE)
  cri.set({ pods: [sandbox(PODS.web)] })

  tell('One of them leaves a subPath mount behind, and nothing else of its volume:')
  const batch = join(rootDir, 'pods', PODS.batch.uid)
  const { specName } = csiVolume(PODS.batch.uid, PODS.batch.volume)
  const target = join(batch, 'volumes', 'kubernetes.io~csi', specName, 'mount')
  makeSubPath(batch, specName, join(target, 'shared'))
  const service = new CsiNodeClient(driver.name, driver.socketPath)
  await service.nodeUnpublishVolume({ volumeId: handleOf(PODS.batch.volume), targetPath: target })
  rmSync(join(batch, 'volumes', 'kubernetes.io~csi'), { recursive: true })

  tell('A volume was staged for a pod that never came, so that no pod directory leads to it:')
  await stageVolume(driver, handleOf(FORGOTTEN))

  tell('And a volume is still attached that nobody here wants.')
  await api.put(node(VOLUMES), ...[FORGOTTEN, IDLE].flatMap(volumeObjects))
}

function unmountAllBelow(directory: string): void {
  for (const path of mountPointsBelow(directory).toReversed()) spawnSync('umount', ['-l', path], { stdio: 'ignore' })
}

function mountPointsBelow(directory: string): string[] {
  return readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[4] ?? '')
    .filter((path) => path.startsWith(`${directory}/`))
}

/** Loop devices belong to the machine's root. */
function inUserNamespace(): boolean {
  return !/^\s*0\s+0\s+4294967295\s*$/.test(readFileSync('/proc/self/uid_map', 'utf8'))
}
