/**
 * Run in a mount namespace of its own: mounts, maps, unmounts and mounts again with a real driver, and prints what it
 * saw as JSON. Arguments: backend, directory.
 */
import { existsSync, lstatSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CsiNodeClient } from '../../src/core/csi/csi-node-client.ts'
import { csiGlobalDir } from '../../src/core/names/volume-names.ts'
import { mapBlockVolume, mountInlineVolume, mountVolume, publishVolume } from '../helpers/csi-driver/kubelet-steps.ts'
import { mountsAt, unmountBelow } from '../helpers/csi-driver/mounts.ts'
import { startCsiDriver } from '../helpers/csi-driver/start.ts'

const [backend, directory = ''] = process.argv.slice(2)
if (backend !== 'loop' && backend !== 'tmpfs' && backend !== 'bind') throw new Error(`no backend ${backend}`)
const rootDir = join(directory, 'root')
const pods = ['11111111-2222-3333-4444-555555555555', '66666666-2222-3333-4444-555555555555'] as const
const volume = { podUid: pods[0], specName: 'pv-1', handle: 'vol/1', nodeName: 'node-a' }
const seen: Record<string, unknown> = {}

const driver = await startCsiDriver({ name: 'loop.test', rootDir, stateDir: join(directory, 'state'), backend })
try {
  const client = new CsiNodeClient(driver.name, driver.socketPath)
  const staging = join(rootDir, csiGlobalDir(driver.name, volume.handle), 'globalmount')

  const first = await mountVolume(driver, volume)
  const second = await publishVolume(driver, { ...volume, podUid: pods[1], readOnly: true })
  writeFileSync(join(first, 'data'), 'kept')
  seen.mounted = [staging, first, second].map(mountsAt)
  seen.shared = readFileSync(join(second, 'data'), 'utf8')
  try {
    writeFileSync(join(second, 'data'), 'no')
  } catch (error) {
    seen.readOnly = (error as NodeJS.ErrnoException).code
  }
  const inline = await mountInlineVolume(driver, { podUid: pods[0], specName: 'scratch', nodeName: 'node-a' })
  seen.inline = mountsAt(inline)

  if (backend === 'loop') {
    const link = await mapBlockVolume(driver, { ...volume, specName: 'pv-b', handle: 'vol-b' })
    const published = join(rootDir, 'plugins/kubernetes.io/csi/volumeDevices/publish/pv-b', pods[0])
    seen.block = [lstatSync(link).isSymbolicLink(), lstatSync(published).isBlockDevice()]
  }

  const busy = process.cwd()
  process.chdir(first)
  seen.busy = await client
    .nodeUnpublishVolume({ volumeId: volume.handle, targetPath: first })
    .catch((error) => error.code)
  process.chdir(busy)
  for (const targetPath of [first, second]) {
    await client.nodeUnpublishVolume({ volumeId: volume.handle, targetPath })
  }
  seen.unpublished = [mountsAt(staging), existsSync(first), existsSync(second)]
  await client.nodeUnstageVolume({ volumeId: volume.handle, stagingTargetPath: staging })
  seen.unstaged = mountsAt(staging)
  seen.again = readFileSync(join(await mountVolume(driver, volume), 'data'), 'utf8')
  seen.violations = driver.violations()
} finally {
  await driver.dispose()
  unmountBelow(directory)
}
process.stdout.write(JSON.stringify(seen))
