import { describe, expect, it } from 'vitest'
import { inNamespace } from '../../helpers/in-namespace.ts'
import { noRoot } from '../../helpers/namespace.ts'

const WORKER = new URL('./nfs.worker.ts', import.meta.url)

describe.skipIf(noRoot !== undefined)(
  `nfs against a stand-in for mount(8)${noRoot === undefined ? '' : ` (${noRoot})`}`,
  () => {
    it('is mounted by these very calls (P19, P62)', async () => {
      expect(await inNamespace(WORKER, 'lines')).toEqual({
        up: ['done', 'done', 'done', 'done'],
        lines: [
          'mount -t nfs files.test:/export kubernetes.io~nfs/share',
          'mount -t nfs -o ro files.test:/ kubernetes.io~nfs/reading',
          'mount -t nfs 192.0.2.1:/a kubernetes.io~nfs/plain',
          'mount -t nfs -o hard,ro,vers=4.2 [fd00::1]:/b kubernetes.io~nfs/options',
        ],
      })
    })

    it('is there, and goes with its pod', async () => {
      expect(await inNamespace(WORKER, 'bothWays')).toEqual({
        up: ['done'],
        mode: '750',
        after: [],
        down: ['done', 'done'],
        left: [],
      })
    })

    it('a dead server hangs nothing: mount and its helper are ended, and what is left is named', async () => {
      const began = performance.now()
      expect(await inNamespace(WORKER, 'hanging')).toEqual({
        code: 'TimedOut',
        says: true,
        names: true,
        helpers: 0,
        again: ['done'],
        after: [],
      })
      expect(performance.now() - began).toBeLessThan(20_000)
    })

    it('a mount that failed and is there all the same is taken away (P63)', async () => {
      expect(await inNamespace(WORKER, 'halfway')).toEqual({ says: true, mounts: 0, left: false })
    })

    it("is not mounted in a container's network, where it would end with the container", async () => {
      expect(await inNamespace(WORKER, 'otherNetwork')).toEqual({ apply: ['refused WrongNamespace'], made: false })
    })

    it('is not mounted over what a pod wrote without it (S22)', async () => {
      expect(await inNamespace(WORKER, 'dataUnderneath')).toEqual({
        blocked: ['blocked DataUnderMountPoint'],
        kept: 'data',
      })
    })
  },
)
