/** Has a file mapped, and no descriptor of it. */
import { mapFile } from '../system-calls.ts'

const [path = ''] = process.argv.slice(2)
if (!mapFile(path)) throw new Error(`${path} cannot be mapped`)
process.stdout.write('ready\n')
setInterval(() => {}, 1_000_000)
