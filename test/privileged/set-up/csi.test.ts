import { describe, expect, it } from 'vitest'
import { inNamespace, noBlockDevices } from '../../helpers/namespace.ts'

const WORKER = new URL('./csi.worker.ts', import.meta.url)

describe.skipIf(noBlockDevices !== undefined)(
  `CSI for real${noBlockDevices === undefined ? '' : ` (${noBlockDevices})`}`,
  { timeout: 60_000 },
  () => {
    it('stages once, publishes for each pod, undoes it, and finds the data again', async () => {
      expect(await inNamespace(WORKER, 'fileSystem')).toEqual({
        set: ['done'],
        mounts: [1, 1],
        // C132, byte for byte.
        files: [
          '{"attachmentID":"csi-45c0298dc5adc861caf80d911fd980383e365536591792566aa4f003ae4f6040","driverName":"disk.test","nodeName":"node-1","specVolID":"pv-1","volumeHandle":"handle/pv-1","volumeLifecycleMode":"Persistent"}\n',
          '{"driverName":"disk.test","volumeHandle":"handle/pv-1"}\n',
        ],
        after: [],
        secondSteps: ['mkdir', 'write', 'NodePublishVolume'],
        second: ['done'],
        shared: 'kept',
        readOnly: 'EROFS',
        afterSecond: [],
        oneGone: ['done', 'done'],
        stillThere: [1, 1],
        gone: ['done', 'done', 'done', 'done'],
        left: [false, false],
        detached: 0,
        again: ['done'],
        data: 'kept',
        calls: [
          'NodeStageVolume',
          ...['NodePublishVolume', 'NodePublishVolume', 'NodeUnpublishVolume', 'NodeUnpublishVolume'],
          ...['NodeUnstageVolume', 'NodeStageVolume', 'NodePublishVolume'],
        ],
        violations: [],
      })
    })
  },
)
