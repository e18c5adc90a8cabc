/**
 * S-rules on a whole node with real parts: an API server over HTTPS, a CSI driver, a container runtime's socket, real
 * mounts and ext4 on loop devices, and the built volctl. Without anything wrong all of its plan is carried out, so that what is left
 * undone is left for a rule's sake. Rules that are about different volumes share a node.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { expect, onTestFailed } from 'vitest'
import { attachmentName } from '../../../src/core/volumes/volume-names.ts'
import { fingerprint } from '../../e2e/scenarios/fingerprint.ts'
import { moveInto, noCgroups } from '../../helpers/cgroup.ts'
import { it } from '../../helpers/machine.ts'
import { noMounts } from '../../helpers/namespace.ts'
import { sh } from '../../helpers/scenario.ts'
import { handleOf, NODE, node, pod, volumeObjects } from '../../helpers/scene/api-objects.ts'
import { FORGOTTEN, IDLE } from '../../helpers/scene/pods.ts'
import { type Scene, setAlive } from '../../helpers/scene/scene.ts'
import { runVolctl } from '../../helpers/scene/volctl.ts'
import { describeUnless } from '../describe-unless.ts'
import { holdByShell } from '../holder.ts'
import { applyTo, blockedOf, onBroken, planOf, stagingOf } from './broken-scene.ts'

/** Where the pod that is gone has a volume. */
const volumeOf = ({ rootDir, pods }: Scene, plugin: string, name: string): string =>
  `${rootDir}/pods/${pods.db.uid}/volumes/kubernetes.io~${plugin}/${name}`

const UNKNOWN = '99999999-2222-4333-8444-00000000abcd'
const LONG_AGO = 1_750_000_000

/** What was blocked, what did not end well, and whether all content is what it was: what was not done is told where a test fails. */
async function repair(scene: Scene, before: object): Promise<object> {
  const plan = await planOf(scene)
  const { status, ends, stderr } = await applyTo(scene)
  const after = fingerprint(scene)
  const found = {
    status,
    blocked: blockedOf(plan),
    problems: [...new Set(plan.problems.map(({ code }) => code))].toSorted(),
    undone: ends.filter((each) => !each.endsWith(': done') && !each.includes(': blocked')),
    done: ends.filter((each) => each.endsWith(': done')).length,
    detached: after.detached.length,
  }
  onTestFailed(() => console.error(JSON.stringify({ ...found, stderr })))
  expect(after.contents).toEqual(before)
  return found
}

function tell({ hostFile }: Scene, fields: object): void {
  writeFileSync(hostFile, JSON.stringify({ ...JSON.parse(readFileSync(hostFile, 'utf8')), ...fields }))
}

/** A directory and everything below it, mounts left out. */
function touch(path: string, seconds: number): void {
  for (const entry of readdirSync(path, { withFileTypes: true }))
    if (entry.isDirectory()) touch(`${path}/${entry.name}`, seconds)
  utimesSync(path, seconds, seconds)
}

const readyOf = async (scene: Scene): Promise<string[]> =>
  (await planOf(scene)).operations.flatMap(({ kind, blocked }) => (blocked === undefined ? [kind] : []))
const problemsOf = async (scene: Scene): Promise<readonly string[]> =>
  (await planOf(scene)).problems.map(({ code }) => code)

/** A test on a node of its own. */
const broken =
  (work: (scene: Scene) => Promise<void>) =>
  async ({ directory }: { directory: string }) =>
    onBroken(directory, work)

describeUnless(noMounts, 'S-rules on a broken node', () => {
  it(
    'S10, S12, S18, S22, S23, S24: what is of others, or in the way, stays, and is named; the rest is done',
    broken(async (scene) => {
      const { rootDir, pods, sources, api } = scene
      // S10: a static pod whose manifest gives it a UID of its own.
      const manifests = `${scene.directory}/manifests`
      mkdirSync(manifests)
      writeFileSync(`${manifests}/p.yaml`, 'kind: Pod\nmetadata: {name: p, namespace: kube-system, uid: my-own}\n')
      const secret = `${rootDir}/pods/my-own/volumes/kubernetes.io~secret/s`
      mkdirSync(secret, { recursive: true })
      sh('mount', '-t', 'tmpfs', 'tmpfs', secret)
      tell(scene, { staticPodPath: manifests })
      // S12: below an emptyDir something of the same device is mounted.
      const inside = `${volumeOf(scene, 'empty-dir', 'scratch')}/0`
      mkdirSync(inside)
      sh('mount', '--bind', sources.hostPath, inside)
      // S18: somebody mounted something else over a volume.
      const common = `${volumeOf(scene, 'csi', 'pv-common')}/mount`
      sh('mount', '-t', 'tmpfs', 'foreign', common)
      // S22: a pod wants memory where a file lies.
      const uid = '99999999-2222-4333-8444-000000000001'
      api.put(pod({ name: 'new', uid, volumes: [], others: ['memory'] }, ''))
      const memory = `${rootDir}/pods/${uid}/volumes/kubernetes.io~empty-dir/memory`
      mkdirSync(memory, { recursive: true })
      for (const path of [secret, common, memory]) writeFileSync(`${path}/file`, 'x')
      // S23: content changed, and nobody asked for it to be written.
      api.put({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'password', namespace: 'shop', uid: 'p' },
        type: 'Opaque',
        data: { password: Buffer.from('changed').toString('base64') },
      })
      // S24: a second user has the staged volume mounted elsewhere.
      const backup = `${scene.directory}/backup`
      mkdirSync(backup)
      sh('mount', '--bind', stagingOf(scene, handleOf(FORGOTTEN)), backup)

      expect(await repair(scene, scene.contentHashes())).toEqual({
        status: 3,
        blocked: [
          'DetachVolume vol-old: Predecessor',
          'MountVolume memory: DataUnderMountPoint',
          'RemountVolume password: NotAsked',
          'UnmountDevice vol-old: HeldBy',
          'UnmountVolume pv-common: ForeignMount',
          'UnmountVolume scratch: ForeignMount',
        ],
        // OrphanDirKept: that of the pod whose emptyDir is not emptied.
        problems: ['MayBeStatic', 'OrphanDirKept', 'StaticPodsUnmatched'],
        undone: [],
        done: 9,
        detached: 2,
      })
      for (const path of [secret, common, memory]) expect(readFileSync(`${path}/file`, 'utf8')).toBe('x')
      expect(scene.mountPoints()).not.toContain(memory)
      expect(readdirSync(`${inside}/shop`)).toEqual(['access.log'])
      const password = `${rootDir}/pods/${pods.web.uid}/volumes/kubernetes.io~secret/password/password`
      expect(readFileSync(password, 'utf8')).toBe('open sesame')
      expect(sh('findmnt', '-n', '-o', 'FSTYPE', backup)).not.toBe('')
    }),
  )

  it(
    'S16, S21: where the driver fails the kernel is not asked instead; what two PersistentVolumes share is not detached',
    broken(async (scene) => {
      scene.driver.setFaults('fail NodeUnpublishVolume=INTERNAL')
      const [, second] = volumeObjects({ name: 'old2', kind: 'filesystem' }, '') as { spec: object }[]
      const csi = { driver: scene.driver.name, volumeHandle: handleOf(FORGOTTEN), fsType: 'ext4' }
      scene.api.put({ ...second, spec: { ...second?.spec, csi } })
      expect(await repair(scene, scene.contentHashes())).toMatchObject({
        blocked: ['DetachVolume vol-old: AttachmentUnclear'],
        undone: ['RemoveOrphanPodDir -: skipped DriverFailed', 'UnmountVolume pv-common: failed DriverFailed'],
        detached: 2,
      })
      expect(scene.mountPoints()).toContain(`${volumeOf(scene, 'csi', 'pv-common')}/mount`)
    }),
  )

  it(
    'S4, S30: what a pod that cannot be helped, or another node, may have is held back, and nothing else',
    broken(async (scene) => {
      // A claim that is not bound, a removed type, and as a file system what is a raw block volume, attached here.
      const uid = '99999999-2222-4333-8444-000000000004'
      const made = pod({ name: 'bad', uid, volumes: [IDLE], others: [] }, '') as { spec: { volumes: object[] } }
      const waits = { name: 'waits', persistentVolumeClaim: { claimName: 'waits' } }
      made.spec.volumes.push(waits, { name: 'gluster', glusterfs: { endpoints: 'e', path: 'p' } })
      const volumeMounts = ['idle', 'waits', 'gluster'].map((name) => ({ name, mountPath: `/${name}` }))
      Object.assign(made.spec, { containers: [{ name: 'main', volumeMounts }] })
      const [claim, volume] = volumeObjects(IDLE, '') as { metadata: object; spec: object }[]
      const pending = {
        ...claim,
        metadata: { ...claim?.metadata, name: 'waits', uid: 'waits' },
        spec: { accessModes: ['ReadWriteOnce'] },
        status: { phase: 'Pending' },
      }
      scene.api.put({ ...volume, spec: { ...volume?.spec, volumeMode: 'Block' } }, pending, made)
      // What was staged here is attached to another node, too.
      const elsewhere = `${NODE}-2`
      const found = volumeObjects(FORGOTTEN, '').at(-1) as { metadata: object; spec: object }
      const name = attachmentName(handleOf(FORGOTTEN), scene.driver.name, elsewhere)
      const metadata = { ...found.metadata, name, uid: 'va' }
      scene.api.put({ ...found, metadata, spec: { ...found.spec, nodeName: elsewhere } })
      expect(await repair(scene, scene.contentHashes())).toMatchObject({
        blocked: ['DetachVolume vol-old: TwoWriters', 'UnmountDevice vol-old: TwoWriters'],
        problems: expect.arrayContaining(['MayBeInUse']),
        undone: [],
        done: 11,
        detached: 1,
      })
    }),
  )

  it(
    'S4, S5, S9, S11, S14, S28: one thing that is not known after the other: what it may concern is not done until it is',
    broken(async (scene) => {
      const { api, cri, driver, hostFile, pods, rootDir } = scene
      const before = scene.contentHashes()
      const told = readFileSync(hostFile, 'utf8')
      const holdsDevices = async (code: string): Promise<void> => {
        const blocked = blockedOf(await planOf(scene))
        expect(blocked).toHaveLength(5)
        for (const each of blocked) expect(each).toMatch(new RegExp(`^(UnmountDevice|DetachVolume) .*: ${code}$`))
      }
      // S4: one PersistentVolume of a pod that lives cannot be read: it may be any of what is staged.
      api.setFaults({ path: '/persistentvolumes', action: { type: 'status', status: 500 } })
      await holdsDevices('MayBeInUse')
      api.setFaults()
      // S9: a process of a pod that nothing on this node knows.
      tell(scene, { processes: [pods.web.uid, UNKNOWN] })
      await holdsDevices('UnknownPodProcess')
      // S28, S11: a kubelet runs. Times in the future or of zero count as just now; what has been left for long goes, and no device.
      tell(scene, { processes: [pods.web.uid], kubelet: { running: true, mayReturn: true } })
      const gone = [pods.db, pods.batch].map(({ uid }) => `${rootDir}/pods/${uid}`)
      for (const seconds of [Date.now() / 1000 + 86_400, 0]) {
        for (const path of gone) touch(path, seconds)
        expect(await readyOf(scene)).toEqual([])
      }
      for (const path of gone) touch(path, LONG_AGO)
      expect(await readyOf(scene)).toEqual(['UnmountVolume', 'UnmountVolume', 'UnmountVolume', 'RemoveOrphanPodDir'])
      writeFileSync(hostFile, told)
      // S5: the claim of a pod that lives is deleted.
      api.remove('PersistentVolumeClaim', 'common', 'shop')
      expect(await problemsOf(scene)).toContain('MayBeInUse')
      expect((await planOf(scene)).operations.filter((each) => each.pod?.uid === pods.web.uid)).toEqual([])
      api.put(...volumeObjects(pods.web.volumes[0] ?? IDLE, '').slice(0, 1))
      // S9: the runtime knows none of the pods that live: it is another one. What is merely staged or attached is of no pod.
      cri.set({ pods: [] })
      expect(await repair(scene, before)).toMatchObject({
        status: 0,
        problems: ['AlivenessUnknown', 'RuntimeUnknown'],
        blocked: [],
        undone: [],
        done: 3,
      })
      setAlive(scene, [pods.web])
      // S14: the driver is away, and its volume's state file stays.
      await driver.stop()
      expect(await repair(scene, before)).toMatchObject({
        status: 3,
        blocked: expect.arrayContaining(['UnmountVolume pv-common: DriverUnavailable']),
        detached: 2,
      })
      expect(existsSync(`${volumeOf(scene, 'csi', 'pv-common')}/vol_data.json`)).toBe(true)
      await driver.restart()
      expect(await repair(scene, before)).toMatchObject({ status: 0, blocked: [], undone: [], detached: 3 })
      expect((await planOf(scene)).operations).toEqual([])
    }),
  )

  it('S9: the pods of a kubelet in a container use no volume of this node', async ({ directory, skip }) => {
    skip(noCgroups !== undefined, noCgroups)
    const { pid, end } = await holdByShell(':')
    const container = 'd'.repeat(64)
    const group = moveInto(`/docker/${container}/kubelet/kubepods/pod${UNKNOWN}/${container}`, pid)
    await onBroken(directory, async (scene) => {
      expect(readFileSync(`/proc/${pid}/cgroup`, 'utf8')).toContain(`kubepods/pod${UNKNOWN}`)
      const plan = await planOf(scene)
      expect({ blocked: blockedOf(plan), problems: plan.problems }).toEqual({ blocked: [], problems: [] })
    })
    await end()
    group[Symbol.dispose]()
  })

  it(
    'S13: data goes only with --orphans, whatever its name, and what is no data of an emptyDir never',
    broken(async (scene) => {
      const { rootDir, pods } = scene
      // A name that is not UTF-8 is of data as well. Elsewhere it is nobody's of the kubelet, and nothing leads to it.
      const named = (parent: string): Buffer => Buffer.concat([Buffer.from(`${parent}/`), Buffer.from([0xe9, 0x74])])
      const scratch = volumeOf(scene, 'empty-dir', 'scratch')
      mkdirSync(`${scratch}/sub`)
      const data = [`${scratch}/notes.txt`, named(`${scratch}/sub`)]
      const strays = [`${rootDir}/pods/${pods.db.uid}/note`, named(`${rootDir}/pods/${pods.batch.uid}/containers/main`)]
      for (const path of [...data.slice(1), ...strays]) writeFileSync(path, 'x')
      const there = (paths: readonly (string | Buffer)[]): boolean[] => paths.map((each) => existsSync(each))
      const { stdout } = await runVolctl(scene, ['apply', '--yes', '-o', 'ndjson'])
      expect(stdout).toContain('"DeletesData"')
      expect(there([...data, ...strays])).toEqual([true, true, true, true])
      const plan = await planOf(scene)
      const deletes = plan.operations.flatMap(({ volume, deletes }) => (volume?.name === 'scratch' ? [deletes] : []))
      expect(deletes).toMatchObject([{ files: 2 }])
      expect(plan.problems.filter(({ code }) => code === 'OrphanDirKept')).toHaveLength(2)
      const { ends } = await applyTo(scene)
      expect(ends.filter((each) => !each.endsWith(': done'))).toEqual([])
      expect([there(data), there(strays)]).toEqual([
        [false, false],
        [true, true],
      ])
    }),
  )

  it(
    'S17: a PersistentVolume that was made anew does not tell the handle of what is staged under its name',
    broken(async (scene) => {
      const { api, driver, pods } = scene
      const staging = stagingOf(scene, handleOf(FORGOTTEN))
      rmSync(`${staging.slice(0, -'globalmount'.length)}vol_data.json`)
      const [, volume, attachment] = volumeObjects(FORGOTTEN, '') as { metadata: { name: string }; spec: object }[]
      const csi = { driver: driver.name, volumeHandle: 'vol-new', fsType: 'ext4' }
      api.put({ ...volume, spec: { ...volume?.spec, csi } })
      api.remove('VolumeAttachment', attachment?.metadata.name ?? '')
      api.put(node([...pods.web.volumes, ...pods.batch.volumes, IDLE]))
      expect(await repair(scene, scene.contentHashes())).toMatchObject({
        status: 3,
        blocked: [expect.stringMatching(/^UnmountDevice [0-9a-f]{64}: IdentityUnconfirmed$/)],
        detached: 2,
      })
      expect(scene.mountPoints()).toContain(staging)
    }),
  )

  it(
    'S18: of what the root directory hides, bound over itself, nothing is touched; it is done once that is gone',
    broken(async (scene) => {
      const before = scene.mountPoints()
      sh('mount', '--bind', scene.rootDir, scene.rootDir)
      const blocked = blockedOf(await planOf(scene))
      const { ends } = await applyTo(scene)
      sh('umount', scene.rootDir)
      expect(blocked).toHaveLength(11)
      // What the pod that lives had is not mounted where it would look.
      expect(blocked.filter((each) => each.startsWith('MountVolume'))).toEqual([
        'MountVolume password: ForeignMount',
        'MountVolume pv-common: ForeignMount',
      ])
      // What is mounted nowhere.
      expect(ends.filter((each) => each.endsWith(': done'))).toEqual([
        'DetachVolume pv-idle: done',
        'UnmountVolume scratch: done',
        'UnmountVolume settings: done',
      ])
      expect(scene.mountPoints()).toEqual(before)
      const later = await applyTo(scene)
      expect({ status: later.status, ends: later.ends.length }).toEqual({ status: 0, ends: 11 })
    }),
  )
})
