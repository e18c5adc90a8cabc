/**
 * Machines for the programs of a run that mount: each such program is alone on one, with processes, mounts, loop devices and
 * device files that no other sees, so that several can run at once, with kubelets, disks and volumes of the same names.
 *
 * volctl looks at every process, mount table and disk (S8, S9, S12, S20, S21). Namespaces part all of that but block devices.
 * A machine is a mount namespace with some loop devices that nobody else has, and without all others: they are not in its sysfs, and
 * who asks for a free one, be it losetup(8), mount(8) or a driver, gets one alone. A program gets a copy of it.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { closeSync, mkdirSync, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { noBlockDevices, ownProcArguments, unshareArguments } from './namespace.ts'
import { placesOfStrangers, withoutStrangers } from './strangers.ts'

/** In the environment of a run: the directory of its machines, each a file that who has it locks, with the process that keeps it. */
export const MACHINES = 'VOLCTL_TEST_MACHINES'

/** In the environment of what is on a machine already (machine-pool.ts): what it starts gets a copy of that one. */
export const ON_MACHINE = 'VOLCTL_TEST_ON_MACHINE'

/** More than there are programs at once. */
const COUNT = 8

/** So many for each machine, above those that all others are given. */
const LOOPS = 32
const FIRST_LOOP = 1024
/** Names of them all, as a pattern of the shell. */
export const LOOPS_OF_MACHINES = 'loop????'

/**
 * Takes the first set of loop devices that nobody has: by a lock on the directory of its first one in sysfs, which every
 * namespace and container shows, until this process ends. A partition that a killed run has left outlives its disk.
 */
const TAKE = `block=/sys/devices/virtual/block first=${FIRST_LOOP}
set_of() { seq $1 $(($1 + ${LOOPS - 1})); }
is_free() { for each in $(set_of $first); do [ ! -e $block/loop$each/loop ] && [ ! -e $block/loop$each/loop\${each}p1 ] || return 1; done; }
make_set() { at=$(mktemp -d); for each in $(set_of $first); do mknod $at/loop b 7 $each; : <$at/loop; rm $at/loop; done; rmdir $at; }
while :; do
  [ -e $block/loop$((first + ${LOOPS - 1})) ] || make_set
  exec 9<$block/loop$first
  ! flock -n 9 || ! is_free || break
  first=$((first + ${LOOPS}))
done`

/**
 * Hides all others in sysfs. Without loop-control, programs look for a free one in /dev, from the lowest number on: those below
 * are no devices any more.
 */
const HIDE = `mount -t tmpfs -o mode=755 own /mnt; mkdir /mnt/block; : >/mnt/none
mount --rbind $block /mnt/block; mount -t tmpfs -o mode=755 own $block
for each in /mnt/block/*; do
  name=\${each##*/} number=\${each##*/loop}
  case $name in loop*) [ $number -ge $first ] && [ $number -lt $((first + ${LOOPS})) ] || continue ;; esac
  mkdir $block/$name; mount --bind $each $block/$name
done
mkdir /mnt/links
find /sys/block -mindepth 1 -maxdepth 1 ! -xtype l -exec cp -P -t /mnt/links {} +
mount --bind /mnt/links /sys/block
mount --bind /mnt/none /dev/loop-control
for each in /dev/loop[0-9]*; do
  number=\${each#/dev/loop}
  case $number in *p*) ;; *) [ $number -ge $first ] || mount --bind /mnt/none $each ;; esac
done
umount -l /mnt`

/**
 * Makes machines possible: each is made when it is needed first, and kept until the run has ended, however it ends.
 *
 * @param directory the run's own
 * @returns ends them
 */
export function allowMachines(directory: string): () => void {
  if (noBlockDevices !== undefined) return () => undefined
  const machines = join(directory, 'machines')
  mkdirSync(machines)
  for (let number = 0; number < COUNT; number++) writeFileSync(join(machines, `${number}`), '')
  const strangers = placesOfStrangers().map((place) => `mount -t tmpfs -o ro,size=4k stranger '${place}'`)
  const keep = ['set -eu', TAKE, ...strangers, HIDE, 'echo $$ >"$1"; exec cat', '']
  writeFileSync(join(machines, 'keep'), keep.join('\n'))
  // Who keeps one reads until nobody has this open for writing.
  execFileSync('mkfifo', [join(machines, 'run')])
  const run = openSync(join(machines, 'run'), 'r+')
  process.env[MACHINES] = machines
  return () => {
    delete process.env[MACHINES]
    closeSync(run)
  }
}

/**
 * Waits for a machine that is free, and has it until unshare(1) and the program end. What keeps it has nothing of the program's,
 * not even when both are ended by one signal.
 */
const ENTER = `at=$${MACHINES}
keep() {
  setsid unshare ${unshareArguments.join(' ')} sh $at/keep $1 <$at/run >$1.said 2>&1 3<&- 4<&- 5<&- 6<&- 9<&- &
  until [ -s $1 ]; do kill -0 $! 2>/dev/null || { cat $1.said >&2; exit 1; }; sleep 0.02; done
}
while :; do
  for each in $at/[0-9]; do
    exec 9<>$each
    if flock -n 9; then
      [ -s $each ] || keep $each
      exec nsenter --target $(cat $each) --mount --wd -- unshare "$@"
    fi
  done
  sleep 0.1
done`

/**
 * The program's own lock, until its last process has ended. The other one is unshare(1)'s: of what has it open volctl would ask stat(1),
 * since it is on a mount that no table here shows.
 */
const ALONE = ['sh', '-euc', 'exec 9>"$(readlink /proc/self/fd/9).program"; flock -w 30 9 || :; exec "$@"', 'sh']

/** The command that runs a program on its own machine, as its first process. */
export function onOwnMachine(program: readonly string[]): [string, string[]] {
  if (process.env[ON_MACHINE] !== undefined) return ['unshare', [...namespaces, ...program]]
  if (process.env[MACHINES] !== undefined && noBlockDevices === undefined)
    return ['sh', ['-euc', ENTER, 'sh', ...namespaces, ...ALONE, ...program]]
  return ['unshare', [...namespaces, ...withoutStrangers(program)]]
}

const withProc = [...unshareArguments, ...ownProcArguments]
/** Not everyone who may make a mount namespace may mount a /proc in it. */
const namespaces = spawnSync('unshare', [...withProc, 'true']).status === 0 ? withProc : unshareArguments
