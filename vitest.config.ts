import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Processes, not threads: tests change namespaces, signals and the environment.
    pool: 'forks',
    // Real parts (mounts, servers, whole processes) on a machine that may be busy.
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // A terminal, its colours and its width must not change what a view prints.
    env: { NO_COLOR: '1', TZ: 'UTC', LC_ALL: 'C.UTF-8' },
  },
})
