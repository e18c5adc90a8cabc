import { describe, expect, it } from 'vitest'
import { inSameNamespace } from '../../helpers/in-namespace.ts'
import { noBlockDevices } from '../../helpers/namespace.ts'

const WORKER = new URL('./iscsi.worker.ts', import.meta.url)
const NOTHING_LEFT = { sessions: [], mounts: 0, left: [] }
const node = (rest: string) => `iscsiadm -m node -p 10.0.0.1:3260 -T iqn.2003-01.test:disk ${rest}`
const discovery = (rest: string) => `iscsiadm -m discoverydb -t sendtargets -p 10.0.0.1:3260 -I default ${rest}`

describe.skipIf(noBlockDevices !== undefined)(
  `iSCSI on a real file system${noBlockDevices === undefined ? '' : ` (${noBlockDevices})`}`,
  () => {
    it('is logged in to, mounted, and goes with its pod, session and all (P72-P76)', async () => {
      expect(await inSameNamespace(WORKER, 'bothWays')).toEqual({
        states: ['done'],
        group: '2000 2775',
        there: true,
        after: [],
        gone: ['UnmountVolume done', 'UnmountDevice done'],
        ...NOTHING_LEFT,
        log: [
          'iscsiadm -m iface -I default -o show',
          discovery('-o new'),
          discovery('--discover'),
          node('-I default -o update -n node.session.scan -v manual'),
          node('-I default --login'),
          node('-o update -n node.startup -v manual'),
          'tee -- /sys/class/scsi_host/host1/scan',
          'blockdev --flushbufs /dev/DISK',
          'tee -- /sys/block/DISK/device/delete',
          node('-I default --logout'),
          node('-I default -o delete'),
        ],
      })
    })

    it('is mapped as raw block, and unmapped (P98, P99)', async () => {
      expect(await inSameNamespace(WORKER, 'block')).toEqual({
        states: ['done'],
        type: 'block special file',
        after: [],
        gone: ['UnmapVolume done', 'UnmapDevice done'],
        ...NOTHING_LEFT,
      })
    })

    it('is never formatted: the log-in is taken back (S15)', async () => {
      expect(await inSameNamespace(WORKER, 'unformatted')).toEqual({
        states: ['failed FilesystemUnfit'],
        sessions: [],
        exists: false,
        pod: false,
      })
    })

    it('an apply that is killed between log-in and mount is finished by the next', async () => {
      expect(await inSameNamespace(WORKER, 'killed')).toEqual({
        signal: 'SIGKILL',
        between: { sessions: ['host1'], record: true, mounts: 0 },
        states: ['done'],
        after: [],
        gone: ['UnmountVolume done', 'UnmountDevice done'],
        ...NOTHING_LEFT,
      })
    })
  },
)
