/** The ownership walker as a program, from the source. */
import { walkForParent } from '../../../src/core/apply/ownership-walker.ts'

await walkForParent()
