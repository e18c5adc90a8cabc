/** An apply that is killed before or after any of its changes, one after another; and one of which the disk refuses any of them. */
import { expect } from 'vitest'
import { OPERATION_KINDS, type OperationKind } from '../../src/core/plan/plan.ts'
import { it } from '../helpers/machine.ts'
import { noBlockDevices } from '../helpers/namespace.ts'
import { describeUnless } from './describe-unless.ts'
import { type Phase, WAYS, type WayName, withWay } from './killed-ways.ts'

interface Row {
  readonly way: WayName
  readonly phase: Phase
}

const ROWS: readonly Row[] = [
  ...(Object.keys(WAYS) as WayName[]).flatMap((way) => (['up', 'down'] as const).map((phase) => ({ way, phase }))),
  { way: 'configMap and secret', phase: 'newer' },
  { way: 'CSI raw block', phase: 'newer' },
]

const killed = new Set<OperationKind>()

describeUnless(noBlockDevices, 'killed anywhere', () => {
  it.for(ROWS)('$way, $phase: the next apply comes to the same end', ({ way, phase }, { directory }) =>
    withWay(way, directory, phase, async (strike) => {
      const whole = await strike('killed')
      expect(whole).toMatchObject({ met: false, end: expect.arrayContaining([0]) })
      for (const kind of whole.kinds) killed.add(kind)
      let kills = 0
      for (let met = true; met; kills++) {
        const found = await strike('killed', kills)
        expect(found.end, `killed after ${kills} changes`).toEqual(whole.end)
        met = found.met
      }
      // A newer generation is one change; all else takes more.
      expect(kills).toBeGreaterThan(phase === 'newer' ? 1 : 3)
    }),
  )

  it.for(ROWS)(
    '$way, $phase: a disk refuses any change, and the next apply comes to the same end',
    ({ way, phase }, { directory }) =>
      withWay(way, directory, phase, async (strike) => {
        const whole = await strike('EIO')
        // The ways of refusing take turns; of what is added to the disk there is less than of what is changed.
        for (let [met, changes] = [true, 0]; met; changes++) {
          const code = ['EROFS', 'ENOSPC', 'EIO'][changes % 3] ?? ''
          const found = await strike(code, changes)
          expect(found, `${code} after ${changes} changes`).toMatchObject({ end: whole.end, unclear: [] })
          met = found.met || code === 'ENOSPC'
        }
      }),
  )

  // An attachment is made by the controller.
  it('every kind of operation of a node was among them', () =>
    expect([...killed, 'AttachVolume'].toSorted()).toEqual([...OPERATION_KINDS].toSorted()))
})
