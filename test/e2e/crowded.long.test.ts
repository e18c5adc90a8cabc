/**
 * The demo and the tests beside what others have on this machine: they know what was there before they began, and pass. What
 * is alone in a crowd is volctl's own business (S20, S21) and stands in the tests of devices.
 */
import { execFile, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { loopDevicesWork } from '../helpers/csi-driver/start.ts'
import { sweep, temporary } from '../helpers/left-behind.ts'
import { noBlockDevices } from '../helpers/namespace.ts'
import { LOOPS_OF_MACHINES, MACHINES, ON_MACHINE } from '../helpers/own-machine.ts'
import { BUNDLES } from '../helpers/programs.ts'
import { describeUnless } from '../privileged/describe-unless.ts'
import { hold } from '../privileged/holder.ts'

const AS_ROOT = ['-m', '--propagation', 'private']

const OVERLAY = `cd "$1"; mount -t tmpfs tmpfs .; cd "$1"; mkdir upper work merged
  mount -t overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" overlay merged`

/** Why there can be no such root here; undefined: there can. */
const noCrowd =
  noBlockDevices ??
  (loopDevicesWork() ? undefined : 'there are no loop devices') ??
  (spawnSync('unshare', [...AS_ROOT, 'sh', '-euc', OVERLAY, 'sh', '/mnt']).status === 0
    ? undefined
    : 'the root directory cannot be the lower layer of an overlay')

interface CrowdedRoot extends AsyncDisposable {
  /**
   * The command line that runs a command there, with its own PID namespace and /proc, and an empty /tmp. It stands in the checkout,
   * which is in /checkout: where it is here, only root may be able to enter.
   */
  enter(command: readonly string[], user?: 'root' | 'ordinary'): readonly string[]
}

/** On files that are nobody's temporary ones: those would be taken for the tests' own. */
const OTHERS = `mount -t tmpfs others /mnt; cd /mnt; mkdir seen; truncate -s 16M disk raw; mkfs.ext4 -q disk
  mount -o loop disk seen; loop=$(losetup --find --show raw); echo ready; read -r _ || :; losetup --detach "$loop"`

const INSIDE = `here=$PWD; ${OVERLAY}; cd merged; without=$2; shift 2
  for each in dev sys; do mount --rbind "/$each" "$each"; done
  mount -t proc proc proc; mount -t tmpfs -o mode=1777 tmpfs tmp; mkdir tmp/host
  block=sys/devices/virtual/block
  if [ -n "$without" ]; then
    mkdir tmp/block; mount --rbind $block tmp/block; mount -t tmpfs tmpfs $block
    for each in tmp/block/*; do
      name=\${each##*/}
      case $name in $without) ;; *) mkdir $block/$name; mount --bind $each $block/$name ;; esac
    done
    umount -l tmp/block; rmdir tmp/block
  fi
  for each in hosts resolv.conf hostname; do ! [ -f "/etc/$each" ] || mount --bind "/etc/$each" "etc/$each"; done
  pivot_root . tmp/host
  mkdir /checkout; mount --bind "/tmp/host$here" /checkout; cd /checkout
  umount -l /tmp/host; rmdir /tmp/host
  cp "$(command -v sleep)" /tmp/kubelet; /tmp/kubelet infinity & unshare -m /tmp/kubelet infinity & unshare -mpf /tmp/kubelet infinity &
  exec env TMPDIR=/tmp HOME=/tmp "$@"`

/** Arguments of setpriv(1) for a user that no file of the machine belongs to. */
const ORDINARY = ['--reuid', '64123', '--regid', '64123', '--clear-groups']

async function crowdedRoot(): Promise<CrowdedRoot> {
  const directory = temporary('volctl-crowd-')
  const { child } = await hold(['unshare', ...AS_ROOT, 'sh', '-euc', OTHERS])
  const root = join(directory, 'root')
  mkdirSync(root)
  return {
    enter: (command, user = 'root') => {
      const become = user === 'root' ? [] : ['setpriv', ...ORDINARY]
      const namespaces = [...AS_ROOT, '-p', '-f', '--kill-child']
      // Root's programs part themselves from other tests, where volctl must not see the disks of these; a user's cannot.
      const without = user === 'root' ? '' : LOOPS_OF_MACHINES
      return ['unshare', ...namespaces, 'sh', '-euc', INSIDE, 'sh', root, without, ...become, ...command]
    },
    [Symbol.asyncDispose]: async () => {
      child.stdin.end()
      if (child.exitCode === null) await once(child, 'exit')
      sweep(directory)
    },
  }
}

const ROOT = join(import.meta.dirname, '..', '..')
const NODE = relative(ROOT, process.execPath)
const DEMO = [NODE, '--no-warnings', 'scripts/demo.ts']
// The checkout is not the ordinary user's: no configuration is bundled into it.
const VITEST = [NODE, 'node_modules/vitest/vitest.mjs', 'run', '--configLoader', 'native']

/** As an ordinary user, all is in a user namespace. */
const noUserNamespace = spawnSync('setpriv', [...ORDINARY, 'unshare', '-U', '-r', '-m', 'true']).status !== 0

/** Each with a part of the tests that would fail there, chosen for the little time that it takes. */
const USERS = [
  { user: 'root', part: 'privileged/safety/hidden-file-system', cannot: false },
  { user: 'ordinary', part: 'e2e/waiting', cannot: noUserNamespace },
] as const

async function run(command: readonly string[]): Promise<{ status: unknown; text: string }> {
  const [file = '', ...args] = command
  // A run of its own has bundles and machines of its own, and knows anew what was there before it. The executable of CI lies where only
  // root may be able to enter.
  const { [BUNDLES]: _, [MACHINES]: __, [ON_MACHINE]: ___, VITEST: ____, VOLCTL_PROGRAM: _____, ...env } = process.env
  const child = promisify(execFile)(file, args, { cwd: ROOT, env, maxBuffer: 1 << 26 })
  child.child.stdin?.end()
  try {
    const { stdout, stderr } = await child
    return { status: 0, text: stdout + stderr }
  } catch (error) {
    const { code, stdout, stderr } = error as { code: unknown; stdout: string; stderr: string }
    return { status: code, text: stdout + stderr }
  }
}

describeUnless(noCrowd, "in a container-like root, beside others' disks", () => {
  it.for(USERS)('the demo repairs its node: $user user', async ({ user, cannot }, { skip }) => {
    skip(cannot, 'this machine allows no user namespaces')
    await using crowd = await crowdedRoot()
    const { status, text } = await run(crowd.enter(DEMO, user))
    expect(status, text).toBe(0)
    expect(text).toContain('The content of every volume is unchanged.')
  })

  it.for(USERS)('the tests $part pass: $user user', async ({ user, part, cannot }, { skip }) => {
    skip(cannot, 'this machine allows no user namespaces')
    await using crowd = await crowdedRoot()
    const { status, text } = await run(crowd.enter([...VITEST, `test/${part}.test.ts`], user))
    expect(status, text).toBe(0)
  })
})
