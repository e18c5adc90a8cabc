import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { mapBlockVolume, mountVolume } from '../csi-driver/kubelet-steps.ts'
import type { CsiDriver } from '../csi-driver/start.ts'
import {
  handleOf,
  NODE,
  type OtherVolume,
  PASSWORD,
  pvOf,
  type ScenePod,
  type SceneVolume,
  SETTINGS,
} from './api-objects.ts'
import {
  makeConfigMap,
  makeEmptyDir,
  makeLocalVolume,
  makePodDirectory,
  makeSecret,
  makeSubPath,
} from './pod-directory.ts'

/** Directories that the node itself provides: a local volume, and the hostPath of every pod. */
export interface HostSources {
  readonly local: string
  readonly hostPath: string
}

export function makeHostSources(directory: string): HostSources {
  const sources = { local: join(directory, 'host', 'archive'), hostPath: join(directory, 'host', 'logs') }
  mkdirSync(sources.local, { recursive: true })
  mkdirSync(join(sources.hostPath, 'shop'), { recursive: true })
  writeFileSync(join(sources.local, '2025.txt'), 'what is long past\n')
  writeFileSync(join(sources.hostPath, 'shop', 'access.log'), 'GET / 200\n'.repeat(50))
  return sources
}

/** A pod as a kubelet leaves it when it runs. */
export async function setUpPod(driver: CsiDriver, pod: ScenePod, sources: HostSources): Promise<void> {
  const podDirectory = makePodDirectory(driver.rootDir, pod.uid)
  for (const volume of pod.volumes) await setUpVolume(driver, podDirectory, pod.uid, volume, sources)
  for (const other of pod.others) setUpOther(podDirectory, other, sources)
}

function setUpOther(podDirectory: string, name: OtherVolume, { hostPath }: HostSources): void {
  if (name === 'settings') makeConfigMap(podDirectory, name, SETTINGS)
  else if (name === 'password') makeSecret(podDirectory, name, PASSWORD)
  else if (name === 'logs') makeSubPath(podDirectory, name, join(hostPath, 'shop'))
  else {
    const directory = makeEmptyDir(podDirectory, name, name === 'memory' ? 'memory' : 'disk')
    writeFileSync(join(directory, 'notes.txt'), `${name} of a pod\n`)
  }
}

async function setUpVolume(
  driver: CsiDriver,
  podDirectory: string,
  podUid: string,
  volume: SceneVolume,
  { local }: HostSources,
): Promise<void> {
  const csi = { podUid, specName: pvOf(volume), handle: handleOf(volume), nodeName: NODE }
  if (volume.kind === 'local') return makeLocalVolume(podDirectory, pvOf(volume), local)
  if (volume.kind === 'block') return void (await mapBlockVolume(driver, csi))
  const shared = join(await mountVolume(driver, csi), 'shared')
  if (existsSync(shared)) return
  mkdirSync(shared)
  writeFileSync(join(shared, 'data.txt'), `content of ${volume.name}\n`.repeat(100))
}
