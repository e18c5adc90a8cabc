import { defineConfig } from 'vitest/config'

// Real mounts, loop devices and whole nodes. A device number that one test gives back is another's a moment later, and
// volctl would rightly take it for a use of the volume that it is about to detach: these files run one after another.
const onTheMachine = ['test/e2e/**/*.test.ts', 'test/privileged/**/*.test.ts', 'test/csi/**/*.test.ts']

export default defineConfig({
  test: {
    // Processes, not threads: tests change namespaces, signals and the environment.
    pool: 'forks',
    globalSetup: 'test/helpers/programs.setup.ts',
    // Real parts (mounts, servers, whole processes) on a machine that may be busy.
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // A terminal, its colours and its width must not change what a view prints.
    env: { NO_COLOR: '1', TZ: 'UTC', LC_ALL: 'C.UTF-8' },
    projects: [
      {
        extends: true,
        test: { name: 'parts', include: ['test/**/*.test.ts'], exclude: onTheMachine, sequence: { groupOrder: 0 } },
      },
      {
        extends: true,
        test: { name: 'machine', include: onTheMachine, fileParallelism: false, sequence: { groupOrder: 1 } },
      },
    ],
  },
})
