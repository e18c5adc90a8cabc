import { describe, expect, it } from 'vitest'
import { inNamespace } from '../helpers/in-namespace.ts'
import { noBlockDevices } from '../helpers/namespace.ts'

const WORKER = new URL('./workers/devices.ts', import.meta.url)

describe.skipIf(noBlockDevices !== undefined)(
  `block devices${noBlockDevices === undefined ? '' : ` (${noBlockDevices})`}`,
  () => {
    it('sees a superblock that no mount table shows any more (S20, S21)', async () => {
      const found = await inNamespace<{
        free: string[]
        mounted: string[]
        shown: unknown[]
        lazily: { hidden: unknown[]; users: string[]; mounts: number }
        goneWhileOpen: boolean
        after: boolean
      }>(WORKER, 'superblock')
      expect(found.free).toEqual([])
      expect(found.mounted).toEqual([
        expect.stringMatching(/^the ext4 file system on \/dev\/loop\d+, /),
        expect.stringMatching(/that has \/dev\/loop\d+ open/),
      ])
      expect(found.shown).toEqual([])
      expect(found.lazily).toEqual({
        hidden: [{ device: expect.stringMatching(/^loop\d+$/), dev: expect.stringMatching(/^7:\d+$/), fsType: 'ext4' }],
        users: found.mounted,
        mounts: 0,
      })
      expect(found).toMatchObject({ goneWhileOpen: false, after: true })
    })

    it('knows a loop device by the node that it was made on, where no name leads there any more (S21)', async () => {
      expect(await inNamespace(WORKER, 'hiddenNodes')).toEqual({
        disk: [
          expect.stringMatching(/^dev, backed by \/loop\d+$/),
          'map, backed by /',
          'possibly own: its backing file /xvda could not be identified',
        ],
        map: ['possibly own: its backing file /xvda could not be identified'],
      })
    })

    it('asks of each loop device once which file is on it, and again when that is another one (S21)', async () => {
      expect(await inNamespace(WORKER, 'anotherFile')).toEqual([
        { users: 0, asked: 1 },
        { users: 0, asked: 1 },
        { users: 1, asked: 2 },
      ])
    })

    it('releases the loop device of a block map before its mount', async () => {
      expect(await inNamespace(WORKER, 'blockMap')).toEqual({
        before: '/plugins/kubernetes.io/csi/volumeDevices/pv/dev/uid',
        states: { a: 'done' },
        loops: 0,
      })
    })

    it('leaves a busy file system, and takes it once it is free', async () => {
      expect(await inNamespace(WORKER, 'busy')).toEqual({ held: { a: 'failed HeldBy' }, free: { a: 'done' } })
    })
  },
)
