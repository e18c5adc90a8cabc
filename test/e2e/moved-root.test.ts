/** S8: volumes below the place that a root directory had before it was moved, with a real API server and real mounts. */
import { mkdirSync, renameSync, symlinkSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { csiGlobalDir } from '../../src/core/volumes/volume-names.ts'
import { DRIVER, handleOf, pvOf } from '../helpers/scene/api-objects.ts'
import { FORGOTTEN, IDLE } from '../helpers/scene/pods.ts'
import type { Scene } from '../helpers/scene/scene.ts'
import { runVolctl } from '../helpers/scene/volctl.ts'
import { holdElsewhere } from '../privileged/holder.ts'
import { endsOf, eventsOf } from './scenarios/outcomes.ts'
import { APPLY, hostSays, it, planOf } from './story.ts'

/** A person says that it has no device here: that alone holds no mount back that bears its name. */
const ONE = [...APPLY, '--volume', pvOf(IDLE), '--device', `${pvOf(IDLE)}=none`]

/** How the operations on the two volumes that no pod has are blocked. */
async function blocked(scene: Scene, ...flags: string[]): Promise<string[]> {
  const about = [FORGOTTEN, IDLE].flatMap((volume) => [pvOf(volume), handleOf(volume)])
  return (await planOf(scene, '--orphans', ...flags)).plan.operations
    .filter(({ volume }) => about.includes(volume?.name ?? ''))
    .map(({ kind, volume, blocked: why }) => `${kind} ${volume?.name}: ${why?.code ?? 'ready'}`)
    .toSorted()
}

const stagedBelow = (root: string, volume: typeof IDLE): string =>
  join(root, csiGlobalDir(DRIVER, handleOf(volume)), 'globalmount')
const oldRoot = (scene: Scene): string => join(scene.directory, 'kubelet.old')

it('S8: a root directory that is a link, with a link in it, is what it leads to', async ({ scene }) => {
  const [link, pods, aside] = ['link', 'kubelet/pods', 'pods'].map((name) => join(scene.directory, name)) as [
    string,
    string,
    string,
  ]
  symlinkSync(scene.rootDir, link)
  renameSync(pods, aside)
  symlinkSync('../link/../pods', pods)
  const putBack = hostSays(scene, { rootDir: link })
  const { status, plan } = await planOf(scene, '--orphans')
  putBack()
  unlinkSync(pods)
  renameSync(aside, pods)
  expect([status, plan.rootDir, plan.operations]).toEqual([0, scene.rootDir, []])
})

it('S8, S21: in a mount namespace of somebody else alone: the detach is not planned, and the apply does not begin it', async ({
  broken,
}) => {
  const path = stagedBelow(oldRoot(broken), IDLE)
  mkdirSync(path, { recursive: true })
  // Only this process is in it, and it has nothing else of the scene's.
  const others = `awk -v r="${broken.rootDir}/" 'index($5, r) == 1 { print $5 }' /proc/self/mountinfo | tac`
  const holder = await holdElsewhere(`for m in $(${others}); do umount "$m"; done; mount -t tmpfs disk ${path}`)
  const planned = await blocked(broken, '--volume', pvOf(IDLE))
  const held = await runVolctl(broken, ONE)
  await holder.end()
  expect(planned).toEqual(['DetachVolume pv-idle: HeldBy'])
  expect(endsOf(held)).toEqual(['DetachVolume pv-idle: blocked HeldBy'])
  expect(eventsOf(held).find(({ type }) => type === 'blocked')?.message).toMatch(
    /^volume pv-idle is also set up elsewhere on this node: tmpfs mount \d+ of disk on \S+\/kubelet\.old\/\S+\/globalmount, in the mount namespace of sh/,
  )
  // A control: with that process its mount is gone, and the same apply detaches.
  expect(endsOf(await runVolctl(broken, ONE))).toEqual(['DetachVolume pv-idle: done'])
})
