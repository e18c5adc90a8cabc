/** What the built volctl explains of a broken node, while real processes, mounts and loop devices hold what lies there. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Explanation } from '../../../src/core/explain/explanation.ts'
import { csiGlobalDir } from '../../../src/core/names/volume-names.ts'
import { detachLoop } from '../../helpers/detach-loops.ts'
import { noBlockDevices, noSystemCalls } from '../../helpers/namespace.ts'
import { nodeProgram } from '../../helpers/programs.ts'
import { runScenario, sh } from '../../helpers/scenario.ts'
import { DRIVER, handleOf } from '../../helpers/scene/api-objects.ts'
import { FORGOTTEN } from '../../helpers/scene/pods.ts'
import type { Scene } from '../../helpers/scene/scene.ts'
import { runVolctl } from '../../helpers/scene/volctl.ts'
import { VOLCTL } from '../../helpers/volctl-program.ts'
import { applyTo, onBroken } from '../safety/broken-scene.ts'

interface Asked {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
  readonly seconds: number
}

/** @param before what the program is started by */
async function ask(scene: Scene, args: readonly string[], before: readonly string[] = []): Promise<Asked> {
  const [command = '', ...rest] = [...before, VOLCTL, 'explain', ...args]
  const began = performance.now()
  const child = spawn(command, rest, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...scene.env } })
  const said = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      said[name] += text
    })
  }
  const [status] = (await once(child, 'close')) as [number | null]
  return { status, ...said, seconds: (performance.now() - began) / 1000 }
}

async function answer(scene: Scene, what: string, before: readonly string[] = []): Promise<Explanation> {
  const { stdout, stderr } = await ask(scene, [what, '-o', 'json'], before)
  if (stdout === '') throw new Error(stderr)
  return JSON.parse(stdout) as Explanation
}

/** What the screen says below "Held by:". */
async function heldBy(scene: Scene, what: string, before: readonly string[] = []): Promise<string> {
  const { stdout, stderr } = await ask(scene, [what, '-o', 'wide'], before)
  const [, text] = stdout.split('Held by:\n')
  if (text === undefined) throw new Error(stderr || stdout)
  return text.split('\n\n')[0] ?? ''
}

const children: ChildProcess[] = []

/** Starts a process that says that it is ready, and then waits for the end of its standard input. */
async function start(command: readonly string[], options: { cwd?: string } = {}): Promise<number> {
  const [program = '', ...args] = command
  const child = spawn(program, args, { ...options, stdio: ['pipe', 'pipe', 'inherit'] })
  children.push(child)
  await once(child.stdout, 'data')
  return child.pid ?? 0
}

const WAIT = 'echo ready; read -r line'
const script = (text: string): string[] => ['sh', '-c', text]
const inNamespace = (text: string): string[] => ['unshare', '-m', '--propagation', 'private', 'sh', '-c', text]

async function endAll(): Promise<void> {
  for (const child of children.splice(0)) {
    const ended = once(child, 'exit')
    child.stdin?.end()
    await ended
  }
}

/** A program of the volume's own, that has it mapped and nothing else of it. */
async function startMapped(volume: string): Promise<number> {
  const program = `${volume}/held`
  copyFileSync('/bin/cat', program)
  chmodSync(program, 0o755)
  const child = spawn(program, [], { stdio: ['pipe', 'pipe', 'inherit'] })
  children.push(child)
  // It answers once it runs.
  child.stdin.write('ready\n')
  await once(child.stdout, 'data')
  return child.pid ?? 0
}

/** As the container runtime names the process's cgroup: in this mount namespace alone. */
function claimFor(pid: number, podUid: string, containerId: string, directory: string): void {
  const file = `${directory}/cgroup-${pid}`
  writeFileSync(file, `0::/kubepods/burstable/pod${podUid}/${containerId}\n`)
  sh('mount', '--bind', file, `/proc/${pid}/cgroup`)
}

const NOBODY = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', '--inh-caps=-all']

/** What a plain user can read of the scene. */
function open(directory: string, scene: Scene): void {
  sh('chmod', '755', directory, scene.directory, scene.rootDir)
  sh('chmod', '-R', 'a+rX', scene.directory, dirname(scene.api.kubeconfig('admin')))
}

await runScenario({
  /** Who holds a staged file system that no pod wants, kind by kind; apply fails on them, and does it once they are gone. */
  holders: (directory) =>
    onBroken(directory, async (scene) => {
      const volume = `${scene.rootDir}/${csiGlobalDir(DRIVER, handleOf(FORGOTTEN))}/globalmount`
      const other = `${directory}/elsewhere`
      mkdirSync(other)
      try {
        const bind = `mount --bind ${volume} ${other}`
        const pids: Record<string, number> = {
          cwd: await start(script(WAIT), { cwd: volume }),
          file: await start(script(`exec 9>${volume}/open; ${WAIT}`)),
          map: await startMapped(volume),
          // Another mount namespace: with a process in the volume, under another name; with the mount alone.
          inside: await start(inNamespace(`${bind}; umount ${volume}; cd ${other}; ${WAIT}`)),
          mount: await start(inNamespace(`${bind}; umount ${volume}; ${WAIT}`)),
        }
        if (noSystemCalls === undefined) {
          const program = nodeProgram(new URL('./chrooted.ts', import.meta.url), [volume], ['--experimental-ffi'])
          pids.root = await start(program.flat())
        }
        let loop: string | undefined
        if (noBlockDevices === undefined) {
          sh('truncate', '-s', '1M', `${volume}/image`)
          loop = sh('losetup', '--show', '-f', `${volume}/image`)
        }
        // Hundreds that hold nothing.
        await start(script(`for i in $(seq 300); do sleep 600 > /dev/null 2>&1 & p="$p $!"; done; ${WAIT}; kill $p`))
        const found = await answer(scene, volume)
        const { seconds } = await ask(scene, [volume])
        const screen = await heldBy(scene, volume)
        const applied = await applyTo(scene, '--only', 'device')
        if (loop !== undefined) detachLoop(loop)
        await endAll()
        const after = { screen: await heldBy(scene, volume), applied: await applyTo(scene, '--only', 'device') }
        return {
          pids,
          loop: loop ?? null,
          other,
          volume,
          holders: found.holders,
          blocked: found.operations.map(({ kind, blocked }) => `${kind}: ${blocked?.message}`),
          seconds,
          screen,
          applied: applied.ends,
          stderr: applied.stderr,
          after: { screen: after.screen, applied: after.applied.ends },
        }
      } finally {
        await endAll()
      }
    }),

  /** Who uses the data of a pod that is gone: explain names whom apply refuses for. */
  content: (directory) =>
    onBroken(directory, async (scene) => {
      const volume = `${scene.rootDir}/pods/${scene.pods.db.uid}/volumes/kubernetes.io~empty-dir/scratch`
      const other = `${directory}/elsewhere`
      mkdirSync(other)
      mkdirSync(`${volume}/lower`)
      const beside = `${directory}/beside`
      mkdirSync(beside)
      const bind = `mount --bind ${volume} ${other}`
      const uses: Record<string, readonly string[]> = {
        mount: inNamespace(`${bind}; ${WAIT}`),
        overlay: inNamespace(`mount -t overlay o -o lowerdir=${volume}/lower:${beside} ${other}; ${WAIT}`),
        inside: inNamespace(`${bind}; cd ${other}; umount -l ${other}; ${WAIT}`),
        file: script(`exec 9<${volume}/lower; ${WAIT}`),
      }
      const found: Record<string, { readonly screen: string; readonly applied: string; readonly left: boolean }> = {}
      try {
        for (const [name, command] of Object.entries(uses)) {
          await start(command)
          const screen = await heldBy(scene, volume)
          const { ends } = await applyTo(scene, '--only', 'unmount')
          const applied = ends.filter((each) => / scratch: /.test(each)).join()
          found[name] = { screen, applied, left: existsSync(`${volume}/lower`) }
          await endAll()
        }
        const { ends } = await applyTo(scene, '--only', 'unmount')
        return { ...found, nobody: ends.filter((each) => / scratch: /.test(each)), gone: !existsSync(volume) }
      } finally {
        await endAll()
      }
    }),

  /** The pod and container of a process, and what becomes of a pod that is gone and of which one runs. */
  containers: (directory) =>
    onBroken(directory, async (scene) => {
      const { web, db } = scene.pods
      const targetOf = (uid: string): string => `${scene.rootDir}/pods/${uid}/volumes/kubernetes.io~csi/pv-common/mount`
      try {
        const living = await start(script(WAIT), { cwd: targetOf(web.uid) })
        claimFor(living, web.uid, 'a'.repeat(64), directory)
        const answerOnWeb = await answer(scene, web.uid)
        const gone = await answer(scene, db.uid)
        const held = await start(script(WAIT), { cwd: targetOf(db.uid) })
        const busy = await answer(scene, targetOf(db.uid))
        claimFor(held, db.uid, 'b'.repeat(64), directory)
        const runs = await answer(scene, db.uid)
        return { living, held, web: answerOnWeb, gone, busy, runs }
      } finally {
        for (const { pid } of children) if (pid !== undefined) sh('sh', '-c', `umount /proc/${pid}/cgroup || :`)
        await endAll()
      }
    }),

  /** As a plain user, and where /proc hides processes; as root without the right to look into them. */
  leastPower: (directory) =>
    onBroken(directory, async (scene) => {
      const volume = `${scene.rootDir}/${csiGlobalDir(DRIVER, handleOf(FORGOTTEN))}/globalmount`
      open(directory, scene)
      try {
        const pid = await start(script(WAIT), { cwd: volume })
        const blind = ['setpriv', '--inh-caps=-all', '--bounding-set=-sys_ptrace']
        const look = async (): Promise<object> => ({
          root: await heldBy(scene, volume),
          user: await heldBy(scene, volume, NOBODY),
          blind: await heldBy(scene, volume, blind),
        })
        const shown = await look()
        sh('mount', '-o', 'remount,hidepid=1', '/proc')
        const refused = await look()
        sh('mount', '-o', 'remount,hidepid=2', '/proc')
        const hidden = await look()
        sh('mount', '-o', 'remount,hidepid=0', '/proc')
        const { holders, verdict } = await answer(scene, volume, NOBODY)
        return { pid, shown, refused, hidden, user: { holders, verdict } }
      } finally {
        await endAll()
      }
    }),

  /** A driver that runs, one that was killed, and one that was stopped: its sockets, and what depends on it. */
  driver: (directory) =>
    onBroken(directory, async (scene) => {
      const look = async (): Promise<object> => {
        const { verdict, chain, driver } = await answer(scene, `driver/${DRIVER}`)
        return {
          state: verdict.state,
          code: verdict.code,
          message: verdict.message,
          links: chain.map(({ kind, state }) => `${kind} ${state}`),
          driver,
        }
      }
      const runs = await look()
      await scene.driver.kill()
      const killed = await look()
      await scene.driver.restart()
      await scene.driver.stop()
      const stopped = await look()
      const screen = (await ask(scene, ['driver', DRIVER])).stdout
      return { runs, killed, stopped, screen }
    }),

  /** The same from a snapshot but for the holders; and nothing is written, asked of the cluster or left behind. */
  offline: (directory) =>
    onBroken(directory, async (scene) => {
      const file = `${directory}/node.json`
      const taken = await runVolctl(scene, ['snapshot', '-o', file])
      await scene.api.clearRequests()
      const subjects = [
        scene.pods.web.uid,
        scene.pods.db.uid,
        'pv/pv-common',
        'pvc/shop/common',
        'pv-idle',
        scene.rootDir,
        `driver/${DRIVER}`,
      ]
      const differing: string[] = []
      for (const what of subjects) {
        const live = await answer(scene, what)
        const { stdout } = await ask(scene, [what, '-o', 'json', '--snapshot', file])
        // A next command is typed on the node, or reads the snapshot.
        const rest = ({ holders: _, createdAt: __, notes: ___, summary, ...each }: Explanation): object => ({
          ...each,
          summary: { ...summary, next: [] },
        })
        if (JSON.stringify(rest(live)) !== JSON.stringify(rest(JSON.parse(stdout) as Explanation))) differing.push(what)
      }
      const requests = (await scene.api.requests()).map(({ method, path }) => `${method} ${path}`)
      return { taken: taken.status, differing, writes: requests.filter((each) => !/^GET |selfsubject/.test(each)) }
    }),
})
