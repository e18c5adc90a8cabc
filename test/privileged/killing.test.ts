/** An apply that is killed between two changes, or one of which the disk refuses: one of each way; all of them in killed-anywhere.long.test.ts. */
import { expect } from 'vitest'
import { it } from '../helpers/machine.ts'
import { noBlockDevices } from '../helpers/namespace.ts'
import { describeUnless } from './describe-unless.ts'
import { withWay } from './killed-ways.ts'

describeUnless(noBlockDevices, 'killed between two changes, or refused one', () => {
  it.for([
    { way: 'CSI file system', phase: 'up', changes: 7 },
    { way: 'CSI file system', phase: 'down', changes: 2 },
    { way: 'configMap and secret', phase: 'up', changes: 4 },
    { way: 'raw local device', phase: 'up', changes: 3 },
    { way: 'CSI raw block', phase: 'newer', changes: 2 },
    { way: 'CSI file system', phase: 'up', changes: 2, code: 'EROFS' },
    { way: 'emptyDir in memory', phase: 'up', changes: 1, code: 'EIO' },
    { way: 'emptyDir of a group', phase: 'down', changes: 0, code: 'EIO' },
    { way: 'configMap and secret', phase: 'newer', changes: 0, code: 'ENOSPC' },
  ] as const)(
    '$way, $phase, $changes changes, $code: what fails is clear, and the next apply, lock and all, comes to the same end (R837)',
    (row, { directory }) =>
      withWay(row.way, directory, row.phase, async (strike) => {
        const code = 'code' in row ? row.code : ''
        const whole = await strike(undefined, code)
        expect(whole).toMatchObject({ met: false, end: expect.arrayContaining([0]), unclear: [] })
        const struck = await strike(row.changes, code)
        expect(struck).toMatchObject({ met: true, end: whole.end, unclear: [] })
      }),
  )
})
