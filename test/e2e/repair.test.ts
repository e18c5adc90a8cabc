import { noMounts } from '../helpers/namespace.ts'
import { describeUnless } from '../privileged/describe-unless.ts'
import { repairs } from './repair.ts'

/** The hardest to tell apart: each mount is in the table twice. All others: layouts.long.test.ts. */
describeUnless(noMounts, 'its root directory: shared-self-bind', () => repairs('shared-self-bind'))
