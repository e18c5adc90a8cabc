/** Mounts that answer with ESTALE or EIO, in whole or in part, below volumes of every kind of user; the built volctl. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { posix } from 'node:path'
import { expect } from 'vitest'
import type { NodeSnapshot } from '../../../src/core/facts/actual/snapshot.ts'
import { endsOf, eventsOf, unclearOf } from '../../e2e/scenarios/outcomes.ts'
import { it } from '../../helpers/machine.ts'
import { boundVolume, podObject } from '../../helpers/objects.ts'
import { sh } from '../../helpers/scenario.ts'
import { HERE_ONLY, NAMESPACE, NODE } from '../../helpers/scene/api-objects.ts'
import { hashOfTree } from '../../helpers/scene/content-hashes.ts'
import type { Scene } from '../../helpers/scene/scene.ts'
import { runVolctl } from '../../helpers/scene/volctl.ts'
import { describeUnless } from '../describe-unless.ts'
import type { MirrorFault } from '../fuse/faults.ts'
import { type Mirror, startMirror } from '../fuse/start.ts'
import { onBroken, planOf } from '../safety/broken-scene.ts'
import { readMounts } from '../workers/real-node.ts'
import { noFuse } from './no-fuse.ts'

/** What of the server fails: everything of a directory, or everything but what statfs(2) asks for. */
const FAULTS: readonly MirrorFault[] = [
  { errno: 'ESTALE', path: '^(gone|leaf|host)' },
  { errno: 'EIO', path: '^(living|local)' },
  { errno: 'ESTALE', path: '^half', ops: ['LOOKUP', 'GETATTR', 'OPEN', 'OPENDIR', 'READDIR', 'READ', 'SETATTR'] },
]

const APP = '11111111-2222-4333-8444-000000000009'

/** Directories of one server, and where they are mounted. */
function placesOf({ rootDir, pods }: Scene, directory: string): Readonly<Record<string, string>> {
  const volume = (uid: string, name: string): string => `${rootDir}/pods/${uid}/volumes/kubernetes.io~nfs/${name}`
  return {
    gone: volume(pods.db.uid, 'gone'),
    half: volume(pods.db.uid, 'half'),
    living: volume(pods.web.uid, 'living'),
    leaf: `${rootDir}/pods/${pods.batch.uid}/volume-subpaths/data/main/0`,
    host: `${directory}/host`,
    local: `${directory}/local`,
  }
}

/** A pod that comes: a hostPath that is made where it is missing, and a local volume. */
function comingPod({ host, local }: Readonly<Record<string, string>>): object[] {
  const spec = { local: { path: `${local}/data` }, nodeAffinity: HERE_ONLY }
  const { claim, volume } = boundVolume('pv-disk', spec, { name: 'disk', namespace: NAMESPACE })
  const volumes = [
    { name: 'path', hostPath: { path: `${host}/data`, type: 'DirectoryOrCreate' } },
    { name: 'disk', persistentVolumeClaim: { claimName: 'disk' } },
  ]
  const given = { spec: { nodeName: NODE }, status: { phase: 'Pending' } }
  return [podObject({ name: 'app-0', namespace: NAMESPACE, uid: APP }, volumes, given), claim, volume]
}

async function mountAll(mirror: Mirror, from: string, places: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, place] of Object.entries(places)) {
    for (const path of [`${mirror.behind}/${name}/data`, place]) mkdirSync(path, { recursive: true })
    writeFileSync(`${mirror.behind}/${name}/data/file`, 'precious')
    sh('mount', '--bind', `${from}/${name}`, place)
  }
}

const APPLY = ['apply', '--orphans', '--yes', '-o', 'ndjson']
const notDone = (ends: readonly string[]): string[] => ends.filter((end) => !end.endsWith(': done'))

/** Far above what the commands take, and far below what would show that something is waited for without a deadline. */
const SECONDS = 60

describeUnless(noFuse, 'a server that answers with ESTALE or EIO', () => {
  it('S3: hangs no command, and nothing on it is taken for absent; what gone pods have of it goes', async ({
    directory,
  }) => {
    await onBroken(directory, async (scene) => {
      const from = `${directory}/export`
      const mirror = await startMirror(from, `${directory}/behind`)
      const places = placesOf(scene, directory)
      await mountAll(mirror, from, places)
      await scene.api.put(...comingPod(places))
      const content = hashOfTree(mirror.behind)
      mirror.fail(...FAULTS)
      const began = performance.now()
      const file = `${directory}/node.json`
      expect(await runVolctl(scene, ['snapshot', '-o', file])).toMatchObject({ status: 0 })
      const { deadMounts = [] } = JSON.parse(readFileSync(file, 'utf8')) as NodeSnapshot
      expect(deadMounts.map(({ path, error }) => `${posix.basename(path)} ${error}`).toSorted()).toEqual([
        '0 ESTALE',
        'gone ESTALE',
        'living EIO',
      ])
      const plan = await planOf(scene)
      const living = { code: 'DeadMount', about: { path: places.living } }
      expect(plan.problems).toMatchObject([living])
      const apply = await runVolctl(scene, APPLY)
      expect((performance.now() - began) / 1000).toBeLessThan(SECONDS)
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
        expect.stringMatching(/^hostPath \S+\/host\/data: the path could not be examined .*Stale file handle\)$/),
        expect.stringMatching(/^stat of \S+\/local\/data failed: .*Input\/output error$/),
      ])
      mirror.fail()
      expect(mirror.failed()).not.toEqual([])
      const mounted = Object.entries(places).flatMap(([name, path]) => (readMounts().at(path).length > 0 ? [name] : []))
      expect(mounted).toEqual(['living', 'host', 'local'])
      // When it answers again; a hostPath that is as its type says needs nothing.
      expect(endsOf(await runVolctl(scene, APPLY))).toEqual(['MountVolume pv-disk: done'])
      expect((await planOf(scene)).operations).toEqual([])
      expect(hashOfTree(mirror.behind)).toBe(content)
    })
  })
})
