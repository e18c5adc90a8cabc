/**
 * A root as a container has it on a machine that others use as well. It is an overlay; files of the host's disk are bound in,
 * as every container has them; sysfs shows disks whose mounts do not show. Others have an ext4 mounted, in a namespace outside
 * of the PID namespace, and a loop device on a file that has no name here; and a kubelet runs.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { loopDevicesWork } from './csi-driver/start.ts'
import { sweep, temporary } from './left-behind.ts'
import { noBlockDevices } from './namespace.ts'
import { LOOPS_OF_MACHINES } from './own-machine.ts'

const AS_ROOT = ['-m', '--propagation', 'private']

const OVERLAY = `cd "$1"; mount -t tmpfs tmpfs .; cd "$1"; mkdir upper work merged
  mount -t overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" overlay merged`

/** Why there can be no such root here; undefined: there can. */
export const noCrowd =
  noBlockDevices ??
  (loopDevicesWork() ? undefined : 'there are no loop devices') ??
  (spawnSync('unshare', [...AS_ROOT, 'sh', '-euc', OVERLAY, 'sh', '/mnt']).status === 0
    ? undefined
    : 'the root directory cannot be the lower layer of an overlay')

export interface CrowdedRoot extends AsyncDisposable {
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
  cp "$(command -v sleep)" /tmp/kubelet; /tmp/kubelet infinity &
  exec env TMPDIR=/tmp HOME=/tmp "$@"`

/** Arguments of setpriv(1) for a user that no file of the machine belongs to. */
export const ORDINARY = ['--reuid', '64123', '--regid', '64123', '--clear-groups']

export async function crowdedRoot(): Promise<CrowdedRoot> {
  const directory = temporary('volctl-crowd-')
  const others = await startOthers()
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
      others.stdin?.end()
      if (others.exitCode === null) await once(others, 'exit')
      sweep(directory)
    },
  }
}

async function startOthers(): Promise<ChildProcess> {
  const child = spawn('unshare', [...AS_ROOT, 'sh', '-euc', OTHERS], { stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = once(child, 'exit').then(() => Promise.reject(new Error('the others could not be set up')))
  ended.catch(() => undefined)
  await Promise.race([once(child.stdout, 'data'), ended])
  return child
}
