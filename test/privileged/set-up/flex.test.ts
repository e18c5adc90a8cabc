import { describe, expect, it } from 'vitest'
import { inSameNamespace } from '../../helpers/in-namespace.ts'
import { noMounts, noRoot } from '../../helpers/namespace.ts'

const WORKER = new URL('./flex.worker.ts', import.meta.url)
const POD = '00000000-0000-4000-8000-000000000001'
const DIR = `pods/${POD}/volumes/v~d/data`
const GLOBAL = 'plugins/kubernetes.io/flexvolume/v/d/mounts/data'

describe.skipIf(noMounts !== undefined)(`flexVolumes for real${noMounts === undefined ? '' : ` (${noMounts})`}`, () => {
  it('are mounted by their driver, are there, and go with their pod (P85-P88)', async () => {
    expect(await inSameNamespace(WORKER, 'plain')).toEqual({
      states: ['done'],
      mounted: ['tmpfs'],
      // A user namespace has no such group; the driver was asked for it all the same.
      group: noRoot === undefined ? '2000 3777' : '0 3777',
      options: {
        'kubernetes.io/fsType': '',
        'kubernetes.io/mounterArgs.FsGroup': '2000',
        'kubernetes.io/pod.name': 'a',
        'kubernetes.io/pod.namespace': 'default',
        'kubernetes.io/pod.uid': POD,
        'kubernetes.io/pvOrVolumeName': 'data',
        'kubernetes.io/readwrite': 'rw',
        'kubernetes.io/serviceAccount.name': '',
        share: 'one',
      },
      after: [],
      gone: ['UnmountVolume done'],
      mounts: 0,
      left: [],
      log: ['init ', `mount ${DIR}`, `unmount ${DIR}`],
    })
  })

  it('of a driver that attaches have one global mount, to which every pod is bound', async () => {
    expect(await inSameNamespace(WORKER, 'attaching')).toEqual({
      states: ['done', 'done'],
      shared: 'data',
      after: [],
      gone: ['UnmountVolume done', 'UnmountVolume done', 'UnmountDevice done'],
      mounts: 0,
      left: [],
      log: [`mountdevice ${GLOBAL}`, `unmountdevice ${GLOBAL}`],
    })
  })

  it('wait for the controller where the driver attaches: the driver is asked, and nothing is made (S22)', async () => {
    expect(await inSameNamespace(WORKER, 'notAttached')).toEqual({
      states: ['refused NotAttached'],
      exists: false,
      log: ['init'],
    })
  })

  it('are not believed to be there without a mount (S27)', async () => {
    expect(await inSameNamespace(WORKER, 'liar')).toEqual({
      states: ['failed DriverFailed'],
      exists: false,
      log: ['init ', `mount ${DIR}`, `unmount ${DIR}`],
    })
  })

  it('that were mounted by a driver that then fails are unmounted by it', async () => {
    expect(await inSameNamespace(WORKER, 'breaksOff')).toEqual({
      states: ['failed DriverFailed'],
      message: true,
      exists: false,
      mounts: 0,
    })
  })

  it.each([
    { when: 'before', scenario: 'killedBefore', planned: 1, states: ['done'] },
    { when: 'after', scenario: 'killedAfter', planned: 0, states: [] },
  ])(
    'an apply that is killed $when the driver has mounted is finished by the next',
    async ({ scenario, planned, states }) => {
      expect(await inSameNamespace(WORKER, scenario)).toEqual({
        signal: 'SIGKILL',
        planned,
        states,
        mounted: 1,
        mounts: 0,
        after: [],
        gone: ['UnmountVolume done'],
        left: [],
      })
    },
  )
})
