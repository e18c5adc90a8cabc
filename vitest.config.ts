import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { noSideBySide } from './test/helpers/namespace.ts'

const withMounts = ['e2e', 'privileged', 'csi', 'package'].map((room) => `test/${room}/**/*.test.ts`)

/** A module that a test replaces must not have been loaded by the files before it. */
const replacing = ['test/cluster/apply/apply-cost.test.ts']

/**
 * Files that may run beside any other: each case has directories, processes and a mount namespace of its own, mounts no disk,
 * and takes none back. Where something is called kubelet or containerd, or volctl is to find it, that is in a PID namespace
 * of its own.
 */
const apart = [
  'test/csi/{csi-node-client,discover-csi-sockets,messages,versions}.test.ts',
  'test/e2e/damaged-snapshot.test.ts',
  // What --cluster does, it does by the API alone.
  'test/e2e/cluster/*.test.ts',
  // Roots in which nothing is mounted but /proc and a /tmp, or what a container has; and nothing is mounted at all.
  'test/package/{arm64,executable,newcomer,packages}.test.ts',
  'test/privileged/{dead-mounts,deleting,hostile-content,killing,sub-paths,unmounting}.test.ts',
  'test/privileged/set-up/{atomic,empty-dir,host-path,nfs,ownership-apart}.test.ts',
  'test/privileged/trust/{endless-input,environment,fake-kubelet,fake-runtime,insecure-api,journal-files}.test.ts',
  'test/privileged/trust/{kubeconfig-owner,re-entry,untrusted}.test.ts',
]

/**
 * Files with disks, of which several may run at once. Each case has directories, servers and a mount namespace of
 * its own, and a JSON file that says which kubelet and pods there are. Beyond them volctl looks at every process, mount
 * table and disk of the machine, but asks only these questions:
 *
 * - Is something mounted on this place, or does somebody hold it? A place is in a file system that is mounted just now,
 *   whose number nobody else has meanwhile.
 * - Is the device that a volume was unmounted from used again, before its detach (S21)? Of a loop device that was given
 *   back, and is another test's a moment later, the kernel's sequence number says so. An anonymous number (tmpfs, FUSE)
 *   has none, so that nothing on one is detached here.
 * - Is there a loop device on a map of this block volume, under any root directory? Volumes of several tests have one
 *   name; on which device a loop was made says whose it is.
 * - Is there an ext4 or xfs that no table shows? Another test's, while it is being mounted or unmounted, for some
 *   milliseconds; volctl looks ten times in a second.
 *
 * All others run one by one, alone: whole scenes, which have volumes of the same names, each in use elsewhere to another (S8),
 * and loop devices whose files no other may find; they look for kubelets and runtimes, hide a file system for long, stand in a PID
 * or user namespace that does not show whose a disk is, end FUSE connections, make tens of thousands of mounts, or are races
 * that need more than one core; or they take back, over and over (csi-codes) or from a device that nobody can name, what was
 * staged, which a file system of another test that no table shows for a moment too long may be (S20).
 */
const sideBySide = [
  'test/csi/test-driver.test.ts',
  'test/privileged/set-up/flex.test.ts',
  'test/privileged/trust/output-files.test.ts',
  ...(noSideBySide === undefined
    ? [
        'test/csi/driver-mounts.test.ts',
        'test/privileged/layouts/{csi-nested,half-way,set-up-nested}.test.ts',
        'test/privileged/set-up/{csi,local}.test.ts',
      ]
    : []),
]

// What hangs is ended by these alone; a machine on which all else is busy takes ten times as long as one that is idle.
const patient = { testTimeout: 180_000, hookTimeout: 600_000 }

// Vitest leaves one core to itself, which is half of a small machine; the tests wait for processes and deadlines much of the time.
const everyCore = availableParallelism() + 1

export default defineConfig({
  test: {
    // Processes, not threads: tests change namespaces, signals and the environment.
    pool: 'forks',
    globalSetup: 'test/helpers/programs.setup.ts',
    // Real parts (servers, whole processes) on a machine that may be busy.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
    // A terminal, its colours and its width must not change what a view prints.
    env: { NO_COLOR: '1', TZ: 'UTC', LC_ALL: 'C.UTF-8' },
    projects: [
      {
        extends: true,
        test: {
          name: 'parts',
          include: ['test/**/*.test.ts'],
          exclude: [...withMounts, ...replacing],
          maxWorkers: everyCore,
          sequence: { groupOrder: 0 },
          // Three hundred files, many of which take less time than loading what they test anew.
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          ...patient,
          name: 'apart',
          include: [...apart, ...replacing],
          maxWorkers: everyCore,
          // With the parts, which mount nothing and want the cores that these leave alone while they wait.
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          ...patient,
          name: 'side-by-side',
          include: sideBySide,
          maxWorkers: everyCore,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          ...patient,
          name: 'alone',
          include: withMounts,
          exclude: [...apart, ...sideBySide],
          fileParallelism: false,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
})
