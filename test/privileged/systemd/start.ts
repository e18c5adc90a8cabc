/**
 * A real systemd as process 1 of a new PID namespace, with its own mount namespace, cgroup and /proc: for
 * what systemctl(1) shows about units. It runs only the units that a test writes, and ends with its starter.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { noRoot } from '../../helpers/namespace.ts'
import { sh } from '../../helpers/scenario.ts'

const SYSTEMD = '/usr/lib/systemd/systemd'

/** Why no systemd can be started here; undefined: it can. */
export const noSystemd = noRoot ?? (existsSync(SYSTEMD) ? undefined : 'there is no systemd')

/** Where packages install their units: an administrator's take precedence, for example to mask one. */
export const UNITS = '/usr/local/lib/systemd/system'

export type TestSystemd = Awaited<ReturnType<typeof startSystemd>>

/**
 * Everything below /run and /etc/systemd must already be the caller's own: systemd and the caller share it.
 *
 * @param directory of the caller's own, for the cgroup's mount
 * @param again after an earlier one has ended, as after a reboot: units and what is enabled are still there
 * @throws Error with systemd's output, if systemd does not start
 */
export async function startSystemd(directory: string, again = false) {
  const cgroup = makeCgroup(`${directory}/cgroup${again ? '-again' : ''}`)
  if (again) rmSync('/run/systemd', { recursive: true, force: true })
  else sh('mount', '-t', 'tmpfs', '-o', 'mode=755', 'tmpfs', '/usr/local/lib')
  mkdirSync(UNITS, { recursive: true })
  // What timers and services come after, without anything that a distribution starts with it.
  for (const target of ['test', 'sysinit', 'basic', 'shutdown'])
    writeFileSync(`${UNITS}/${target}.target`, '[Unit]\nDefaultDependencies=no\n')
  const child = spawn('sh', ['-c', BOOT, 'sh', cgroup.path, cgroup.options, SYSTEMD], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, container: 'volctl-test' },
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (text) => {
      said += text
    })
  }
  let one: number | undefined
  const stop = async (): Promise<void> => {
    await end(child, one)
    removeCgroup(cgroup.path)
  }
  try {
    const pid = await firstChild(child, () => said)
    one = pid
    const enter = ['-t', String(pid), '-m', '-p', '-C', '--']
    const inside = ['nsenter', ...enter]
    const ask = (args: readonly string[]) =>
      spawnSync(inside[0] as string, [...enter, 'systemctl', ...args], { encoding: 'utf8' })
    for (;;) {
      if (ask(['is-active', 'test.target']).stdout.trim() === 'active') break
      if (child.exitCode !== null) throw new Error(`systemd ended: ${said}`)
      await sleep(10)
    }
    const systemctl = (...args: readonly string[]): string => {
      const { status, stdout, stderr } = ask(args)
      if (status !== 0) throw new Error(`systemctl ${args.join(' ')}: ${stderr}`)
      return stdout.trim()
    }
    return {
      /** The words before a command that run it in systemd's namespaces. */
      inside,
      systemctl,
      /** Writes a unit into UNITS, and has systemd read it. */
      unit: (name: string, text: string) => {
        writeFileSync(`${UNITS}/${name}`, text)
        systemctl('daemon-reload')
      },
      /** Waits until a property of the kubelet's unit has a value. */
      until: async (property: string, value: string) => {
        while (systemctl('show', '--value', `--property=${property}`, 'kubelet.service') !== value) await sleep(10)
      },
      [Symbol.asyncDispose]: stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/**
 * One at a time on a machine, whoever runs tests there: of two that share the hierarchy of cgroups, one may take its own unit
 * that has ended for one that has not.
 *
 * Hides the machine's own units from systemd: generators, and every unit that a test did not ask for. What a distribution starts at
 * boot empties /tmp and sets kernel parameters of the whole machine.
 */
const BOOT = `
set -e
exec 9<"\${1%/*}"
flock 9
echo $$ > "$1/cgroup.procs"
exec unshare --pid --fork --kill-child --mount --cgroup --mount-proc sh -c '
  set -e
  for covered in /sys/fs/cgroup /usr/lib/systemd/system-generators /usr/lib/systemd/system /lib/systemd/system; do
    if [ -d "$covered" ]; then mount -t tmpfs tmpfs "$covered"; fi
  done
  if [ "$1" = cgroup2 ]; then
    mount -t cgroup2 cgroup2 /sys/fs/cgroup
  else
    mkdir /sys/fs/cgroup/systemd
    mount -t cgroup -o "$1" cgroup /sys/fs/cgroup/systemd
  fi
  exec "$2" --system --unit=test.target --log-target=console --show-status=no
' sh "$2" "$3"
`

/** A separate cgroup, in systemd's hierarchy, or in the only one. @returns options of the mount: "cgroup2" if the machine has only that */
function makeCgroup(mountPoint: string) {
  mkdirSync(mountPoint)
  const named = 'none,name=systemd'
  const isOnly = spawnSync('mount', ['-t', 'cgroup', '-o', named, 'cgroup', mountPoint]).status !== 0
  if (isOnly) sh('mount', '-t', 'cgroup2', 'cgroup2', mountPoint)
  const path = `${mountPoint}/volctl-test-${process.pid}-${Date.now()}`
  mkdirSync(path)
  return { path, options: isOnly ? 'cgroup2' : named }
}

function removeCgroup(path: string): void {
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    if (entry.isDirectory()) removeCgroup(`${path}/${entry.name}`)
  }
  rmdirSync(path)
}

/** The process that is 1 inside: unshare(1) waits for it. */
async function firstChild(child: ChildProcess, said: () => string): Promise<number> {
  for (;;) {
    const pid = readdirSync('/proc').find(
      (name) => statusOf(name).startsWith('Name:\tsystemd\n') && parentOf(name) === child.pid,
    )
    if (pid !== undefined) return Number(pid)
    if (child.exitCode !== null) throw new Error(`systemd did not start: ${said()}`)
    await sleep(50)
  }
}

function statusOf(name: string): string {
  try {
    return /^\d+$/.test(name) ? readFileSync(`/proc/${name}/status`, 'utf8') : ''
  } catch {
    return ''
  }
}

function parentOf(name: string): number {
  return Number(/^PPid:\s+(\d+)$/m.exec(statusOf(name))?.[1])
}

/** Ends its first process, which unshare(1) reaps: all others are gone by then. */
async function end(child: ChildProcess, first: number | undefined): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'close')
  if (first === undefined) child.kill('SIGKILL')
  else process.kill(first, 'SIGKILL')
  await ended
}
