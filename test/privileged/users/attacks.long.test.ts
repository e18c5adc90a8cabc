/**
 * Whole commands beside what other users mount, name, link and bind: none hangs, of each mount that does at most one process is left (S36),
 * and what they keep in namespaces of their own stops no repair (S39).
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { describe, expect } from 'vitest'
import { parseMountinfo } from '../../../src/core/linux/parse-mountinfo.ts'
import { it } from '../../helpers/machine.ts'
import { noProgram } from '../../helpers/namespace.ts'
import { nodeProgram } from '../../helpers/programs.ts'
import { sh } from '../../helpers/scenario.ts'
import type { Scene } from '../../helpers/scene/scene.ts'
import { until } from '../../helpers/until.ts'
import { abortConnections, startFuse } from '../fuse/start.ts'
import { type Holder, hold } from '../holder.ts'
import { applyTo, onBroken, planOf } from '../safety/broken-scene.ts'
import { codeOf, oneLine, type RunOptions, runWatched, stuck, type WatchedRun } from '../trust/watched-run.ts'

/** A machine on which all else is busy takes ten times as long as one that is idle; what hangs never ends. */
const SECONDS = 120
const ANSWER_MS = 10_000

async function ends(scene: Scene, args: readonly string[], options: RunOptions = {}): Promise<WatchedRun> {
  const run = await runWatched(args, { env: { ...process.env, ...scene.env }, deadlineMs: SECONDS * 1000, ...options })
  if (options.deadlineMs === undefined) expect(run.ended, args.join(' ')).toBe('itself')
  return run
}

/** Numbers of the FUSE connections that a process has mounts of. */
const connectionsOf = (pid: number): string[] =>
  parseMountinfo(readFileSync(`/proc/${pid}/mountinfo`)).all.flatMap(({ fsType, dev }) =>
    fsType === 'fuse' ? dev.replace(/^.*:/, '') : [],
  )

const started = (...command: readonly string[]): Promise<Holder> => hold(command, { detached: true })

const daemon = (...args: readonly string[]): string => {
  const [node, words] = nodeProgram(new URL('../fuse/daemon.ts', import.meta.url), args)
  return `${[node, ...words].map((word) => `'${word}'`).join(' ')} >/mnt/said & while ! [ -s /mnt/said ]; do sleep 0.1; done`
}
const perl = (sockets: string): string => `perl -MSocket -e '$| = 1; ${sockets}; print "ready\\n"; <STDIN>'`

describe('S36', () => {
  it('S36: a journal that hangs: every command ends, and says so in one line with a code', ({ directory }) =>
    onBroken(directory, async (scene) => {
      const path = `${directory}/scene/journal`
      const fuse = await startFuse(path, 'silent')
      const json = ['-o', 'json']
      for (const [code, ...args] of [
        [undefined, 'check', '--confirm', '0', ...json],
        [undefined, 'explain', scene.rootDir, ...json],
        ['FileUnreadable', 'journal', ...json],
        ['FileUnreadable', 'journal', '--journal', `${path}/below`, ...json],
        ['JournalFailed', 'apply', '--yes', '--orphans', ...json],
      ] as const) {
        const run = await ends(
          scene,
          args.filter((each) => each !== undefined),
        )
        expect([codeOf(run), code && oneLine(run)], run.stderr).toEqual([code, code && 'one line'])
      }
      expect((await planOf(scene)).operations.map(({ blocked }) => blocked?.code)).toContain('LazyMemoryUnusable')
      expect(stuck()).toEqual([expect.stringContaining('volctl asks mount')])
      abortConnections(`${directory}/fusectl`, fuse.connection)
      await fuse.kill()
      sh('umount', path)
      expect(await applyTo(scene)).toMatchObject({ status: 0 })
    }))

  /** Overlays over one's own FUSE file system, which stops to answer: sockets are bound in one, and of the other all has to be asked. */
  const inOverlay = (mute: string): readonly string[] => {
    const names =
      'map { socket(my $s, PF_UNIX, SOCK_DGRAM, 0); bind($s, pack_sockaddr_un("/mnt/out/s$_")) or die $!; $s } 1..12'
    const files = 'map { open(my $f, ">", "/mnt/out/f$_") or die $!; $f } 1..12'
    const layers = 'lowerdir=/mnt/fuse,upperdir=/mnt/up,workdir=/mnt/work,userxattr'
    const script = `mount -t tmpfs t /mnt; cd /mnt; mkdir fuse up work out low; ${daemon('silent', '/mnt/fuse', mute)}
mount -t overlay -o ${layers} o out; mount -t overlay -o lowerdir=/mnt/fuse:/mnt/up,userxattr o low; exec 8<low 9<low; cd low; ${perl(`my @s = ${names}; my @f = ${files}`)}`
    return ['unshare', '-Urm', 'sh', '-c', script]
  }

  it('S36: ten looks beside a dead mount and beside a user’s: one process is left, and Ctrl-C and SIGKILL end each', ({
    directory,
  }) =>
    onBroken(directory, async (scene) => {
      await using user = await started(...inOverlay(`${directory}/mute`))
      const fuse = await startFuse(`${scene.rootDir}/pods/${scene.pods.db.uid}/volumes/kubernetes.io~nfs/v`, 'silent')
      writeFileSync(`${directory}/mute`, '')
      const control = spawn('sh', ['-c', `stat /proc/${user.pid}/cwd/control`], { stdio: 'ignore' })
      try {
        const orphans = ['plan', '--orphans']
        const commands = [['check', '--confirm', '0'], orphans, ['explain', `${scene.rootDir}/pods`]]
        const asked = [expect.stringContaining('volctl asks mount')]
        for (let n = 0; n < 10; n++) {
          await ends(scene, commands[n % 3] ?? [])
          expect(stuck()).toEqual(asked)
        }
        for (const interruptAtMs of [400, 1000, 2000, 3000]) {
          for (const args of commands)
            expect((await ends(scene, args, { interruptAtMs })).answeredMs ?? 0, args[0]).toBeLessThan(ANSWER_MS)
          expect((await ends(scene, orphans, { deadlineMs: interruptAtMs })).seconds).toBeLessThan(
            (interruptAtMs + ANSWER_MS) / 1000,
          )
        }
        expect(control.exitCode).toBe(null)
        expect(await applyTo(scene, '--timeout', '5s')).toMatchObject({
          ends: expect.arrayContaining(['UnmountVolume pv-common: done', 'UnmountVolume scratch: done']),
        })
        expect(stuck()).toEqual(asked)
      } finally {
        abortConnections(`${directory}/fusectl`, fuse.connection, ...connectionsOf(user.pid))
        await fuse.kill()
        if (control.exitCode === null) await once(control, 'exit')
      }
    }))

  it('S36: the program of a kubelet that root runs in a container lies on a mount that hangs: no command asks for it', ({
    directory,
    skip,
  }) =>
    onBroken(directory, async (scene) => {
      const noBindfs = noProgram('bindfs')
      skip(noBindfs !== undefined, noBindfs)
      for (const name of ['bin', 'behind']) mkdirSync(`${directory}/${name}`)
      copyFileSync('/usr/bin/perl', `${directory}/behind/kubelet`)
      const bindfs = spawn('bindfs', ['-f', `${directory}/behind`, `${directory}/bin`], { stdio: 'inherit' })
      await until(() => existsSync(`${directory}/bin/kubelet`))
      await using user = await started('unshare', '-m', `${directory}/bin/kubelet`, '-e', '$| = 1; print 1; <STDIN>')
      bindfs.kill('SIGSTOP')
      const control = spawn('stat', ['-L', `/proc/${user.pid}/exe`], { stdio: 'ignore' })
      try {
        for (const args of [['plan'], ['status'], ['check', '--confirm', '0']]) await ends(scene, args)
        expect(control.exitCode).toBe(null)
      } finally {
        bindfs.kill('SIGCONT')
        await once(control, 'exit')
      }
    }))

  it.for(['plugins', 'plugins_registry', 'pods'])(
    'S36: %s, and a path that a pod names, are links that lead to a dead mount every other moment: no plan hangs',
    (name, { directory }) =>
      onBroken(directory, async (scene) => {
        const [own, named] = [`${scene.rootDir}/${name}`, `${directory}/named`]
        const elsewhere = `${directory}/elsewhere`
        mkdirSync(`${directory}/plain`)
        renameSync(own, elsewhere)
        symlinkSync(elsewhere, own)
        const volumes = [{ name: 'h', hostPath: { path: `${named}/below` } }]
        scene.api.put({
          ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', namespace: 'default', uid: 'p' } },
          ...{ spec: { nodeName: 'worker-1', containers: [], volumes }, status: { phase: 'Running' } },
        })
        const fuse = await startFuse(`${directory}/dead`)
        expect((await planOf(scene)).operations.filter(({ blocked }) => blocked === undefined)).toHaveLength(14)
        const swap = `$| = 1; my ($dead, %to) = @ARGV; for (my $n = 0; ; $n++) { for (keys %to) {
          symlink($n % 2 ? $dead : $to{$_}, "$_.new") && rename("$_.new", $_) or die $!; } print "ready\\n" if $n == 9; select(undef, undef, undef, 0.0002) }`
        await using _ = await started(
          'perl',
          '-e',
          swap,
          `${directory}/dead`,
          own,
          elsewhere,
          named,
          `${directory}/plain`,
        )
        fuse.stop()
        const control = spawn('sh', ['-c', `while :; do stat ${named}/below; done; : control`], {
          stdio: 'ignore',
          detached: true,
        })
        try {
          for (let n = 0; n < 10; n++) await ends(scene, ['plan', '--orphans'])
          expect(sh('pgrep', '-P', `${control.pid}`)).not.toBe('')
        } finally {
          process.kill(-(control.pid ?? 0), 'SIGKILL')
          fuse.resume()
          await fuse.kill()
        }
      }),
  )
})

describe('S39', () => {
  const mine = (script: string): string => `mount -t tmpfs t /mnt; cd /mnt; ${script}; echo ready; read end`
  const sockets = `my @s; for (1..17000) { socket(my $s, PF_UNIX, SOCK_DGRAM, 0) or die $!; bind($s, pack_sockaddr_un("s$ARGV[0].$_")) or die $!; push @s, $s }`
  const unused = `socket(my $s, PF_UNIX, SOCK_DGRAM, 0); bind($s, pack_sockaddr_un("unused")) or die $!`
  const overlay = 'mkdir l u w m; mount -t overlay -o lowerdir=/mnt/l,upperdir=/mnt/u,workdir=/mnt/w o m; mv l gone'

  it.for([
    { whose: 'of a user’s own', what: 'nothing but it', does: ':' },
    {
      ...{ whose: 'of a user’s own', what: 'a file open on a FUSE file system that was detached lazily' },
      does: `mkdir fuse; ${daemon('well', '/mnt/fuse')}; exec 8</mnt/fuse; umount -l fuse`,
    },
    { whose: 'of a user’s own', what: 'an overlay whose layer was renamed', does: overlay },
    {
      whose: 'control: of root',
      what: 'an overlay whose layer was renamed',
      does: overlay,
      kinds: '-m',
      isRoots: true,
    },
    {
      ...{ whose: 'of a user’s own', what: 'a namespace that a mount keeps' },
      // The kernel refuses one that was made on another processor and seems to be older.
      does: 'mount --make-private /mnt; touch k; until unshare --mount=k true 2>/dev/null; do :; done',
    },
    {
      ...{ whose: 'of a user’s own', what: '102,000 bound sockets' },
      // The standard input of what a shell starts in the background is /dev/null.
      does: `mkfifo all; exec 3<&0; for i in 1 2 3 4 5 6; do ${perl(sockets)} $i <&3 >all & done; head -n 6 all >/dev/null`,
    },
  ])(
    'S39: a mount namespace $whose with $what: all that is unmounted and removed here is done',
    ({ does, kinds = '-Urm', isRoots = false }, { directory }) =>
      onBroken(directory, async (scene) => {
        const pod = `${scene.rootDir}/pods/${scene.pods.db.uid}`
        // So that files on servers, and bound sockets, are asked for.
        await startFuse(`${pod}/volumes/kubernetes.io~nfs/v`)
        sh('sh', '-c', `cd "$0"; perl -MSocket -e '${unused}'`, `${pod}/volumes/kubernetes.io~empty-dir/scratch`)
        {
          await using user = await started('prlimit', '--nofile=20000', 'unshare', kinds, 'sh', '-c', mine(does))
          const { operations } = await planOf(scene)
          const blocked = operations.filter(({ blocked }) => blocked !== undefined)
          // What waits for it: the volumes whose mounts it has copies of, by a process that can be ended.
          for (const { kind, blocked: why } of blocked)
            if (!isRoots && why?.code !== 'Predecessor')
              expect([kind, why?.code, why?.users]).toEqual([
                'UnmountDevice',
                'HeldBy',
                [{ pid: user.pid, process: 'sh' }],
              ])
          const { ends } = await applyTo(scene)
          const undone = ends.filter((end) => !end.endsWith(': done'))
          expect(undone.filter((end) => !/^(?:UnmountDevice|DetachVolume) /.test(end)).length > 0).toBe(isRoots)
          expect(undone).toHaveLength(blocked.length)
          expect(existsSync(pod)).toBe(isRoots)
        }
        // Whoever waits waits for nobody else.
        expect(await applyTo(scene)).toMatchObject({ status: 0 })
      }),
  )
})
