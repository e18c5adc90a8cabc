/** What lies over, in or beside the emptyDirs of deleted pods: what is said before anyone acts, and what then happens. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { noRoot } from '../helpers/namespace.ts'
import { OnDisk, volumePath } from '../helpers/pod-files.ts'
import type { Scene } from '../helpers/scene/scene.ts'
import { runVolctl } from '../helpers/scene/volctl.ts'
import { startFuse } from '../privileged/fuse/start.ts'
import { endsOf } from './scenarios/outcomes.ts'
import { APPLY, it, planOf } from './story.ts'

const FUSECTL = '/sys/fs/fuse/connections'
const FUSECTL_MAGIC = 0x65735543

/** Makes an emptyDir of a pod that nobody knows. @returns its directory */
function makeEmptyDir({ rootDir }: Scene, uid: string, name: string): string {
  new OnDisk(rootDir).podDirectory(uid).emptyDir(uid, name)
  return join(rootDir, volumePath(uid, 'empty-dir', name))
}

/** Of a pod: kinds of operations, with what blocks them, and the hint of the first. */
async function planned(scene: Scene, uid: string, ...flags: string[]) {
  const mine = (await planOf(scene, ...flags)).plan.operations.filter(({ pod }) => pod?.uid === uid)
  return {
    operations: mine.map(({ kind, blocked }) => (blocked === undefined ? kind : `${kind} ${blocked.code}`)),
    hint: mine[0]?.blocked?.hint?.replaceAll(scene.rootDir, 'ROOT'),
  }
}

it("S18, S20: without --lazy nothing of it is touched; with it the pod's directory goes", async ({ scene, skip }) => {
  skip(noRoot !== undefined, noRoot)
  // Where systemd mounts it; it alone shows that a connection is gone.
  if (statfsSync(FUSECTL).type !== FUSECTL_MAGIC) execFileSync('mount', ['-t', 'fusectl', 'fusectl', FUSECTL])
  const uid = '11111111-2222-4333-8444-0000000000f1'
  const pod = join(scene.rootDir, 'pods', uid)
  const dir = makeEmptyDir(scene, uid, 'cache')
  writeFileSync(join(dir, 'below.txt'), 'hidden by the mount\n')
  await (await startFuse(dir)).kill()
  const hint = (flags: string) => expect.stringMatching(`volctl plan ${flags}--lazy ROOT/pods/.*~empty-dir/cache$`)
  const blocked = ['UnmountVolume DeadMount']
  expect(await planned(scene, uid)).toEqual({ operations: blocked, hint: hint('') })
  expect(await planned(scene, uid, '--orphans')).toEqual({ operations: blocked, hint: hint('--orphans ') })
  expect(endsOf(await runVolctl(scene, APPLY))).toEqual(['UnmountVolume cache: blocked DeadMount'])
  expect(existsSync(pod)).toBe(true)
  const lazy = ['UnmountVolume', 'RemoveOrphanPodDir']
  expect((await planned(scene, uid, '--orphans', '--lazy', dir)).operations).toEqual(lazy)
  const ends = endsOf(await runVolctl(scene, [...APPLY, '--lazy', dir]))
  expect(ends).toEqual(['RemoveOrphanPodDir -: done', 'UnmountVolume cache: done'])
  expect([existsSync(pod), (await planned(scene, uid, '--orphans')).operations]).toEqual([false, []])
})

it('S13: of a foreign mount and of a stray file plan, explain and the end of apply say that a kubelet would delete them', async ({
  scene,
  skip,
}) => {
  skip(noRoot !== undefined, noRoot)
  const uid = '11111111-2222-4333-8444-0000000000f2'
  const pod = join(scene.rootDir, 'pods', uid)
  const theirs = join(makeEmptyDir(scene, uid, 'work'), 'theirs')
  mkdirSync(theirs)
  execFileSync('mount', ['-t', 'tmpfs', 'somebody', theirs])
  writeFileSync(join(theirs, 'precious.txt'), 'of somebody\n')
  const other = '11111111-2222-4333-8444-0000000000f3'
  new OnDisk(scene.rootDir).podDirectory(other)
  const stray = join(scene.rootDir, 'pods', other, 'notes.txt')
  writeFileSync(stray, 'of somebody\n')
  expect((await planned(scene, uid, '--orphans')).operations).toEqual(['UnmountVolume ForeignMount'])
  expect(endsOf(await runVolctl(scene, APPLY))).toEqual(['UnmountVolume work: blocked ForeignMount'])
  const losses = [
    'a kubelet that starts deletes everything in it',
    'notes.txt (file, 12 bytes) was not created by the kubelet; a kubelet that starts deletes it',
  ]
  for (const { args, losing } of [
    { args: ['plan', '--orphans'], losing: losses },
    { args: ['explain', uid], losing: losses.slice(0, 1) },
    { args: ['explain', other], losing: losses.slice(1) },
    { args: ['apply', '--orphans', '--yes'], losing: losses },
  ]) {
    const { stdout, stderr } = await runVolctl(scene, args)
    const said = `${stdout}${stderr}`.replaceAll(/\s+/g, ' ')
    for (const loss of losing) expect(said).toContain(loss)
    expect(said).toContain('Do not start the kubelet yet.')
  }
  expect([existsSync(pod), existsSync(stray), readFileSync(join(theirs, 'precious.txt'), 'utf8')]).toEqual([
    true,
    true,
    'of somebody\n',
  ])
})
