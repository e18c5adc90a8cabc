/** An apply that is killed before or after any of its changes, one after another. */
import { expect } from 'vitest'
import { it } from '../helpers/machine.ts'
import { noBlockDevices } from '../helpers/namespace.ts'
import { describeUnless } from './describe-unless.ts'
import { killedAt, type Phase, WAYS, type WayName, withWay } from './killed-ways.ts'

const ROWS = (Object.keys(WAYS) as WayName[]).flatMap((way) =>
  (['up', 'down'] as const).map((phase): { way: WayName; phase: Phase } => ({ way, phase })),
)

describeUnless(noBlockDevices, 'killed anywhere', () => {
  it.for(ROWS)('$way, $phase: the next apply comes to the same end', async ({ way, phase }, { directory }) => {
    await withWay(way, directory, async () => {
      const whole = await killedAt(way, directory, phase, Number.POSITIVE_INFINITY)
      let kills = 0
      for (let died = true; died; kills++) {
        const found = await killedAt(way, directory, phase, kills)
        expect(found.end, `killed after ${kills} changes`).toEqual(whole.end)
        died = found.died
      }
      expect(kills).toBeGreaterThan(3)
    })
  })
})
