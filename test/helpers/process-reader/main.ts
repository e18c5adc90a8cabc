/** The process reader as a program, from the source. */
import { readProcessesForParent } from '../../../src/core/users/process-reader.ts'

await readProcessesForParent()
