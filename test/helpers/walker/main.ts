/** The ownership walker as a program, from the source. */
import { walkForParent } from '../../../src/core/host/ownership-walker.ts'

await walkForParent()
