/** The map reader as a program, from the source. */
import { readMapsForParent } from '../../../src/core/holders/map-reader.ts'

await readMapsForParent()
