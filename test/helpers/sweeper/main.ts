/** Sweeps up after a run of the tests that was killed (left-behind.ts). */
import { sweepRun } from '../left-behind.ts'

const [run] = process.argv.slice(2)
if (run !== undefined) sweepRun(run)
