/** Prints more than a pipe takes, and waits until it is read, as an apply does at its end. */
import { Interrupts } from '../../../src/core/cli/interrupts.ts'
import { standardOutput } from '../../../src/core/cli/output.ts'

const output = standardOutput()
using interrupts = new Interrupts()
interrupts.abandon.addEventListener('abort', () => process.stderr.write('abandoned\n'))
output.write('x'.repeat(4 << 20))
process.stderr.write('printed\n')
await output.flush()
process.exit(130)
