import { describe, expect, it } from 'vitest'
import { inSameNamespace } from '../../helpers/in-namespace.ts'
import { noBlockDevices } from '../../helpers/namespace.ts'

const WORKER = new URL('./fc.worker.ts', import.meta.url)

describe.skipIf(noBlockDevices !== undefined)(
  `FC on a real file system${noBlockDevices === undefined ? '' : ` (${noBlockDevices})`}`,
  () => {
    it('is found when the host has looked again, mounted, and goes with its pod (P80, P81)', async () => {
      expect(await inSameNamespace(WORKER, 'bothWays')).toEqual({
        states: ['done'],
        there: true,
        after: [],
        gone: ['UnmountVolume done', 'UnmountDevice done'],
        mounts: 0,
        left: 0,
        log: [
          'tee -- /sys/class/scsi_host/host20/scan',
          'blockdev --flushbufs /dev/DISK',
          'tee -- /sys/block/DISK/device/delete',
        ],
      })
    })
  },
)
