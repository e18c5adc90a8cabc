/** Mounts that hang, fail, or are too many, on a node that is otherwise repaired; the built volctl, timed. */
import { mkdirSync } from 'node:fs'
import { expect } from 'vitest'
import type { Explanation } from '../../../src/core/explain/explanation.ts'
import { LiveNode } from '../../helpers/live-node.ts'
import { it } from '../../helpers/machine.ts'
import { noMounts } from '../../helpers/namespace.ts'
import { sh } from '../../helpers/scenario.ts'
import { answerOf, type Run, runVolctl } from '../../helpers/scene/volctl.ts'
import { describeUnless } from '../describe-unless.ts'
import { noFuse } from '../faults/no-fuse.ts'
import { abortConnections, startFuse } from '../fuse/start.ts'
import { holdElsewhere } from '../holder.ts'
import { stuck } from '../trust/watched-run.ts'
import { podUid, readMounts } from '../workers/real-node.ts'
import { applyTo, onBroken, planOf } from './broken-scene.ts'

/** Far above what they take, and far below what would show that something is waited for without a deadline. */
const PLAN_SECONDS = 150
const APPLY_SECONDS = 400

async function timed<T>(work: () => Promise<T>): Promise<T & { readonly seconds: number }> {
  const began = performance.now()
  return { ...(await work()), seconds: (performance.now() - began) / 1000 }
}

/** What `explain` says of the mount that hangs, and whether it could tell who holds it. */
function verdictOf(run: Run): object {
  const { subject, verdict, places, holders } = answerOf<Explanation>(run)
  return {
    kind: subject.kind,
    state: verdict.state,
    dead: places.some(({ dead }) => dead !== undefined),
    known: holders.known,
  }
}

describeUnless(noFuse, 'FUSE file systems', () => {
  it('S19: children that survive SIGKILL keep no command from ending; the mount is named, and goes by force', ({
    directory,
  }) =>
    onBroken(directory, async (scene) => {
      const path = `${scene.rootDir}/pods/${scene.pods.db.uid}/volumes/kubernetes.io~nfs/silent`
      // It takes every request and answers none.
      const daemon = await startFuse(path, 'silent')
      try {
        const plan = await timed(() => planOf(scene))
        const explained = await timed(() => runVolctl(scene, ['explain', path, '-o', 'json']))
        const apply = await timed(() => applyTo(scene, '--timeout', '5s'))
        for (const { seconds } of [plan, explained]) expect(seconds).toBeLessThan(PLAN_SECONDS)
        expect(apply.seconds).toBeLessThan(APPLY_SECONDS)
        expect(verdictOf(explained)).toEqual({ kind: 'Mount', state: 'problem', dead: true, known: true })
        expect(JSON.stringify([plan.problems, plan.operations])).toContain(path)
        // What hangs may be any volume's, and a detach waits for it.
        const ends = apply.ends.filter((end) => !end.startsWith('DetachVolume'))
        expect([apply.status, ends.filter((end) => !end.endsWith(': done')), ends.length]).toEqual([
          3,
          ['RemoveOrphanPodDir -: skipped HeldBy', 'UnmountVolume silent: failed HeldBy'],
          12,
        ])
        expect(readMounts().at(path)).toHaveLength(1)
        expect(stuck()).toEqual([expect.stringContaining('volctl asks mount')])
        // Ends the connection, and with it the calls that wait.
        const forced = await applyTo(scene, '--timeout', '5s', '--force-unmount', path)
        expect(forced.ends.filter((end) => end.includes(' silent: '))).toEqual(['UnmountVolume silent: done'])
        expect(readMounts().at(path)).toEqual([])
        expect(stuck()).toEqual([])
      } finally {
        // Its connection may hold processes for ever.
        abortConnections(`${directory}/fusectl`, daemon.connection)
        await daemon.kill()
      }
    }))

  it('S19: no force where the connection has another mount, here or in another namespace', async ({ directory }) => {
    const node = new LiveNode(directory)
    const path = `${node.root}/pods/${podUid(1)}/volumes/kubernetes.io~nfs/v`
    const other = `${directory}/other`
    mkdirSync(other)
    const daemon = await startFuse(path)
    sh('mount', '--bind', path, other)
    const force = () => node.applied({ forceUnmount: [path] })
    const stays = (at: string): void => {
      expect(readMounts().at(path)).toHaveLength(1)
      expect(sh('stat', '-f', '-c', '%T', at)).not.toBe('')
    }
    expect(await force()).toEqual(['refused SharedConnection'])
    stays(other)
    const elsewhere = await holdElsewhere(`umount ${path}`)
    sh('umount', other)
    expect(await force()).toEqual(['refused SharedConnection'])
    stays(path)
    await elsewhere.end()
    expect(await force()).toEqual(['done'])
    expect(readMounts().at(path)).toEqual([])
    await daemon.kill()
  })
})

describeUnless(noMounts, 'many mounts', () => {
  // A container that bind-mounts the root directory into itself, shared: every mount is copied into every copy. What each step of an
  // apply takes then is the reading of the table, which a busy machine does in seconds.
  it('20,000 copies by propagation: plan and apply answer, name the place, leave it, and do the rest', ({
    directory,
  }) =>
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
      expect(plan.problems).toContainEqual(expect.objectContaining({ code: 'MountStorm' }))
      expect(plan.problems.find(({ code }) => code === 'MountStorm')?.about.path).toBe(inside)
      expect(plan.operations.flatMap(({ blocked }) => blocked?.code ?? [])).toEqual(['ForeignMount'])
      expect(verdictOf(await runVolctl(scene, ['explain', inside, '-o', 'json']))).toMatchObject({
        state: 'problem',
        known: true,
      })
      const { ends } = await applyTo(scene)
      expect(ends.filter((end) => end.endsWith(': done') && !end.startsWith('DetachVolume'))).toHaveLength(10)
      expect(readMounts().under(inside)).toHaveLength(copies)
      sh('umount', '-l', inside)
    }))
})
