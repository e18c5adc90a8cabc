import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loopDevicesWork } from '../helpers/csi-driver/start.ts'

const root = process.getuid?.() === 0

function namespacesWork(): boolean {
  try {
    execFileSync('unshare', [root ? '-m' : '-Urm', 'true'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

test.for(['loop', 'tmpfs', 'bind'] as const)(
  'the test driver with %s really mounts and unmounts',
  { timeout: 60_000 },
  (backend, { skip }) => {
    skip(!namespacesWork(), 'this machine allows no mount namespace')
    skip(backend === 'loop' && !(root && loopDevicesWork()), 'loop devices need root and /dev/loop-control')
    const directory = mkdtempSync(join(tmpdir(), 'volctl-mounts-'))
    try {
      const script = join(import.meta.dirname, 'driver-round-trip.ts')
      const output = execFileSync('unshare', [root ? '-m' : '-Urm', process.execPath, script, backend, directory])
      expect(JSON.parse(output.toString())).toEqual({
        mounted: [1, 1, 1],
        shared: 'kept',
        readOnly: 'EROFS',
        inline: 1,
        ...(backend === 'loop' && { block: [true, true] }),
        busy: 'INTERNAL',
        unpublished: [1, false, false],
        unstaged: 0,
        again: 'kept',
        violations: [],
      })
    } finally {
      rmSync(directory, { recursive: true })
    }
  },
)
