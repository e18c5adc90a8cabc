import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { inSameNamespace } from '../../helpers/in-namespace.ts'
import { noMounts, noRoot } from '../../helpers/namespace.ts'

const WORKER = new URL('./empty-dir.worker.ts', import.meta.url)

const noHugePages =
  noRoot ??
  (existsSync('/sys/kernel/mm/hugepages/hugepages-2048kB') ? undefined : 'this kernel has no huge pages of 2Mi')

/** Its data is kept until it is asked for with --orphans; then nothing is left. */
const LIFE = {
  made: ['done'],
  after: [],
  kept: ['blocked DeletesData'],
  gone: ['done', 'done'],
  left: [],
  exists: false,
}

describe.skipIf(noMounts !== undefined)(`emptyDir for real${noMounts === undefined ? '' : ` (${noMounts})`}`, () => {
  it('is made, is there, and goes with its pod', async () => {
    expect(await inSameNamespace(WORKER, 'disk')).toEqual({
      states: ['done'],
      mode: '777',
      after: [],
      gone: ['done', 'done'],
      left: [],
    })
  })

  it('fails, and leaves what it found, where a file is in its place', async () => {
    expect(await inSameNamespace(WORKER, 'fileInTheWay')).toEqual(['failed WriteFailed'])
  })

  it.each([
    { sizeLimit: '', size: '65536k' },
    { sizeLimit: '8Mi', size: '8192k' },
    { sizeLimit: '0', size: '65536k' },
    { sizeLimit: '1Ti', size: '65536k' },
  ])('in memory with sizeLimit "$sizeLimit" it has $size (P38, P39)', async ({ sizeLimit, size }) => {
    const found = await inSameNamespace<{ noswap: boolean }>(WORKER, 'memory', [sizeLimit])
    const mount = `tmpfs size=${size}${found.noswap ? ' noswap' : ''}`
    expect(found).toEqual({ ...LIFE, mount, root: '0 1777', noswap: found.noswap })
  })

  it('in memory it has no more than its pod may have', async () => {
    expect(await inSameNamespace(WORKER, 'memoryOfPod')).toMatch(/^tmpfs size=32768k/)
  })

  it('is never mounted over somebody else’s mount, nor over data (S22)', async () => {
    expect(await inSameNamespace(WORKER, 'foreign')).toEqual({
      isTmpfs: false,
      states: ['blocked ForeignMount'],
      layers: 1,
    })
    expect(await inSameNamespace(WORKER, 'dataUnderneath')).toEqual({
      states: ['blocked DataUnderMountPoint'],
      data: 'precious',
    })
  })
})

describe.skipIf(noHugePages !== undefined)(
  `emptyDir of huge pages${noHugePages === undefined ? '' : ` (${noHugePages})`}`,
  () => {
    it('is made, is there, and goes with its pod', async () => {
      expect(await inSameNamespace(WORKER, 'hugePages')).toEqual({
        ...LIFE,
        mount: 'hugetlbfs pagesize=2M',
        root: '0 755',
      })
    })

    it('is not mounted over pages of another size', async () => {
      expect(await inSameNamespace(WORKER, 'otherHugePages')).toEqual({ states: ['blocked ForeignMount'], layers: 1 })
    })

    it('comes to the same end when killed before any change', () => comesToTheSameEnd('HugePages-2Mi', '2000 2775'))
  },
)

describe.skipIf(noRoot !== undefined)(`emptyDir of a group${noRoot === undefined ? '' : ` (${noRoot})`}`, () => {
  it('gives what is in it to the group, and nothing outside', async () => {
    expect(await inSameNamespace(WORKER, 'group')).toEqual({
      states: ['done'],
      inside: ['2000 2777', '2000 660'],
      link: 2000,
      outside: ['0 700', '0 600'],
      said: ['/bound: not given to group 2000, since another mount is there'],
      after: [],
    })
  })

  it('goes on where it was interrupted', async () => {
    expect(await inSameNamespace(WORKER, 'interrupted')).toEqual({
      first: { states: ['interrupted Interrupted'], given: 10, marker: false },
      second: { states: ['done'], given: 40, marker: true },
      after: [],
    })
  })

  it.each([
    { medium: '', root: '2000 2777' },
    { medium: 'Memory', root: '2000 3777' },
  ])('comes to the same end when killed before any change (medium "$medium")', ({ medium, root }) =>
    comesToTheSameEnd(medium, root),
  )
})

/** The group is there in the end, whenever the first apply died. */
async function comesToTheSameEnd(medium: string, root: string): Promise<void> {
  const found = await inSameNamespace<{ kills: number; ends: object[] }>(WORKER, 'killed', [medium])
  const layers = medium === '' ? 0 : 1
  expect(found.ends).toEqual([{ root, layers, operations: [] }])
  expect(found.kills).toBeGreaterThan(5)
}
