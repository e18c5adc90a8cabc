/** The process reader as a program, from the source. */
import { readProcessesForParent } from '../../../src/core/holders/process-reader.ts'

await readProcessesForParent()
