/** S32: only root's processes are believed. Real ones; more of them: privileged/trust/processes.test.ts. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, closeSync, copyFileSync, readdirSync, readlinkSync, rmSync } from 'node:fs'
import { expect, it } from 'vitest'
import {
  isRootsProgram,
  openNamespace,
  PinnedProcess,
  pin,
  whyNotHostsMounts,
  whyNotRoots,
} from '../../src/core/trust/processes.ts'
import { temporary } from '../helpers/left-behind.ts'
import { noRoot } from '../helpers/namespace.ts'
import { describeUnless } from '../privileged/describe-unless.ts'
import { type Holder, hold, STAYS } from '../privileged/holder.ts'

const HOLD = ['sh', '-c', STAYS] as const

/** Runs a command that says a line when it stands where it is to stand. */
async function standing<T>(
  command: readonly string[],
  use: (held: Holder) => T | Promise<T>,
  uid = 0,
  input = '',
): Promise<T> {
  await using held = await hold(command, { cwd: '/', uid, gid: uid, input })
  return await use(held)
}

const judged = ({ pid }: Holder) => {
  using process = new PinnedProcess(pid)
  return whyNotRoots(process)
}

describeUnless(noRoot, 'S32: whyNotRoots', () => {
  it("believes root's own process beside us", async () => {
    expect(await standing(HOLD, judged)).toBeUndefined()
  })

  it('does not believe what its name says of its user: a name may hold a carriage return, which ends no line', async () => {
    const named = ['sh', '-c', String.raw`printf '\rUid: 0 0 0 0' > /proc/$$/comm; ${STAYS}`]
    expect(await standing(named, judged, 65534)).toBe('runs as uid 65534')
  })

  it('does not believe a process that gave up a part of its rights: its real user may trace it', async () => {
    expect(await standing(['setpriv', '--ruid=65534', '--clear-groups', ...HOLD], judged)).toBe('runs as uid 65534')
  })

  it('does not believe a setuid program: sudo asks for a password as root, under any name that anybody gives it', async () => {
    const directory = temporary('volctl-setuid-')
    chmodSync(directory, 0o755)
    copyFileSync('/usr/bin/perl', `${directory}/kubelet`)
    chmodSync(`${directory}/kubelet`, 0o4755)
    const becomesRoot = [`${directory}/kubelet`, '-e', '$< = 0; $| = 1; print "ready\n"; <STDIN>']
    const [why, ofRoot] = [await standing(becomesRoot, judged, 65534), await standing(becomesRoot, judged)]
    rmSync(directory, { recursive: true })
    expect(why).toMatch(/^its program is setuid/)
    expect(ofRoot).toBeUndefined()
  })

  it('does not believe root of a container with processes of its own', async () => {
    const judgeChild = ({ pid }: Holder) => {
      using inside = new PinnedProcess(childOf(pid))
      return whyNotRoots(inside)
    }
    const command = ['unshare', '-m', '-p', '-f', '--mount-proc', '--kill-child', ...HOLD]
    expect(await standing(command, judgeChild)).toBe('runs in its own PID namespace')
  })
})

function childOf(pid: number): number {
  using parent = new PinnedProcess(pid)
  return Number(parent.text(`task/${pid}/children`).trim().split(' ')[0])
}

describeUnless(noRoot, 'S32: whyNotHostsMounts', () => {
  const judgedMounts = async ({ pid }: Holder) => {
    using process = new PinnedProcess(pid)
    return await whyNotHostsMounts(process)
  }

  it('does not believe one of a user, not even with a process of root in it', async () => {
    const users = ['unshare', '-U', '-r', '-m', ...HOLD]
    const foreign = "its mount namespace was not created by this host's root"
    const result = await standing(users, async (owner) => {
      const inside = ['nsenter', `--mount=/proc/${owner.pid}/ns/mnt`, ...HOLD]
      return await standing(inside, async (child) => [judged(child), await judgedMounts(child)])
    })
    expect(result).toEqual([undefined, foreign])
  })
})

it('PinnedProcess: is of one process: where that has ended, nothing of another one is read', async () => {
  const child = spawn('sleep', ['60'])
  await once(child, 'spawn')
  using process = new PinnedProcess(Number(child.pid))
  expect(process.isThere).toBe(true)
  expect(process.text('comm')).toBe('sleep\n')
  child.kill('SIGKILL')
  await once(child, 'exit')
  expect(process.isThere).toBe(false)
  expect(() => process.text('comm')).toThrow(/ESRCH|ENOENT/)
  expect(process.link('cwd')).toBeUndefined()
  expect(pin(Number(child.pid))).toBeUndefined()
})

describeUnless(noRoot, 'S32: isRootsProgram', () => {
  const KEEP = 'exec cat'
  const isCat = ({ pid }: Holder) => isRootsProgram(pid, 'cat')

  it.each([
    { who: "root's own", command: ['sh', '-c', KEEP], uid: 0, is: true },
    { who: "another user's", command: ['sh', '-c', KEEP], uid: 65534, is: false },
    {
      who: 'one of its name only',
      command: ['sh', '-c', 'echo cat > /proc/$$/comm; read l; echo ready; read l'],
      uid: 0,
      is: false,
    },
    { who: 'one in a mount namespace of its own', command: ['unshare', '-m', 'sh', '-c', KEEP], uid: 0, is: false },
  ])('$who: $is', async ({ command, uid, is }) => {
    expect(await standing(command, isCat, uid, 'it writes this back\n')).toBe(is)
  })
})

it('opens the mount namespace that was judged, and leaves nothing open of another one', () => {
  using own = new PinnedProcess(process.pid)
  const open = (): number => readdirSync('/proc/self/fd').length
  const before = open()
  closeSync(openNamespace(own, readlinkSync('/proc/self/ns/mnt')))
  for (let i = 0; i < 20; i++)
    expect(() => openNamespace(own, 'mnt:[1]')).toThrow(`the mount namespace of process ${process.pid} is gone`)
  expect(open()).toBeLessThan(before + 10)
})
