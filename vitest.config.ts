import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { machines } from './test/helpers/machine-pool.ts'

/** With real mounts: each file has a machine of its own (test/helpers/machine-pool.ts). */
const withMounts = ['e2e', 'privileged', 'csi', 'package']

/** A module that a test replaces must not have been loaded by the files before it. */
const replacing = ['test/apply/cluster/apply-cost.test.ts']

/**
 * When all others have ended, one for each core: the demo, which in a user namespace cannot know whose a file system of another test
 * is, and leaves its disk attached.
 */
const alone = ['test/e2e/demo.test.ts']

/** What is slow and rarely broken: `npm run test:long`. Races among them need more than one core, so they have one each. */
const long = 'test/**/*.long.test.ts'

/** Makes a machine that is crowded, and on it machines of its own: it is on none. */
const crowded = ['test/e2e/crowded.long.test.ts']

/** Before a release: `npm run test:arm64`. */
const emulated = ['test/package/arm64.test.ts']

/** By `--exclude`, which vitest itself applies to no project. */
const leftOut = process.argv.filter((_, at, words) => words[at - 1] === '--exclude')

// What hangs is ended by these alone; a machine on which all else is busy takes ten times as long as one that is idle.
const patient = { testTimeout: 600_000, hookTimeout: 600_000 }

// Vitest leaves one core to itself, which is half of a small machine; the tests wait for processes and deadlines much of the time.
const maxWorkers = availableParallelism() + 2

const mounting = { ...patient, pool: machines, maxWorkers }

export default defineConfig({
  test: {
    // Processes, not threads: tests change namespaces, signals and the environment.
    pool: 'forks',
    reporters: ['default', './test/helpers/left-out.reporter.ts'],
    globalSetup: 'test/helpers/programs.setup.ts',
    setupFiles: ['test/helpers/plain-environment.setup.ts', 'test/helpers/each-file.setup.ts'],
    // Real parts (servers, whole processes) on a machine that may be busy.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
    // A terminal, its colours and its width must not change what a view prints.
    env: { NO_COLOR: '1', TZ: 'UTC', LC_ALL: 'C.UTF-8' },
    projects: [
      {
        extends: true,
        test: {
          ...mounting,
          name: 'machines',
          include: [`test/{${withMounts}}/**/*.test.ts`, ...replacing],
          exclude: [...alone, ...emulated, ...leftOut, long],
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'parts',
          include: ['test/**/*.test.ts'],
          exclude: [`test/{${withMounts}}/**`, ...replacing, ...leftOut, long],
          maxWorkers,
          sequence: { groupOrder: 0 },
          // Three hundred files, many of which take less time than loading what they test anew.
          isolate: false,
        },
      },
      {
        extends: true,
        test: { ...mounting, name: 'alone', include: alone, sequence: { groupOrder: 1 } },
      },
      {
        extends: true,
        test: {
          ...mounting,
          name: 'long',
          include: [long],
          exclude: [...crowded, ...leftOut],
          maxWorkers: availableParallelism(),
          sequence: { groupOrder: 2 },
        },
      },
      {
        extends: true,
        test: { ...patient, name: 'long-crowded', include: crowded, sequence: { groupOrder: 3 } },
      },
    ],
  },
})
