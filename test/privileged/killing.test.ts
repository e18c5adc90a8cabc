/** An apply that is killed between two changes, or one of which the disk refuses: one of each way; all of them in killed-anywhere.long.test.ts. */
import { expect } from 'vitest'
import { it } from '../helpers/machine.ts'
import { noBlockDevices } from '../helpers/namespace.ts'
import { describeUnless } from './describe-unless.ts'
import { withWay } from './killed-ways.ts'

describeUnless(noBlockDevices, 'killed between two changes, or refused one', () => {
  it.for([
    { way: 'CSI file system', phase: 'up', changes: 7, how: 'killed' },
    { way: 'CSI file system', phase: 'down', changes: 2, how: 'killed' },
    { way: 'configMap and secret', phase: 'up', changes: 4, how: 'killed' },
    { way: 'raw local device', phase: 'up', changes: 3, how: 'killed' },
    { way: 'CSI raw block', phase: 'newer', changes: 2, how: 'killed' },
    { way: 'CSI file system', phase: 'up', changes: 2, how: 'EROFS' },
    { way: 'emptyDir in memory', phase: 'up', changes: 1, how: 'EIO' },
    { way: 'emptyDir of a group', phase: 'down', changes: 0, how: 'EIO' },
    { way: 'configMap and secret', phase: 'newer', changes: 0, how: 'ENOSPC' },
  ] as const)(
    '$way, $phase, $how after $changes changes: what fails is clear, and the next apply, lock and all, comes to the same end (R837)',
    ({ way, phase, changes, how }, { directory }) =>
      withWay(way, directory, phase, async (strike) => {
        const whole = await strike(how)
        expect(whole).toMatchObject({ met: false, end: expect.arrayContaining([0]), unclear: [] })
        expect(await strike(how, changes)).toMatchObject({ met: true, end: whole.end, unclear: [] })
      }),
  )
})
