import { describe, expect, it } from 'vitest'
import { inNamespace } from '../../helpers/in-namespace.ts'
import { noRoot } from '../../helpers/namespace.ts'

const WORKER = new URL('./ownership-apart.worker.ts', import.meta.url)
const OTHER = 'other done'
/** In a PID namespace of its own, which ends with it whatever hangs in it. */
const run = (scenario: string) => inNamespace(WORKER, scenario)

const noFuse =
  noRoot ??
  (await run('possible').then(
    () => undefined,
    () => 'this machine has no FUSE',
  ))

describe.skipIf(noFuse !== undefined)(
  `fsGroup on a file system that may not answer${noFuse === undefined ? '' : ` (${noFuse})`}`,
  () => {
    it('is given by a child, as anywhere', async () => {
      expect(await run('well')).toEqual({
        states: ['fuse done', OTHER],
        root: '4711 2775',
        left: [true, 0],
      })
    })

    it('whose daemon has stopped fails with TimedOut, is taken back, and holds up nothing else', async () => {
      expect(await run('stopped')).toEqual({
        states: ['fuse failed TimedOut', OTHER],
        message: expect.stringMatching(/was not given to a group within 1\.\d s$/),
        left: [false, 0],
        again: ['fuse done'],
        root: '4711 2775',
      })
    })

    it('whose child cannot be killed is left behind, named, and not touched any more', async () => {
      expect(await run('unkillable')).toEqual({
        states: ['fuse failed TimedOut', OTHER],
        message: expect.stringMatching(
          /within 1\.\d s; pid \d+ cannot be killed and was left behind; left as it is: .*the mount on /,
        ),
        left: [true, 1],
      })
    })

    it('whose daemon is gone fails, and says so', async () => {
      expect(await run('dead')).toEqual({
        states: ['fuse failed WriteFailed', OTHER],
        message: expect.stringContaining('could not be read (ENOTCONN)'),
        left: [false, 0],
      })
    })

    it('is interrupted at once', async () => {
      expect(await run('interrupted')).toMatchObject({
        states: ['fuse interrupted Interrupted'],
        left: [false, 0],
      })
    })
  },
)
