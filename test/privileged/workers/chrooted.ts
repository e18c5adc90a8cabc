/** A process whose root directory is its argument, until its standard input ends. */
import { changeRoot } from '../system-calls.ts'

changeRoot(process.argv[2] ?? '')
process.stdout.write('ready\n')
process.stdin.resume()
