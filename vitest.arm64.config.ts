import { defineConfig } from 'vitest/config'
import { makeMessages } from './scripts/proto.ts'
import { emulatedPool } from './test/package/emulated.ts'

makeMessages()

/** In what the machine has a say: numbers of devices, bytes and their order, modes and owners, what /proc and the kernel print. */
const OF_THE_MACHINE = [
  'test/block/*.test.ts',
  'test/volumes/content-bytes.test.ts',
  'test/rpc/grpc.test.ts',
  'test/node/{remove-in-place,write-atomically}.test.ts',
  'test/linux/{ownership-bits,covers,copies,linked-mounts,propagation,capabilities,pod-cgroups}.test.ts',
  'test/trust/{listeners,parse-json}.test.ts',
]

const EXECUTABLE = 'test/package/arm64.test.ts'

/**
 * The other machine, before a release: `npm run test:arm64`. Unit tests under Node.js for arm64, and the executable for it. With
 * VOLCTL_ARM64=all, any unit test can be named that starts no Node.js of its own, such as test/reconcile.
 */
export default defineConfig({
  test: {
    // Ten times as slow.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    env: { NO_COLOR: '1', TZ: 'UTC', LC_ALL: 'C.UTF-8' },
    projects: [
      {
        extends: true,
        test: {
          name: 'units',
          pool: await emulatedPool(),
          include: process.env.VOLCTL_ARM64 === 'all' ? ['test/**/*.test.ts'] : OF_THE_MACHINE,
          exclude: [EXECUTABLE],
          // One worker for all: it takes an emulator seconds to start one.
          isolate: false,
          fileParallelism: false,
        },
      },
      { extends: true, test: { name: 'executable', include: [EXECUTABLE] } },
    ],
  },
})
