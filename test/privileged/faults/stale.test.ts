/** Mounts that answer with ESTALE or EIO, in whole or in part, below volumes of every kind of user; the built volctl. */
import { mkdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { expect } from 'vitest'
import type { NodeSnapshot } from '../../../src/core/volumes/snapshot.ts'
import { endsOf, eventsOf, unclearOf } from '../../e2e/scenarios/outcomes.ts'
import { it } from '../../helpers/machine.ts'
import { boundVolume, podObject } from '../../helpers/objects.ts'
import { sh } from '../../helpers/scenario.ts'
import { HERE_ONLY, NAMESPACE, NODE } from '../../helpers/scene/api-objects.ts'
import type { Scene } from '../../helpers/scene/scene.ts'
import { runVolctl } from '../../helpers/scene/volctl.ts'
import { describeUnless } from '../describe-unless.ts'
import { startFuse } from '../fuse/start.ts'
import { onBroken, planOf } from '../safety/broken-scene.ts'
import { readMounts } from '../workers/real-node.ts'
import { noFuse } from './no-fuse.ts'

const APP = '11111111-2222-4333-8444-000000000009'

/** Where a server is mounted that no longer answers well, and how it answers. */
function placesOf({ rootDir, pods }: Scene, directory: string) {
  const volume = (uid: string, name: string): string => `${rootDir}/pods/${uid}/volumes/kubernetes.io~nfs/${name}`
  return {
    gone: [volume(pods.db.uid, 'gone'), 'estale'],
    half: [volume(pods.db.uid, 'half'), 'half'],
    living: [volume(pods.web.uid, 'living'), 'eio'],
    leaf: [`${rootDir}/pods/${pods.batch.uid}/volume-subpaths/data/main/0`, 'estale'],
    host: [`${directory}/host`, 'estale'],
    local: [`${directory}/local`, 'eio'],
  } as const
}

/** A pod that comes: a hostPath that is made where it is missing, and a local volume. */
function comingPod(host: string, local: string): object[] {
  const spec = { local: { path: `${local}/data` }, nodeAffinity: HERE_ONLY }
  const { claim, volume } = boundVolume('pv-disk', spec, { name: 'disk', namespace: NAMESPACE })
  const volumes = [
    { name: 'path', hostPath: { path: `${host}/data`, type: 'DirectoryOrCreate' } },
    { name: 'disk', persistentVolumeClaim: { claimName: 'disk' } },
  ]
  const given = { spec: { nodeName: NODE }, status: { phase: 'Pending' } }
  return [podObject({ name: 'app-0', namespace: NAMESPACE, uid: APP }, volumes, given), claim, volume]
}

const APPLY = ['apply', '--orphans', '--yes', '-o', 'ndjson']
const notDone = (ends: readonly string[]): string[] => ends.filter((end) => !end.endsWith(': done'))

describeUnless(noFuse, 'servers that answer with ESTALE or EIO', () => {
  it('S3: hangs no command, and nothing on it is taken for absent; what gone pods have of it goes', async ({
    directory,
  }) => {
    await onBroken(directory, async (scene) => {
      const places = placesOf(scene, directory)
      for (const [path, mode] of Object.values(places)) await startFuse(path, mode)
      const [host, local] = [places.host[0], places.local[0]]
      scene.api.put(...comingPod(host, local))
      const file = `${directory}/node.json`
      expect(await runVolctl(scene, ['snapshot', '-o', file])).toMatchObject({ status: 0 })
      const { deadMounts = [] } = JSON.parse(readFileSync(file, 'utf8')) as NodeSnapshot
      expect(deadMounts.map(({ path, error }) => `${posix.basename(path)} ${error}`).toSorted()).toEqual([
        '0 ESTALE',
        'gone ESTALE',
        'living EIO',
      ])
      const plan = await planOf(scene)
      const living = { code: 'DeadMount', about: { path: places.living[0] } }
      expect(plan.problems).toMatchObject([living])
      const apply = await runVolctl(scene, APPLY)
      expect(apply.status).toBe(3)
      expect(unclearOf(apply)).toEqual([])
      expect(notDone(endsOf(apply))).toEqual([
        'MountVolume path: blocked HostPathType',
        'MountVolume pv-disk: failed InvalidPath',
      ])
      const why = eventsOf(apply).flatMap(({ type, message }) =>
        ['blocked', 'failed'].includes(type) ? [message] : [],
      )
      expect(why.toSorted()).toEqual([
        `${local}/data is on ${local}, a mount that is dead or does not answer`,
        `hostPath ${host}/data: the path could not be examined (ESTALE)`,
      ])
      const mounted = Object.entries(places).filter(([, [path]]) => readMounts().at(path).length > 0)
      expect(mounted.map(([name]) => name)).toEqual(['living', 'host', 'local'])
      // When they answer again; a hostPath that is as its type says needs nothing.
      for (const path of [places.living[0], host, local]) sh('umount', path)
      for (const path of [host, local]) mkdirSync(`${path}/data`)
      expect(endsOf(await runVolctl(scene, APPLY))).toEqual(['MountVolume pv-disk: done'])
      expect((await planOf(scene)).operations).toEqual([])
    })
  })
})
