/** Mounts that hang, fail, or are too many, on a node that is otherwise repaired; the built volctl, timed. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { Explanation } from '../../../src/core/explain/explanation.ts'
import { statesOf } from '../../helpers/apply-plan.ts'
import { abortConnections, startFuse } from '../../helpers/fuse/start.ts'
import { LiveNode } from '../../helpers/live-node.ts'
import { runScenario, sh } from '../../helpers/scenario.ts'
import type { Scene } from '../../helpers/scene/scene.ts'
import { type Run, runVolctl } from '../../helpers/scene/volctl.ts'
import { podUid, readMounts } from '../workers/real-node.ts'
import { applyTo, onBroken, planOf } from './broken-scene.ts'

const nfsOf = ({ rootDir, pods }: Scene, name: string): string =>
  `${rootDir}/pods/${pods.db.uid}/volumes/kubernetes.io~nfs/${name}`

async function timed<T>(work: () => Promise<T>): Promise<T & { readonly seconds: number }> {
  const began = performance.now()
  return { ...(await work()), seconds: (performance.now() - began) / 1000 }
}

/** Every command of the program, on a node with such a mount; with the mounts that are left at its path. */
async function everyCommand(scene: Scene, path: string): Promise<object> {
  const plan = await timed(() => planOf(scene))
  const explained = await timed(() => runVolctl(scene, ['explain', path, '-o', 'json']))
  const apply = await timed(() => applyTo(scene, '--timeout', '5s'))
  // In a PID namespace of one's own the mounts of other tests cannot be seen, and a detach waits for them.
  const ends = apply.ends.filter((end) => !end.startsWith('DetachVolume'))
  return {
    planned: plan.seconds,
    explained: explained.seconds,
    answer: verdictOf(explained),
    named: plan.problems.some(({ about }) => about.path === path) || JSON.stringify(plan.operations).includes(path),
    applied: apply.seconds,
    status: apply.status,
    undone: ends.filter((end) => !end.endsWith(': done')),
    done: ends.filter((end) => end.endsWith(': done')).length,
    left: readMounts().at(path).length,
  }
}

/** What `explain` says of the mount that hangs, and whether it could tell who holds it. */
function verdictOf({ stdout, stderr }: Run): object {
  if (stdout === '') throw new Error(stderr)
  const { subject, verdict, places, holders } = JSON.parse(stdout) as Explanation
  return {
    kind: subject.kind,
    state: verdict.state,
    dead: places.some(({ dead }) => dead !== undefined),
    known: holders.known,
  }
}

/** Names of the processes of this PID namespace that nothing ends. */
function uninterruptible(): readonly string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
      return / D /.test(stat.slice(stat.lastIndexOf(')'))) ? [/\((.*)\)/.exec(stat)?.[1] ?? ''] : []
    })
}

await runScenario({
  async possible(directory) {
    await (await startFuse(`${directory}/mnt`)).kill()
  },

  /** A volume whose FUSE daemon is stopped; a pod that lives uses another one of the same kind. */
  stopped: (directory) =>
    onBroken(directory, async (scene) => {
      const path = nfsOf(scene, 'hung')
      const living = `${scene.rootDir}/pods/${scene.pods.web.uid}/volumes/kubernetes.io~nfs/hung`
      const daemons = [await startFuse(path), await startFuse(living)]
      for (const daemon of daemons) daemon.stop()
      try {
        const found = await everyCommand(scene, path)
        return { ...found, living: readMounts().at(living).length }
      } finally {
        abortConnections(`${directory}/fusectl`, ...daemons.map(({ connection }) => connection))
        for (const daemon of daemons) await daemon.kill()
      }
    }),

  /** One that takes every request and answers none: children of volctl that ask it survive SIGKILL. */
  silent: (directory) =>
    onBroken(directory, async (scene) => {
      const path = nfsOf(scene, 'silent')
      const daemon = await startFuse(path, 'silent')
      try {
        const found = await everyCommand(scene, path)
        const survivors = uninterruptible()
        // Ends the connection, and with it the calls that wait.
        const { ends } = await applyTo(scene, '--timeout', '5s', '--force-unmount', path)
        return {
          ...found,
          survivors,
          forced: ends.filter((end) => end.includes(' silent: ')),
          after: readMounts().at(path).length,
          still: uninterruptible(),
        }
      } finally {
        abortConnections(`${directory}/fusectl`, daemon.connection)
        await daemon.kill()
      }
    }),

  /** One that answers every request with EIO. */
  eio: (directory) =>
    onBroken(directory, async (scene) => {
      const path = nfsOf(scene, 'eio')
      const daemon = await startFuse(path, 'eio')
      const found = await everyCommand(scene, path)
      await daemon.kill()
      return found
    }),

  /** A file system on a loop device whose file is deleted. */
  deleted: (directory) =>
    onBroken(directory, async (scene) => {
      const path = `${scene.rootDir}/pods/${scene.pods.db.uid}/volumes/kubernetes.io~local-volume/pv-lost`
      const image = `${directory}/lost.img`
      writeFileSync(image, '')
      sh('truncate', '-s', '16M', image)
      sh('mkfs.ext4', '-q', '-F', image)
      mkdirSync(path)
      sh('mount', '-o', 'loop', image, path)
      rmSync(image)
      const found = await everyCommand(scene, path)
      return { ...found, again: (await applyTo(scene, '--timeout', '5s')).status }
    }),

  /** One mount over the other, ten deep, all of one file system; then one that is not among them. */
  async stack(directory) {
    const node = new LiveNode(directory)
    const source = `${directory}/source`
    mkdirSync(source)
    writeFileSync(`${source}/file`, 'precious')
    const [clean, foreign] = [1, 2].map((n) => `${node.root}/pods/${podUid(n)}/volumes/kubernetes.io~local-volume/pv`)
    for (const path of [clean, foreign]) {
      mkdirSync(path ?? '', { recursive: true })
      for (let layer = 0; layer < 10; layer++) {
        if (path === foreign && layer === 4) sh('mount', '-t', 'tmpfs', 'foreign', path ?? '')
        else sh('mount', '--bind', source, path ?? '')
      }
    }
    const plan = await node.plan()
    const result = await node.apply()
    return {
      umounts: plan.operations.map(({ steps }) => steps.filter(({ op }) => op === 'umount').length),
      blocked: plan.operations.map(({ blocked }) => blocked?.code),
      states: Object.values(statesOf(result)),
      left: [clean, foreign].map((path) => readMounts().at(path ?? '').length),
      content: readFileSync(`${source}/file`, 'utf8'),
    }
  },

  /** A container that bind-mounts the root directory into itself, shared: every mount is copied into every copy. */
  storm: (directory) =>
    onBroken(directory, async (scene) => {
      const inside = `${scene.rootDir}/pods/${scene.pods.batch.uid}/volumes/kubernetes.io~empty-dir/host`
      mkdirSync(inside, { recursive: true })
      sh('mount', '--bind', inside, inside)
      sh('mount', '--make-shared', inside)
      for (let n = 0; readMounts().under(inside).length < 20_000; n++) {
        mkdirSync(`${inside}/${n}`)
        sh('mount', '--bind', inside, `${inside}/${n}`)
      }
      const copies = readMounts().under(inside).length
      const plan = await planOf(scene)
      const explained = await runVolctl(scene, ['explain', inside, '-o', 'json'])
      const apply = await applyTo(scene)
      const left = readMounts().under(inside).length
      sh('umount', '-l', inside)
      return {
        copies,
        answer: verdictOf(explained),
        problems: plan.problems.map(({ code, about }) => [code, about.path?.slice(scene.rootDir.length)]),
        blocked: plan.operations.flatMap(({ blocked }) => blocked?.code ?? []),
        done: apply.ends.filter((end) => end.endsWith(': done') && !end.startsWith('DetachVolume')).length,
        left,
      }
    }),

  /** One FUSE connection, mounted for a pod that is gone and for somebody else, here or in another namespace. */
  async sharedForce(directory) {
    const node = new LiveNode(directory)
    const path = `${node.root}/pods/${podUid(1)}/volumes/kubernetes.io~nfs/v`
    const other = `${directory}/other`
    mkdirSync(other)
    const daemon = await startFuse(path)
    sh('mount', '--bind', path, other)
    const force = (): Promise<string[]> =>
      node.apply({ forceUnmount: [path] }).then((result) => Object.values(statesOf(result)))
    const answers = (at: string): boolean => sh('stat', '-f', '-c', '%T', at) !== ''
    const here = await force()
    const afterHere = [readMounts().at(path).length, answers(other)]
    const elsewhere = spawn(
      'unshare',
      ['-m', '--propagation', 'private', 'sh', '-c', `umount ${path}; echo ready; exec cat`],
      {
        stdio: ['pipe', 'pipe', 'inherit'],
      },
    )
    await once(elsewhere.stdout, 'data')
    sh('umount', other)
    const there = await force()
    const afterThere = [readMounts().at(path).length, answers(path)]
    elsewhere.stdin.end()
    await once(elsewhere, 'exit')
    const alone = await force()
    const left = readMounts().at(path).length
    await daemon.kill()
    return { here, afterHere, there, afterThere, alone, left }
  },
})
