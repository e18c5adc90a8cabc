import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loopDevicesWork } from '../helpers/csi-driver/start.ts'
import { sweep, temporary } from '../helpers/left-behind.ts'
import { noMounts, noRoot } from '../helpers/namespace.ts'
import { onOwnMachine } from '../helpers/own-machine.ts'

test.for(['loop', 'tmpfs', 'bind'] as const)(
  'the test driver with %s really mounts and unmounts',
  (backend, { skip }) => {
    skip(noMounts !== undefined, noMounts)
    skip(
      backend === 'loop' && !(noRoot === undefined && loopDevicesWork()),
      'loop devices need root and /dev/loop-control',
    )
    const directory = temporary('volctl-mounts-')
    try {
      const script = join(import.meta.dirname, 'driver-round-trip.ts')
      const output = execFileSync(...onOwnMachine([process.execPath, script, backend, directory]))
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
      sweep(directory)
    }
  },
)
