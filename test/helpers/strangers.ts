/**
 * What was on this machine before a node is made on it: disks of the host that are bound into a container, file systems that
 * no mount table shows, loop devices. To volctl each may be, rightly, that of a volume whose device nothing shows. The node of
 * the demo, or of a test, is a separate machine: its sysfs does not have them, and no guard is lifted.
 */
import { realpathSync } from 'node:fs'
import { readDiskSequence } from '../../src/core/linux/block/device-use.ts'

/** A disk, a partition, a map or a loop device. */
export interface Stranger {
  /** "major:minor" */
  readonly dev: string
  /** Where another disk has the number by now, this differs. */
  readonly sequence?: string | undefined
}

/** In the environment of a run of the tests: what was there before it (strangers-here.ts). */
export const STRANGERS = 'VOLCTL_TEST_STRANGERS'

const HIDE =
  'while [ "$1" != -- ]; do [ ! -d "$1" ] || mount -t tmpfs -o ro,size=4k stranger "$1"; shift; done; shift; exec "$@"'

/** The command that runs a program without them, in a mount namespace that it has to itself. */
export function withoutStrangers(program: readonly string[]): readonly string[] {
  const places = placesOfStrangers()
  return places.length === 0 ? program : ['sh', '-euc', HIDE, 'sh', ...places, '--', ...program]
}

/** Directories in sysfs of those that this run of the tests has noted, and that are still there. */
export function placesOfStrangers(): readonly string[] {
  return noted()
    .filter(({ dev, sequence }) => readDiskSequence(dev) === sequence)
    .flatMap(({ dev }) => placeOf(dev) ?? [])
}

function noted(): readonly Stranger[] {
  return JSON.parse(process.env[STRANGERS] ?? '[]')
}

/** Undefined: it is gone. */
function placeOf(dev: string): string | undefined {
  try {
    return realpathSync(`/sys/dev/block/${dev}`)
  } catch {
    return undefined
  }
}
