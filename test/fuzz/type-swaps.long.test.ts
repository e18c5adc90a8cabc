/** VOLCTL_FUZZ=10000 tries as many of every capture, another choice each time; 200000 are all, which takes hours. */
import { CAPTURED, tryTypeSwaps } from './type-swaps.ts'

const { VOLCTL_FUZZ: asked } = process.env
if (asked === undefined) tryTypeSwaps(['recreate/before.json'], { numRuns: 120, seed: 1136 })
else tryTypeSwaps(CAPTURED, { numRuns: Number(asked) })
