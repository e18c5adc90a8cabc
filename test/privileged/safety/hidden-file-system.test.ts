/** A file system that nothing shows, on a whole node as in rules.test.ts. */
import { writeFileSync } from 'node:fs'
import { expect } from 'vitest'
import { loopDevicesWork } from '../../helpers/csi-driver/start.ts'
import { it } from '../../helpers/machine.ts'
import { noBlockDevices } from '../../helpers/namespace.ts'
import { sh } from '../../helpers/scenario.ts'
import { handleOf } from '../../helpers/scene/api-objects.ts'
import { FORGOTTEN } from '../../helpers/scene/pods.ts'
import { describeUnless } from '../describe-unless.ts'
import { holdByShell } from '../holder.ts'
import { applyTo, onBroken, stagingOf } from './broken-scene.ts'

const noExt4 = noBlockDevices ?? (loopDevicesWork() ? undefined : 'there are no loop devices')

describeUnless(noExt4, 'a file system that no table shows', () => {
  it('S20, S21: an ext4 that was detached lazily and is still open holds back every volume that it may be', async ({
    directory,
  }) => {
    await onBroken(directory, async (scene) => {
      const staging = stagingOf(scene, handleOf(FORGOTTEN))
      writeFileSync(`${staging}/file`, 'x')
      const holder = await holdByShell(':', staging)
      sh('umount', '-l', staging)
      const held = await applyTo(scene)
      await holder.end()
      expect(held.status).toBe(3)
      expect(held.ends.filter((end) => !end.endsWith(': done'))).toEqual([
        'DetachVolume pv-idle: blocked HeldBy',
        'DetachVolume vol-old: blocked Predecessor',
        'UnmountDevice vol-old: blocked HeldBy',
      ])
      // What has a device of its own is not held up.
      expect(held.ends).toContain('DetachVolume pv-batch: done')
      expect(await applyTo(scene)).toMatchObject({
        status: 0,
        ends: ['DetachVolume pv-idle: done', 'DetachVolume vol-old: done', 'UnmountDevice vol-old: done'],
      })
    })
  })
})
