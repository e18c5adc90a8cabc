/** A process that mounts an EROFS image without a loop device, as mount(8) does not, and detaches a mount; until its standard input ends. */
import { detachMount, mountImage } from '../system-calls.ts'

const [image = '', target = '', detached] = process.argv.slice(2)
if (!mountImage(image, target)) throw new Error(`${image} was not mounted`)
if (detached !== undefined && !detachMount(detached)) throw new Error(`${detached} is not mounted`)
process.stdout.write('ready\n')
process.stdin.resume()
