/** `volctl explain` on a broken node, while real processes, mounts and loop devices hold what lies there. */
import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import type { Explanation } from '../../src/core/explain/explanation.ts'
import { csiGlobalDir } from '../../src/core/volumes/volume-names.ts'
import { detachLoop } from '../helpers/detach-loops.ts'
import { forOthers } from '../helpers/for-others.ts'
import { sweep, temporary } from '../helpers/left-behind.ts'
import { it } from '../helpers/machine.ts'
import { noProgram, noRoot, noSystemCalls } from '../helpers/namespace.ts'
import { nodeProgram } from '../helpers/programs.ts'
import { sh, unmountBelow } from '../helpers/scenario.ts'
import { DRIVER, handleOf } from '../helpers/scene/api-objects.ts'
import { FORGOTTEN } from '../helpers/scene/pods.ts'
import { makeScene, type Scene } from '../helpers/scene/scene.ts'
import { runUnjudged } from '../helpers/scene/volctl.ts'
import { VOLCTL } from '../helpers/volctl-program.ts'
import { describeUnless } from './describe-unless.ts'
import { type Holder, hold, holdByShell, holdElsewhere } from './holder.ts'
import { applyTo } from './safety/broken-scene.ts'

/** One node: what changes it comes last. */
describeUnless(noRoot, 'explaining for real', () => {
  let root: string
  let scene: Scene
  beforeAll(async () => {
    root = temporary('volctl-explaining-')
    scene = await makeScene({ directory: `${root}/scene`, small: true })
    await scene.breakIt()
  })
  afterAll(async () => {
    await scene.dispose()
    unmountBelow(root)
    sweep(root)
  })

  /** @param volctl and what it is started by */
  async function ask(args: readonly string[], volctl: readonly string[] = [VOLCTL]): Promise<string> {
    const [program = '', ...rest] = [...volctl, 'explain', ...args]
    return (await runUnjudged({ env: scene.env, program }, rest)).stdout
  }

  const answer = async (what: string, ...flags: string[]): Promise<Explanation> =>
    JSON.parse(await ask([what, '-o', 'json', ...flags])) as Explanation

  /** What the screen says below "Held by:". */
  async function heldBy(what: string, volctl?: readonly string[]): Promise<string> {
    const [, text = ''] = (await ask([what, '-o', 'wide'], volctl)).split('Held by:\n')
    return text.split('\n\n')[0] ?? ''
  }

  const holders: Holder[] = []
  const held = async (started: Promise<Holder>): Promise<number> => {
    const holder = await started
    holders.push(holder)
    return holder.pid
  }
  const start = (command: readonly string[]): Promise<number> => held(hold(command, { input: 'ready\n' }))
  const shell = (text: string, cwd?: string): Promise<number> => held(holdByShell(text, cwd))
  const elsewhere = (text: string): Promise<number> => held(holdElsewhere(text))
  const endAll = async (): Promise<void> => {
    for (const holder of holders.splice(0)) await holder.end()
  }
  afterEach(endAll)

  const targetOf = (uid: string): string => `${scene.rootDir}/pods/${uid}/volumes/kubernetes.io~csi/pv-common/mount`
  const stagedVolume = (): string => `${scene.rootDir}/${csiGlobalDir(DRIVER, handleOf(FORGOTTEN))}/globalmount`

  const noSetpriv = noProgram('setpriv')

  it('with the least power, what could not be seen is said, and it is never "nobody"', async ({ skip }) => {
    skip(noSetpriv !== undefined, noSetpriv)
    using others = forOthers()
    // What a plain user can read.
    sh('chmod', '755', root, scene.directory, scene.rootDir)
    sh('chmod', '-R', 'a+rX', scene.directory, dirname(scene.api.kubeconfig('admin')))
    const pid = await shell(':', stagedVolume())
    const user = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', '--inh-caps=-all']
    const blind = ['setpriv', '--inh-caps=-all', '--bounding-set=-sys_ptrace']
    try {
      for (const hidepid of [0, 2]) {
        sh('mount', '-o', `remount,hidepid=${hidepid}`, '/proc')
        expect(await heldBy(stagedVolume())).toMatch(`  sh (pid ${pid}); cwd `)
        for (const [who, reason] of [
          [user, /\n {2}volctl does not run as root: the open files and mounts of \d+ process(?:es)? cannot be read/],
          [
            blind,
            /\n {2}the open files and mounts of \d+ process(?:es)? cannot be read: CAP_SYS_PTRACE or .* is missing/,
          ],
        ] as const) {
          const said = await heldBy(stagedVolume(), [...who, others.testVolctl])
          expect(said).toMatch(/^ {2}nobody, as far as visible\n {2}\S/)
          if (hidepid === 0) expect(said).toMatch(reason)
          else expect(said).toContain('  /proc hides processes of other users (mount option hidepid), so ')
        }
      }
    } finally {
      sh('mount', '-o', 'remount,hidepid=0', '/proc')
    }
  })

  it('pod and container of a process; of a pod that is gone and still runs nothing is touched', async ({
    directory,
  }) => {
    const { web, db } = scene.pods
    const claimed: number[] = []
    /** As the container runtime names the process's cgroup: in this mount namespace alone. */
    const claimFor = (pid: number, uid: string, container: string): void => {
      const file = `${directory}/cgroup-${pid}`
      writeFileSync(file, `0::/kubepods/burstable/pod${uid}/${container.repeat(64)}\n`)
      sh('mount', '--bind', file, `/proc/${pid}/cgroup`)
      claimed.push(pid)
    }
    const living = await shell(':', targetOf(web.uid))
    const held = await shell(':', targetOf(db.uid))
    try {
      const busy = await answer(targetOf(db.uid))
      expect(busy.operations[0]?.blocked?.message).toContain(`is in use by sh (pid ${held}, cwd)`)
      claimFor(living, web.uid, 'a')
      const pod = { name: 'web-0', namespace: 'shop' }
      const inWeb = { pid: living, command: 'sh', container: 'a'.repeat(13), pod, holds: [{ what: 'cwd' }] }
      const processes = expect.arrayContaining([expect.objectContaining({ pid: living })])
      const ofWeb = await answer(web.uid)
      expect(ofWeb).toMatchObject({ holders: { processes }, verdict: { state: 'nothing', rule: 'S5' } })
      expect(ofWeb.holders.processes.find(({ pid }) => pid === living)).toMatchObject(inWeb)
      claimFor(held, db.uid, 'b')
      const runs = await answer(db.uid)
      expect(runs).toMatchObject({
        operations: [],
        verdict: { state: 'problem', code: 'PodGoneButRunning' },
        pods: [{ class: 'Frozen', signsOfLife: ['processes in its cgroup'] }],
      })
      expect(runs.summary.causes?.[0]?.remedy.join(' ')).toMatch(/^Stop the pod .*, then plan again: crictl pods /)
    } finally {
      for (const pid of claimed) sh('umount', `/proc/${pid}/cgroup`)
    }
  })

  it('who holds a mount: files, directories, roots, maps, loop devices, other mount namespaces; apply begins nothing for the same', async ({
    directory,
  }) => {
    const volume = stagedVolume()
    const other = `${directory}/elsewhere`
    mkdirSync(other)
    const bind = `mount --bind ${volume} ${other}`
    // A program of the volume's own has it mapped and nothing else of it.
    copyFileSync('/bin/cat', `${volume}/held`)
    chmodSync(`${volume}/held`, 0o755)
    const root =
      noSystemCalls ?? nodeProgram(new URL('./workers/chrooted.ts', import.meta.url), [volume], ['--experimental-ffi'])
    const expected = [
      [await shell(':', volume), { what: 'cwd', path: volume }],
      [await shell(`exec 9>${volume}/open`), { what: 'file', path: `${volume}/open` }],
      [await start([`${volume}/held`]), { what: 'map', path: `${volume}/held` }],
      ...(typeof root === 'string' ? [] : [[await start(root.flat()), { what: 'root', path: volume }] as const]),
      // Another mount namespace: with a process in the volume, under another name; with the mount alone.
      [await elsewhere(`${bind}; umount ${volume}; cd ${other}`), { what: 'cwd', path: other }],
    ] as const
    const inside = expected.at(-1)?.[0]
    const mount = await elsewhere(`${bind}; umount ${volume}`)
    sh('truncate', '-s', '1M', `${volume}/image`)
    const loop = sh('losetup', '--show', '-f', `${volume}/image`)
    const found = await answer(volume)
    const { processes, namespaces, loops, kernel, notes } = found.holders
    expect(processes.map(({ pid, holds: [first] }) => [pid, first])).toEqual(expected.toSorted(([a], [b]) => a - b))
    expect(namespaces.map(({ pid, mountPoints }) => [pid, mountPoints])).toEqual([
      [inside, [other]],
      [mount, [other]],
    ])
    expect({ loops, kernel, notes }).toEqual({
      loops: [{ device: loop, backingFile: `${volume}/image` }],
      kernel: [],
      notes: [],
    })
    expect(await heldBy(volume)).toContain(`  mount namespace of sh (pid ${mount}); mounted on ${other}`)
    expect((await applyTo(scene, '--only', 'device')).ends).toEqual(['UnmountDevice vol-old: blocked HeldBy'])
    detachLoop(loop)
    await endAll()
    expect(await heldBy(volume)).toBe('  nobody')
    expect((await applyTo(scene, '--only', 'device')).ends).toEqual(['UnmountDevice vol-old: done'])
  })
})
