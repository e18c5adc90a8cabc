import { noMounts } from '../helpers/namespace.ts'
import { describeUnless } from '../privileged/describe-unless.ts'
import { setsUp } from './set-up.ts'

/** Behind links, and in the table twice. All others: layouts.long.test.ts. */
describeUnless(noMounts, 'its root directory: linked-shared', () => setsUp('linked-shared'))
