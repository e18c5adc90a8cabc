/** An apply that is killed. Arguments: way, directory, phase, and how many changes it may make. */
import { applyMortally, type Phase, type WayName } from '../killed-ways.ts'

const [way, directory = '', phase, changes] = process.argv.slice(2)
await applyMortally(way as WayName, directory, phase as Phase, Number(changes))
