/** One thing is wrong with a broken node; the rule that it is a matter of must keep volctl from touching it. */
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { attachmentName } from '../../../src/core/names/volume-names.ts'
import { fingerprint } from '../../e2e/scenarios/fingerprint.ts'
import { moveInto } from '../../helpers/cgroup.ts'
import { runScenario, sh } from '../../helpers/scenario.ts'
import { handleOf, NODE, node, pod, volumeObjects } from '../../helpers/scene/api-objects.ts'
import { FORGOTTEN, IDLE } from '../../helpers/scene/pods.ts'
import type { Scene } from '../../helpers/scene/scene.ts'
import { runVolctl } from '../../helpers/scene/volctl.ts'
import { applyTo, blockedOf, onBroken, planOf } from './broken-scene.ts'

/** Where the pod that is gone has a volume. */
const volumeOf = ({ rootDir, pods }: Scene, plugin: string, name: string): string =>
  `${rootDir}/pods/${pods.db.uid}/volumes/kubernetes.io~${plugin}/${name}`

/** The staging directory of the volume that nobody remembers. */
function stagingOf({ rootDir, driver }: Scene, handle: string): string {
  const parent = `${rootDir}/plugins/kubernetes.io/csi/${driver.name}`
  const found = readdirSync(parent).find((name) =>
    readFileSync(`${parent}/${name}/vol_data.json`, 'utf8').includes(handle),
  )
  if (found === undefined) throw new Error(`${handle} is not staged`)
  return `${parent}/${found}/globalmount`
}

interface Spoilt {
  /** Looked at after the apply. */
  readonly see?: () => unknown
  /** Puts an end to what must not outlive the scenario. */
  readonly end?: () => unknown
}

/** What was blocked, what did not end well, and whether all content is what it was. */
function spoilt(spoil: (scene: Scene) => Spoilt | Promise<Spoilt>): (directory: string) => Promise<unknown> {
  return (directory) =>
    onBroken(directory, async (scene) => {
      const before = scene.contentHashes()
      const { see, end } = await spoil(scene)
      try {
        const plan = await planOf(scene)
        const { status, ends, stderr } = await applyTo(scene)
        const after = await fingerprint(scene)
        return {
          status,
          blocked: blockedOf(plan),
          problems: [...new Set(plan.problems.map(({ code }) => code))].toSorted(),
          undone: ends.filter((each) => !each.endsWith(': done') && !each.includes(': blocked')),
          done: ends.filter((each) => each.endsWith(': done')).length,
          stderr,
          detached: after.detached.length,
          unchanged: JSON.stringify(after.contents) === JSON.stringify(before),
          ...(see === undefined ? {} : { saw: see() }),
        }
      } finally {
        await end?.()
      }
    })
}

function tell({ hostFile }: Scene, fields: object): void {
  writeFileSync(hostFile, JSON.stringify({ ...JSON.parse(readFileSync(hostFile, 'utf8')), ...fields }))
}

const UNKNOWN = '99999999-2222-4333-8444-00000000abcd'

await runScenario({
  control: spoilt(() => ({})),

  /** One PersistentVolume of a pod that lives cannot be read: it may be any of what is staged. */
  S4: spoilt(async (scene) => {
    await scene.api.setFaults({ path: '/persistentvolumes', action: { type: 'status', status: 500 } })
    return { see: () => scene.driver.succeeded().filter((rpc) => rpc === 'NodeUnstageVolume').length }
  }),

  /**
   * A pod that can't be helped: a claim that is not bound, a removed type, and as a file system what is a raw block volume,
   * attached here. Only that one stays.
   */
  S4bad: spoilt(async (scene) => {
    const uid = '99999999-2222-4333-8444-000000000004'
    const made = pod({ name: 'bad', uid, volumes: [IDLE], others: [] }, '') as { spec: { volumes: object[] } }
    const waits = { name: 'waits', persistentVolumeClaim: { claimName: 'waits' } }
    made.spec.volumes.push(waits, { name: 'gluster', glusterfs: { endpoints: 'e', path: 'p' } })
    Object.assign(made.spec, {
      containers: [
        { name: 'main', volumeMounts: ['idle', 'waits', 'gluster'].map((name) => ({ name, mountPath: `/${name}` })) },
      ],
    })
    const [claim, volume] = volumeObjects(IDLE, '') as { metadata: object; spec: object }[]
    await scene.api.put({ ...volume, spec: { ...volume?.spec, volumeMode: 'Block' } })
    await scene.api.put({
      ...claim,
      metadata: { ...claim?.metadata, name: 'waits', uid: 'waits' },
      spec: { accessModes: ['ReadWriteOnce'] },
      status: { phase: 'Pending' },
    })
    await scene.api.put(made)
    return {}
  }),

  /** The claim of a pod that lives is deleted. */
  S5: spoilt(async (scene) => {
    await scene.api.remove('PersistentVolumeClaim', 'common', 'shop')
    const of = `/pods/${scene.pods.web.uid}/`
    const before = scene.mountPoints().filter((path) => path.includes(of)).length
    return { see: () => [before, scene.mountPoints().filter((path) => path.includes(of)).length] }
  }),

  /** The runtime answers, and knows none of the pods that live: it is another one. */
  S9: spoilt((scene) => {
    scene.cri.set({ pods: [] })
    return {}
  }),

  /** A process of a pod that nothing on this node knows, by the test host alone: other tests on this machine read the same /proc. */
  S9unknown: spoilt((scene) => {
    const { processes = [] } = JSON.parse(readFileSync(scene.hostFile, 'utf8')) as { processes?: string[] }
    tell(scene, { processes: [...processes, UNKNOWN] })
    return {}
  }),

  /** A process of a pod of a kubelet in a container of this machine, as kind has it. */
  S9nested: spoilt(async () => {
    const child = spawn('sleep', ['1000'], { stdio: 'ignore' })
    await new Promise((resolve) => child.once('spawn', resolve))
    const container = 'd'.repeat(64)
    const group = moveInto(`/docker/${container}/kubelet/kubepods/pod${UNKNOWN}/${container}`, child.pid ?? 0)
    return {
      see: () => readFileSync(`/proc/${child.pid}/cgroup`, 'utf8').includes(`kubepods/pod${UNKNOWN}`),
      end: async () => {
        const ended = new Promise((resolve) => child.once('exit', resolve))
        child.kill('SIGKILL')
        await ended
        group[Symbol.dispose]()
      },
    }
  }),

  /** A static pod whose manifest gives it a UID of its own. */
  S10: spoilt((scene) => {
    const directory = `${scene.directory}/manifests`
    mkdirSync(directory)
    writeFileSync(`${directory}/p.yaml`, 'kind: Pod\nmetadata: {name: p, namespace: kube-system, uid: my-own}\n')
    const secret = `${scene.rootDir}/pods/my-own/volumes/kubernetes.io~secret/s`
    mkdirSync(secret, { recursive: true })
    sh('mount', '-t', 'tmpfs', 'tmpfs', secret)
    writeFileSync(`${secret}/file`, 'x')
    tell(scene, { staticPodPath: directory })
    return { see: () => readFileSync(`${secret}/file`, 'utf8') }
  }),

  /** Below an emptyDir something of the same device is mounted. */
  S12: spoilt((scene) => {
    const inside = `${volumeOf(scene, 'empty-dir', 'scratch')}/0`
    mkdirSync(inside)
    sh('mount', '--bind', scene.sources.hostPath, inside)
    return { see: () => readdirSync(`${inside}/shop`) }
  }),

  /** Files that a kubelet did not make, beside an emptyDir and in it. Nobody asked for data to be deleted. */
  S13: (directory) =>
    onBroken(directory, async (scene) => {
      const note = `${scene.rootDir}/pods/${scene.pods.db.uid}/note`
      const data = `${volumeOf(scene, 'empty-dir', 'scratch')}/notes.txt`
      writeFileSync(note, 'x')
      const { status, stdout } = await runVolctl(scene, ['apply', '--yes', '-o', 'ndjson'])
      const without = { status, code: /"DeletesData"/.test(stdout), note: existsSync(note), data: existsSync(data) }
      await applyTo(scene)
      return { without, with: { note: existsSync(note), data: existsSync(data) } }
    }),

  /** Files of another encoding are data as well. Elsewhere such a name is nobody's of the kubelet, and nothing leads to it. */
  S13names: (directory) =>
    onBroken(directory, async (scene) => {
      const { rootDir, pods } = scene
      const bytes = Buffer.from([0xe9, 0x74, 0xe9])
      const named = (parent: string): Buffer => Buffer.concat([Buffer.from(`${parent}/`), bytes])
      const scratch = volumeOf(scene, 'empty-dir', 'scratch')
      rmSync(`${scratch}/notes.txt`)
      mkdirSync(`${scratch}/sub`)
      const data = named(`${scratch}/sub`)
      writeFileSync(data, 'data')
      const strays = [
        named(`${rootDir}/pods/${pods.db.uid}`),
        named(`${rootDir}/pods/${pods.batch.uid}/containers/main`),
      ]
      for (const stray of strays) writeFileSync(stray, 'x')
      const { stdout } = await runVolctl(scene, ['apply', '--yes', '-o', 'ndjson'])
      const without = { code: /"DeletesData"/.test(stdout), data: existsSync(data) }
      const plan = await planOf(scene)
      const counted = plan.operations.flatMap(({ volume, deletes }) => (volume?.name === 'scratch' ? [deletes] : []))
      const kept = plan.problems.filter(({ code }) => code === 'OrphanDirKept').length
      const { ends } = await applyTo(scene)
      const undone = ends.filter((each) => !each.endsWith(': done'))
      return {
        without,
        counted,
        kept,
        undone,
        with: { data: existsSync(data), strays: strays.map((each) => existsSync(each)) },
      }
    }),

  /** The root directory is bound over itself: nothing leads to what was mounted in it. */
  S18covered: (directory) =>
    onBroken(directory, async (scene) => {
      const before = scene.mountPoints()
      sh('mount', '--bind', scene.rootDir, scene.rootDir)
      const plan = await planOf(scene)
      const covered = await applyTo(scene)
      const done = covered.ends.filter((each) => each.endsWith(': done'))
      sh('umount', scene.rootDir)
      const kept = JSON.stringify(scene.mountPoints()) === JSON.stringify(before)
      const later = await applyTo(scene)
      const ofLiving = blockedOf(plan).filter((each) => each.startsWith('MountVolume'))
      return { blocked: blockedOf(plan).length, ofLiving, done, kept, later: later.ends.length, status: later.status }
    }),

  /** The same before anything is mounted in it, all shared: every mount is in the table twice. */
  S18shared: (directory) => {
    sh('mount', '--make-rshared', '/')
    sh('mount', '--bind', directory, directory)
    return onBroken(directory, async (scene) => {
      const twice = scene.mountPoints().length / new Set(scene.mountPoints()).size
      const { status, ends } = await applyTo(scene)
      return { twice, status, done: ends.filter((each) => each.endsWith(': done')).length, ends: ends.length }
    })
  },

  /** The driver is away. */
  S14: spoilt(async (scene) => {
    await scene.driver.stop()
    const file = `${volumeOf(scene, 'csi', 'pv-common')}/vol_data.json`
    return { see: () => existsSync(file) }
  }),

  /** The driver fails. */
  S16: spoilt((scene) => {
    scene.driver.setFaults('fail NodeUnpublishVolume=INTERNAL')
    const mount = `${volumeOf(scene, 'csi', 'pv-common')}/mount`
    return { see: () => scene.mountPoints().includes(mount) }
  }),

  /** The state file is lost, and the PersistentVolume was made anew: nothing but its name tells which volume it is. */
  S17: spoilt(async (scene) => {
    const staging = stagingOf(scene, handleOf(FORGOTTEN))
    rmSync(`${staging.slice(0, -'globalmount'.length)}vol_data.json`)
    const [, volume, attachment] = volumeObjects(FORGOTTEN, '') as { metadata: { name: string }; spec: object }[]
    const csi = { driver: scene.driver.name, volumeHandle: 'vol-new', fsType: 'ext4' }
    await scene.api.put({ ...volume, spec: { ...volume?.spec, csi } })
    await scene.api.remove('VolumeAttachment', attachment?.metadata.name ?? '')
    await scene.api.put(node([...scene.pods.web.volumes, ...scene.pods.batch.volumes, IDLE]))
    return { see: () => scene.mountPoints().includes(staging) }
  }),

  /** Somebody mounted something else over a volume. */
  S18: spoilt((scene) => {
    const mount = `${volumeOf(scene, 'csi', 'pv-common')}/mount`
    sh('mount', '-t', 'tmpfs', 'foreign', mount)
    writeFileSync(`${mount}/file`, 'x')
    return { see: () => readFileSync(`${mount}/file`, 'utf8') }
  }),

  /** The staged file system is detached lazily, and a process still has a file of it. */
  S20: (directory) =>
    onBroken(directory, async (scene) => {
      const staging = stagingOf(scene, handleOf(FORGOTTEN))
      writeFileSync(`${staging}/file`, 'x')
      const holder = spawn('sleep', ['1000'], { cwd: staging, stdio: 'ignore' })
      await new Promise((resolve) => holder.once('spawn', resolve))
      sh('umount', '-l', staging)
      const held = await applyTo(scene)
      holder.kill('SIGKILL')
      await new Promise((resolve) => holder.once('exit', resolve))
      return { held, free: await applyTo(scene) }
    }),

  /** A second PersistentVolume has the handle of the one that is to be detached. */
  S21handle: spoilt(async (scene) => {
    const [, second] = volumeObjects({ name: 'old2', kind: 'filesystem' }, '') as { spec: object }[]
    const csi = { driver: scene.driver.name, volumeHandle: handleOf(FORGOTTEN), fsType: 'ext4' }
    await scene.api.put({ ...second, spec: { ...second?.spec, csi } })
    return {}
  }),

  /** A configMap changed, and nobody asked for it to be written. */
  S23: spoilt(async (scene) => {
    await scene.api.put({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'password', namespace: 'shop', uid: 'p' },
      type: 'Opaque',
      data: { password: Buffer.from('changed').toString('base64') },
    })
    const file = `${scene.rootDir}/pods/${scene.pods.web.uid}/volumes/kubernetes.io~secret/password/password`
    return { see: () => readFileSync(file, 'utf8') }
  }),

  /** A second user has the staged volume mounted elsewhere. */
  S24: spoilt((scene) => {
    const other = `${scene.directory}/backup`
    mkdirSync(other)
    sh('mount', '--bind', stagingOf(scene, handleOf(FORGOTTEN)), other)
    return { see: () => sh('findmnt', '-n', '-o', 'FSTYPE', other) }
  }),

  /** A kubelet runs, and every time on the disk lies in the future, is zero, or long past. */
  S28: (directory) =>
    onBroken(directory, async (scene) => {
      tell(scene, { kubelet: { running: true, mayReturn: true } })
      const planned: Record<string, number> = {}
      for (const [name, seconds] of Object.entries({
        future: Date.now() / 1000 + 86_400,
        zero: 0,
        past: 1_750_000_000,
      })) {
        for (const pod of [scene.pods.db, scene.pods.batch]) touch(`${scene.rootDir}/pods/${pod.uid}`, seconds)
        planned[name] = (await planOf(scene)).operations.filter(({ blocked }) => blocked === undefined).length
      }
      return planned
    }),

  /** A kubelet runs: its devices are its own; what pods that are gone have left for long is taken away. */
  S11: (directory) =>
    onBroken(directory, async (scene) => {
      const long = 1_750_000_000
      for (const pod of [scene.pods.db, scene.pods.batch]) touch(`${scene.rootDir}/pods/${pod.uid}`, long)
      tell(scene, { kubelet: { running: true, mayReturn: true } })
      const { ends } = await applyTo(scene)
      return [...new Set(ends.map((each) => each.replace(/ .*: /, ': ')))]
    }),

  /** A pod wants memory where a file lies. */
  S22: spoilt(async (scene) => {
    const uid = '99999999-2222-4333-8444-000000000001'
    await scene.api.put(pod({ name: 'new', uid, volumes: [], others: ['memory'] }, ''))
    const volume = `${scene.rootDir}/pods/${uid}/volumes/kubernetes.io~empty-dir/memory`
    mkdirSync(volume, { recursive: true })
    writeFileSync(`${volume}/file`, 'x')
    return { see: () => [readFileSync(`${volume}/file`, 'utf8'), scene.mountPoints().includes(volume)] }
  }),

  /** What stands before the question. */
  S31: (directory) =>
    onBroken(directory, async (scene) => {
      const { stderr } = await runVolctl(scene, ['apply', '--orphans', '--yes', '--output', 'wide'])
      return { text: stderr, server: scene.api.url }
    }),

  /** What was staged here is attached to another node, too. */
  S30: spoilt(async (scene) => {
    const elsewhere = `${NODE}-2`
    const found = volumeObjects(FORGOTTEN, '').at(-1) as { metadata: object; spec: object }
    await scene.api.put({
      ...found,
      metadata: {
        ...found.metadata,
        name: attachmentName(handleOf(FORGOTTEN), scene.driver.name, elsewhere),
        uid: 'va',
      },
      spec: { ...found.spec, nodeName: elsewhere },
    })
    return {}
  }),
})

/** A directory and everything below it, mounts left out. */
function touch(path: string, seconds: number): void {
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    if (entry.isDirectory()) touch(`${path}/${entry.name}`, seconds)
  }
  utimesSync(path, seconds, seconds)
}
