import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { mapBlockVolume, mountVolume } from '../csi-driver/kubelet-steps.ts'
import type { CsiDriver } from '../csi-driver/start.ts'
import { OnDisk, volumePath } from '../pod-files.ts'
import { handleOf, NODE, type OtherVolume, PASSWORD, pvOf, type ScenePod, SETTINGS } from './api-objects.ts'

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
export async function setUpPod(driver: CsiDriver, { uid, volumes, others }: ScenePod, sources: HostSources) {
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
