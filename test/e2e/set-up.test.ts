import { describe } from 'vitest'
import { noMounts } from '../helpers/namespace.ts'
import { setsUp } from './set-up.ts'

/** Behind links, and in the table twice. All others: layouts.long.test.ts. */
describe.skipIf(noMounts !== undefined).each(['linked-shared'] as const)('its root directory: %s', setsUp)
