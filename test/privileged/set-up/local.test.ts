import { describe, expect, it } from 'vitest'
import { inSameNamespace } from '../../helpers/in-namespace.ts'
import { noBlockDevices, noExt4Growth, noMounts, noRoot } from '../../helpers/namespace.ts'

const WORKER = new URL('./local.worker.ts', import.meta.url)
const GONE = { after: [], left: 0, planned: [] }

const why = (reason: string | undefined) => (reason === undefined ? '' : ` (${reason})`)

describe.skipIf(noMounts !== undefined)(`a local directory for real${why(noMounts)}`, () => {
  it('is bound, is there, and goes with its pod; its data stays', async () => {
    expect(await inSameNamespace(WORKER, 'directory')).toEqual({
      ...GONE,
      up: ['MountVolume done'],
      seen: ['data', false],
      down: ['CleanOrphanVolume done', 'RemoveOrphanPodDir done'],
      kept: 'data',
    })
  })

  it('is bound in two calls where it has options: one pod writes, another only reads (P125)', async () => {
    expect(await inSameNamespace(WORKER, 'readOnly')).toMatchObject({
      ...GONE,
      up: ['MountVolume done', 'MountVolume done'],
      seen: [
        ['rw', 'noexec'],
        ['ro', 'noexec'],
      ],
    })
  })

  it.skipIf(noRoot !== undefined)("is given to the first pod's group, and to no other's (P68)", async () => {
    expect(await inSameNamespace(WORKER, 'group')).toEqual({
      first: ['MountVolume done', 'MountVolume done'],
      second: ['MountVolume done'],
      gid: 4711,
      mode: '664',
      root: 4711,
    })
  })

  it('is refused by a path that is bad, missing, or a file', async () => {
    const invalid = ['InvalidPath', 'MountVolume blocked InvalidPath', '0']
    const unusable = ['not blocked', 'MountVolume failed InvalidPath', '0']
    expect(await inSameNamespace(WORKER, 'badPaths')).toEqual({
      '': invalid,
      relative: invalid,
      '/srv/../etc': invalid,
      '/missing': unusable,
      '/file': unusable,
    })
  })

  it('fails on a full disk, and leaves nothing half-made', async () => {
    expect(await inSameNamespace(WORKER, 'fullDisk')).toEqual({
      full: ['MountVolume failed WriteFailed'],
      left: false,
      freed: ['MountVolume done'],
    })
  })
})

describe.skipIf(noBlockDevices !== undefined)(`a local device for real${why(noBlockDevices)}`, () => {
  it.each(['ext4', 'xfs'])('%s is mounted once, for two pods, and goes with them', async (type) => {
    expect(await inSameNamespace(WORKER, type)).toEqual({
      ...GONE,
      up: ['MountVolume done', 'MountVolume done'],
      seen: { type: [[type, true]], shared: 'data', mode: '750' },
      down: [
        'CleanOrphanVolume done',
        'CleanOrphanVolume done',
        'UnmountDevice done',
        'RemoveOrphanPodDir done',
        'RemoveOrphanPodDir done',
      ],
    })
  })

  it('is mounted read-only for who only reads', async () => {
    expect(await inSameNamespace(WORKER, 'readOnlyDevice')).toMatchObject({
      ...GONE,
      up: ['MountVolume done'],
      seen: true,
    })
  })

  it('with nothing on it is not formatted: the command is named, and nothing left (S15)', async () => {
    expect(await inSameNamespace(WORKER, 'empty')).toEqual({
      states: ['FilesystemUnfit'],
      hint: true,
      left: [false, false, 0],
    })
  })

  it('that is mounted elsewhere is refused, by name, until it is let go', async () => {
    expect(await inSameNamespace(WORKER, 'busy')).toEqual({
      code: 'HeldBy',
      names: true,
      left: [false, 0],
      freed: ['MountVolume done'],
    })
  })

  it('is refused where something else is mounted in its place', async () => {
    expect(await inSameNamespace(WORKER, 'foreignGlobal')).toEqual(['MountVolume failed ForeignMount'])
  })

  it('is mounted again where only the global mount was lost (O31)', async () => {
    expect(await inSameNamespace(WORKER, 'lostGlobal')).toMatchObject({ ...GONE, up: ['MountVolume done'] })
  })

  it('is whole after a kill anywhere and another apply, and goes without a trace', async () => {
    expect(await inSameNamespace(WORKER, 'killedDevice')).toEqual({
      places: true,
      outcomes: ['MountVolume done 0 0 0 0', ' 0 0 0 0'],
    })
  })
})

const GROWN = {
  up: ['MountVolume done'],
  set: ['ExpandVolume done'],
  words: expect.stringContaining('has grown to 400Mi'),
  said: [{ storage: 'NodeResizeInProgress' }, null],
  claim: ['400Mi'],
  data: 'data',
  again: [],
  left: 0,
}
const FAILED = { ...GROWN, said: [], claim: ['300Mi'], again: ['ExpandVolume'] }

describe.skipIf(noMounts !== undefined)(`a local directory that grows${why(noMounts)}`, () => {
  it('has no size of its own: nothing is done, and the claim says that it is (P71)', async () => {
    const words = expect.stringContaining('is a directory, which has no size of its own')
    expect(await inSameNamespace(WORKER, 'growDirectory')).toEqual({ ...GROWN, words, grew: 0 })
  })
})

describe.skipIf(noBlockDevices !== undefined)(`a local device that grows${why(noBlockDevices)}`, () => {
  it('xfs has all of it, its data and the claim say so (P131, R458, R459)', async () => {
    expect(await inSameNamespace(WORKER, 'grow', ['xfs'])).toEqual({ ...GROWN, grew: 100 })
  })

  it.skipIf(noExt4Growth !== undefined)(`ext4 likewise${why(noExt4Growth)}`, async () => {
    const seen = await inSameNamespace<{ grew: number }>(WORKER, 'grow', ['ext4'])
    expect(seen).toMatchObject(GROWN)
    expect(seen.grew).toBeGreaterThan(80)
  })

  it('is left alone where it is read-only (P131)', async () => {
    const words = expect.stringMatching(/loop\d+ is read-only, and was not expanded$/)
    expect(await inSameNamespace(WORKER, 'grow', ['xfs', 'read-only'])).toEqual({
      ...GROWN,
      words,
      data: '',
      grew: 0,
    })
  })

  it('that cannot be grown stays as it is, and the claim tells why (R459)', async () => {
    expect(await inSameNamespace(WORKER, 'grow', ['xfs', 'mounted read-only'])).toEqual({
      ...FAILED,
      set: ['ExpandVolume failed ExpandFailed'],
      words: expect.stringContaining('xfs_growfs of /dev/loop'),
      said: [{ storage: 'NodeResizeInProgress' }, null],
      claim: ['300Mi', 'NodeResizeError'],
      data: '',
      grew: 0,
    })
  })

  it('is not taken for another one that the PersistentVolume names by now', async () => {
    expect(await inSameNamespace(WORKER, 'growAnother')).toMatchObject({
      ...FAILED,
      set: ['ExpandVolume failed ForeignMount'],
      words: expect.stringMatching(/is there, but \/dev\/loop\d+ is to be expanded$/),
      grew: 0,
    })
  })
})

describe.skipIf(noBlockDevices !== undefined)(`a raw local device for real${why(noBlockDevices)}`, () => {
  it('is mapped for two pods, and goes with them (P98-P102)', async () => {
    expect(await inSameNamespace(WORKER, 'block')).toEqual({
      ...GONE,
      up: ['MapVolume done', 'MapVolume done'],
      seen: { link: [true, true], map: true, mode: '750', loops: 2 },
      down: [
        'UnmapVolume done',
        'UnmapVolume done',
        'UnmapDevice done',
        'RemoveOrphanPodDir done',
        'RemoveOrphanPodDir done',
      ],
    })
  })

  it('whatever part of it was lost is made again', async () => {
    const once = [['MapVolume done'], []]
    expect(await inSameNamespace(WORKER, 'blockRepaired')).toMatchObject({
      ...GONE,
      repaired: [...once, ...once, ...once],
      up: [],
      seen: true,
    })
  })

  it('is not mapped while a file system on it is mounted', async () => {
    expect(await inSameNamespace(WORKER, 'blockMounted')).toEqual({
      states: ['MapVolume failed HeldBy'],
      left: [false, 0],
    })
  })

  it('is whole after a kill anywhere and another apply, and goes without a trace', async () => {
    expect(await inSameNamespace(WORKER, 'killedBlock')).toEqual({
      places: true,
      outcomes: ['MapVolume done 0 0 0 0', ' 0 0 0 0'],
    })
  })
})
