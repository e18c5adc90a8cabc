import { describe, expect, it } from 'vitest'
import { inSameNamespace } from '../../helpers/in-namespace.ts'
import { noFuse } from './no-fuse.ts'

const WORKER = new URL('./stale.worker.ts', import.meta.url)

interface Found {
  readonly failing: {
    readonly why: readonly string[]
    readonly seconds: number
  }
}

/** Far above what the commands take, and far below what would show that something is waited for without a deadline. */
const SECONDS = 60

describe.skipIf(noFuse !== undefined)(
  `a server that answers with ESTALE or EIO${noFuse === undefined ? '' : ` (${noFuse})`}`,
  () => {
    it('S3: hangs no command, and nothing on it is taken for absent; what gone pods have of it goes', async () => {
      const found = await inSameNamespace<Found>(WORKER, 'stale')
      expect(found).toMatchObject({
        failing: {
          // snapshot, plan, apply
          statuses: [0, 0, 3],
          dead: ['0 ESTALE', 'gone ESTALE', 'living EIO'],
          named: true,
          problems: ['DeadMount living'],
          undone: ['MountVolume path: blocked HostPathType', 'MountVolume pv-disk: failed InvalidPath'],
          unclear: [],
        },
        struck: true,
        mounted: ['living', 'host', 'local'],
        // When it answers again; a hostPath that is as its type says needs nothing.
        well: ['MountVolume pv-disk: done'],
        left: 0,
        unchanged: true,
      })
      const { why, seconds } = found.failing
      expect(why.toSorted()).toEqual([
        expect.stringMatching(/^hostPath \S+\/host\/data: the path could not be examined .*Stale file handle\)$/),
        expect.stringMatching(/^stat of \S+\/local\/data failed: .*Input\/output error$/),
      ])
      expect(seconds).toBeLessThan(SECONDS)
    })
  },
)
