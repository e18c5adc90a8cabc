import { describe } from 'vitest'
import { noMounts } from '../helpers/namespace.ts'
import { repairs } from './repair.ts'

/** The hardest to tell apart: each mount is in the table twice. All others: layouts.long.test.ts. */
describe.skipIf(noMounts !== undefined).each(['shared-self-bind'] as const)('its root directory: %s', repairs)
