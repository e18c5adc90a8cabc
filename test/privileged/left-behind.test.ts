import { describe, expect, it } from 'vitest'
import { inSameNamespace } from '../helpers/in-namespace.ts'
import { noBlockDevices, noMounts } from '../helpers/namespace.ts'

const WORKER = new URL('./left-behind.worker.ts', import.meta.url)
const GLOBAL = 'plugins/kubernetes.io/flexvolume/v/d/mounts/data'
const REMOVED = ['blockdev --flushbufs /dev/DISK', 'tee -- /sys/block/DISK/device/delete']
const node = (rest: string) => `iscsiadm -m node -p 10.0.0.1:3260 -T iqn.2003-01.test:disk ${rest}`
const NOTHING = { wanted: [], mounts: 0, left: [] }

describe.skipIf(noBlockDevices !== undefined)(
  `what a kubelet set up${noBlockDevices === undefined ? '' : ` (${noBlockDevices})`}`,
  () => {
    it('of iSCSI is as it should be, and goes with its pod, session and all (P76)', async () => {
      expect(await inSameNamespace(WORKER, 'iscsi')).toEqual({
        ...NOTHING,
        gone: ['UnmountVolume done', 'UnmountDevice done'],
        log: [...REMOVED, node('-I default --logout'), node('-I default -o delete')],
      })
    })

    it('of iSCSI as raw block is unmapped, and logged out of (P84, P98, P99)', async () => {
      expect(await inSameNamespace(WORKER, 'iscsiBlock')).toEqual({
        ...NOTHING,
        gone: ['UnmapVolume done', 'UnmapDevice done'],
        log: [...REMOVED, node('-I default --logout'), node('-I default -o delete')],
      })
    })

    it('of FC is as it should be, and goes with its pod (P81)', async () => {
      expect(await inSameNamespace(WORKER, 'fc')).toEqual({
        ...NOTHING,
        gone: ['UnmountVolume done', 'UnmountDevice done'],
        log: REMOVED,
      })
    })
  },
)

describe.skipIf(noMounts !== undefined)(
  `what a flexVolume driver mounted${noMounts === undefined ? '' : ` (${noMounts})`}`,
  () => {
    it('for two pods goes by its driver, the global mount last (P86-P88)', async () => {
      expect(await inSameNamespace(WORKER, 'flex')).toEqual({
        ...NOTHING,
        gone: ['UnmountVolume done', 'UnmountVolume done', 'UnmountDevice done'],
        log: [expect.stringMatching(/^unmount /), expect.stringMatching(/^unmount /), `unmountdevice ${GLOBAL}`],
      })
    })
  },
)
