import { tryTypeSwaps } from './type-swaps.ts'

tryTypeSwaps([], { numRuns: 40, seed: 1136 })
