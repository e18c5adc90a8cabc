/** A mount is unmounted lazily only if it is shown to be dead, by what stat(1) says of it and not by how it is called (S20). */
import { expect, it } from 'vitest'
import { linuxHost } from '../../src/core/host/linux-host.ts'

it.each(['stale-cache', 'host is down', 'not connected', 'Input/output error', 'No such device'])(
  'a path with %j in it is not dead for that',
  async (name) => {
    expect(await linuxHost.isDead(`/nonexistent/${name}/mount`, 5000)).toBe(false)
  },
)
