/** The ownership walker as a program, from the source. */
import { walkForParent } from '../../../src/child.ts'

await walkForParent()
