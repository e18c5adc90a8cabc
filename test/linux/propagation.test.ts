/** mount_namespaces(7), as a kernel 6.18 showed it. */
import { describe, expect, it } from 'vitest'
import type { MountInfo } from '../../src/core/linux/mount-table.ts'
import { parseMountinfo } from '../../src/core/linux/parse-mountinfo.ts'
import { goesWith } from '../../src/core/linux/propagation.ts'

/** A shared directory, another one bound to it, a mount made in the one and seen in the other, and a bind mount of that. */
const HERE = parseMountinfo(`459 439 0:358 / /m rw,relatime shared:1 - tmpfs t rw
437 459 0:358 /real /m/alias rw,relatime shared:1 - tmpfs t rw
460 437 0:359 / /m/alias/plugins/gm rw,relatime shared:2 - tmpfs staged rw
461 459 0:359 / /m/real/plugins/gm rw,relatime shared:2 - tmpfs staged rw
462 459 0:359 / /m/bind rw,relatime shared:2 - tmpfs staged rw
463 459 0:359 /sub /m/sub rw,relatime shared:2 - tmpfs staged rw
464 459 0:359 / /m/real/plugins/other rw,relatime - tmpfs staged rw
465 459 0:359 /sub /m/real/plugins/gm rw,relatime shared:2 - tmpfs staged rw
`)
/** A namespace that was cloned from it as a slave, and one that was made private. */
const SLAVE = parseMountinfo(`478 470 0:358 / /m rw,relatime master:1 - tmpfs t rw
481 478 0:359 / /m/real/plugins/gm rw,relatime master:2 - tmpfs staged rw
`)
const PRIVATE = parseMountinfo(`578 570 0:358 / /m rw,relatime - tmpfs t rw
581 578 0:359 / /m/real/plugins/gm rw,relatime - tmpfs staged rw
`)
const mount = (id: number, table = HERE): MountInfo => table.byId(id) as MountInfo

describe('what goes with a mount', () => {
  it.each([
    { name: 'its copy in a peer of what it is mounted on', copy: 461, want: true },
    { name: 'a bind mount of it, though of its group', copy: 462, want: false },
    { name: 'a bind mount of a part of it', copy: 463, want: false },
    { name: 'a bind mount of a part of it at the place of the copy', copy: 465, want: false },
    { name: 'a private one at another place', copy: 464, want: false },
  ])('$name: $want', ({ copy, want }) => {
    expect(goesWith(HERE, mount(460), mount(copy))).toBe(want)
    expect(goesWith(HERE, mount(copy), mount(460))).toBe(want)
  })
  it('its copy in a namespace that is a slave, and not the other way round', () => {
    expect(goesWith(HERE, mount(461), mount(481, SLAVE), SLAVE)).toBe(true)
    expect(goesWith(SLAVE, mount(481, SLAVE), mount(461), HERE)).toBe(false)
  })
  it('no copy in a private namespace', () => {
    expect(goesWith(HERE, mount(461), mount(581, PRIVATE), PRIVATE)).toBe(false)
  })
  it('nothing where the table does not show what it is mounted on', () => {
    expect(goesWith(HERE, mount(459), mount(478, SLAVE), SLAVE)).toBe(false)
  })
})
