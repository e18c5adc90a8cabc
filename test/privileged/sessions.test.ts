import { describe, expect, it } from 'vitest'
import { inNamespace } from '../helpers/in-namespace.ts'
import { noBlockDevices, noMounts } from '../helpers/namespace.ts'

const WORKER = new URL('./workers/sessions.ts', import.meta.url)

describe.skipIf(noMounts !== undefined)(`flexVolume drivers${noMounts === undefined ? '' : ` (${noMounts})`}`, () => {
  it('are run, believed only as far as the mount table goes, and replaced by umount where they cannot (P87)', async () => {
    expect(await inNamespace(WORKER, 'flex')).toEqual({
      states: { good: 'done', unable: 'done', garbage: 'failed DriverFailed', absent: 'failed CommandFailed' },
      said: 'Usage',
      left: 2,
      log: true,
    })
  })
})

describe.skipIf(noBlockDevices !== undefined)(
  `iSCSI sessions${noBlockDevices === undefined ? '' : ` (${noBlockDevices})`}`,
  () => {
    it('an opener is found without O_EXCL and under any name, in any mount namespace (S25)', async () => {
      expect(await inNamespace(WORKER, 'openers')).toEqual({
        found: true,
        ours: [true, true],
        others: 0,
      })
    })

    it('an apply that is killed between the unmount and the log-out is finished by the next (R837)', async () => {
      const release = ['removeIscsiDisks', 'iscsiLogout', 'unlink', 'rmdir']
      expect(await inNamespace(WORKER, 'killed')).toEqual({
        first: ['umount', ...release],
        signal: 'SIGKILL',
        between: { mounted: 0, record: true },
        second: release,
        states: ['done'],
        exists: false,
        log: [
          'blockdev --flushbufs /dev/sdb',
          'blockdev --flushbufs /dev/sdb',
          'tee -- /sys/block/sdb/device/delete',
          'iscsiadm -m node -p san-1:3260 -T iqn.2003-01.test:disk -I default --logout',
          'iscsiadm -m node -p san-1:3260 -T iqn.2003-01.test:disk -I default -o delete',
        ],
        left: 0,
      })
    })
  },
)
