/** Repair and set-up on every layout of mounts that a node has; one of each is in repair.test.ts and set-up.test.ts. */
import { describe } from 'vitest'
import { noMounts } from '../helpers/namespace.ts'
import { layouts } from '../helpers/scene/layouts.ts'
import { repairs } from './repair.ts'
import { setsUp } from './set-up.ts'

describe.skipIf(noMounts !== undefined).each(layouts)('its root directory: %s', (layout) => {
  describe('repair', () => repairs(layout))
  describe('set-up', () => setsUp(layout))
})
