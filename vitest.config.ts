import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const withMounts = ['e2e', 'privileged', 'csi', 'package'].map((room) => `test/${room}/**/*.test.ts`)

/** A module that a test replaces must not have been loaded by the files before it. */
const replacing = ['test/cluster/apply/apply-cost.test.ts']

/**
 * When all others have ended, one for each core: races that need more than one, what takes most of one against deadlines, and the demo,
 * which in a user namespace cannot know whose a file system of another test is, and leaves its disk attached.
 */
const alone = [
  'test/privileged/swapping.test.ts',
  'test/privileged/safety/mount-storm.test.ts',
  'test/privileged/trust/hostile.test.ts',
  'test/e2e/demo.test.ts',
]

/** Before a release: `npm run test:arm64`. */
const emulated = ['test/package/arm64.test.ts']

/** What takes longest, begun first: whoever ends last should not have begun late. All others by their size, the larger first. */
const longest = ['package/newcomer', 'safety/rules', 'trust/endless-input', 'trust/untrusted']

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => {
      const at = longest.findIndex((each) => moduleId.endsWith(`/${each}.test.ts`))
      return at === -1 ? longest.length : at
    }
    return (await super.sort(files)).toSorted((one, other) => place(one) - place(other))
  }
}

// What hangs is ended by these alone; a machine on which all else is busy takes ten times as long as one that is idle.
const patient = { testTimeout: 600_000, hookTimeout: 600_000 }

// Vitest leaves one core to itself, which is half of a small machine; the tests wait for processes and deadlines much of the time.
const maxWorkers = availableParallelism() + 2

export default defineConfig({
  test: {
    // Processes, not threads: tests change namespaces, signals and the environment.
    pool: 'forks',
    reporters: ['default', './test/helpers/left-out.reporter.ts'],
    globalSetup: 'test/helpers/programs.setup.ts',
    setupFiles: ['test/helpers/plain-environment.setup.ts', 'test/helpers/file-end.setup.ts'],
    // Real parts (servers, whole processes) on a machine that may be busy.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
    sequence: { sequencer: LongestFirst },
    // A terminal, its colours and its width must not change what a view prints.
    env: { NO_COLOR: '1', TZ: 'UTC', LC_ALL: 'C.UTF-8' },
    projects: [
      {
        extends: true,
        test: {
          ...patient,
          // With real mounts, beside each other: each case has a machine of its own (test/helpers/own-machine.ts).
          name: 'machines',
          include: [...withMounts, ...replacing],
          exclude: [...alone, ...emulated],
          maxWorkers,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'parts',
          include: ['test/**/*.test.ts'],
          exclude: [...withMounts, ...replacing],
          maxWorkers,
          sequence: { groupOrder: 0 },
          // Three hundred files, many of which take less time than loading what they test anew.
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          ...patient,
          name: 'alone',
          include: alone,
          maxWorkers: availableParallelism(),
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
