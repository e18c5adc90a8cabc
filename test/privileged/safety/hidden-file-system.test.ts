/**
 * A whole node as in rules.test.ts. The file system that nothing shows holds back every detach on this machine, so that
 * nothing else may run meanwhile.
 */
import { describe, expect, it } from 'vitest'
import { loopDevicesWork } from '../../helpers/csi-driver/start.ts'
import { inNamespace } from '../../helpers/in-namespace.ts'
import { noBlockDevices } from '../../helpers/namespace.ts'

const WORKER = new URL('./rules.worker.ts', import.meta.url)

const noExt4 = noBlockDevices ?? (loopDevicesWork() ? undefined : 'there are no loop devices')

describe.skipIf(noExt4 !== undefined)(
  `a file system that no table shows${noExt4 === undefined ? '' : ` (${noExt4})`}`,
  () => {
    it('S20, S21: an ext4 that was detached lazily and is still open holds back every volume that it may be', async () => {
      const { held, free } = await inNamespace<Record<'held' | 'free', { status: number; ends: string[] }>>(
        WORKER,
        'S20',
      )
      expect(held.status).toBe(3)
      expect(held.ends.filter((end) => !end.endsWith(': done'))).toEqual([
        'DetachVolume pv-idle: blocked HeldBy',
        'DetachVolume vol-old: blocked Predecessor',
        'UnmountDevice vol-old: blocked HeldBy',
      ])
      // What has a device of its own is not held up.
      expect(held.ends).toContain('DetachVolume pv-batch: done')
      expect(free).toMatchObject({
        status: 0,
        ends: ['DetachVolume pv-idle: done', 'DetachVolume vol-old: done', 'UnmountDevice vol-old: done'],
      })
    })
  },
)
