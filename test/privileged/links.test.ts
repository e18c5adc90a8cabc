/** Links in place of the kubelet's directories, on a real disk (S8): deeper ones, and such that change under an apply. */
import { describe, expect, it } from 'vitest'
import { csiGlobalDir } from '../../src/core/names/volume-names.ts'
import { inNamespace } from '../helpers/in-namespace.ts'
import { noMounts, noRoot } from '../helpers/namespace.ts'

const WORKER = new URL('./links.worker.ts', import.meta.url)
const GONE = 'pods/00000000-0000-4000-8000-000000000009'
const WANTED = 'pods/00000000-0000-4000-8000-000000000008'

interface Deeper {
  readonly complete: boolean
  readonly links: readonly string[]
  readonly outcomes: readonly string[]
  readonly untouched: boolean
}

const deeper = (path = ''): Promise<Deeper> => inNamespace(WORKER, 'deeper', [path])

describe.skipIf(noMounts !== undefined)(`links on the disk${noMounts === undefined ? '' : ` (${noMounts})`}`, () => {
  it('a control: with no link all is done, and a pod that lives keeps what it has', async () => {
    expect(await deeper()).toEqual({
      complete: true,
      links: [],
      outcomes: ['DetachVolume', 'RemoveOrphanPodDir', 'UnmapDevice', 'UnmountDevice', 'UnmountVolume'].map(
        (kind) => `${kind}: done`,
      ),
      untouched: true,
    })
  })

  it.each([
    GONE,
    `${GONE}/volumes`,
    `${GONE}/volumes/kubernetes.io~empty-dir`,
    `${GONE}/volumes/kubernetes.io~empty-dir/scratch`,
    WANTED,
    `${WANTED}/volumes`,
    `${WANTED}/volumes/kubernetes.io~empty-dir`,
    csiGlobalDir('disk.test', 'old'),
    'plugins/kubernetes.io/csi/volumeDevices/pv-old',
  ])('S8: behind %s nothing is touched, and no device is undone', async (path) => {
    const found = await deeper(path)
    expect(found).toMatchObject({ complete: false, links: [path], untouched: true })
    expect(found.outcomes).toContain('DetachVolume: blocked LinkInPlace')
    // Empty directories elsewhere, and what another pod has left, go.
    const kept = path.startsWith(GONE)
      ? ['UnmountVolume', 'RemoveOrphanPodDir']
      : [path.includes('volumeDevices') ? 'UnmapDevice' : 'UnmountDevice']
    if (!path.startsWith(WANTED)) for (const kind of kept) expect(found.outcomes).not.toContain(`${kind}: done`)
  })

  it.each(['circle', 'dangling', 'upwards', 'plugins', ...(noRoot === undefined ? ['owner'] : [])])(
    'S8: a link in place of all pods that is not gone through hides every one of them: %s',
    async (how) => {
      const found = await inNamespace<Deeper>(WORKER, 'pods', [how])
      expect(found).toMatchObject({ complete: false, links: ['pods'], untouched: true })
      expect(found.outcomes).toContain('DetachVolume: blocked LinkInPlace')
      // Empty directories of the kubelet's own elsewhere may go.
      const others = found.outcomes.filter((each) => !/^Un(?:map|mount)Device: done$/.test(each))
      expect(others.filter((each) => !each.endsWith(': blocked LinkInPlace'))).toEqual([])
    },
  )

  it('a control: what leads where it led is undone, with what is in it (S13)', async () => {
    const outcomes = ['UnmountVolume: done', 'RemoveOrphanPodDir: done']
    expect(await inNamespace(WORKER, 'changed', ['nothing'])).toEqual({ outcomes, left: [1, 2] })
  })

  it.each(['elsewhere', 'dangling', 'directory', ...(noRoot === undefined ? ['owner'] : [])])(
    'S8, S26: a link that leads elsewhere once the apply comes to it refuses all that is behind it: %s',
    async (how) => {
      expect(await inNamespace(WORKER, 'changed', [how])).toEqual({
        outcomes: [
          'UnmountVolume: refused Changed',
          expect.stringMatching(/^RemoveOrphanPodDir: (?:skipped|refused) Changed$/),
        ],
        left: [2, 2],
      })
    },
  )

  it.each([
    'a bind mount by the path of the link',
    'a bind mount by the place',
    'a bind mount of all that is behind it, with a file open',
    'a working directory',
  ])('S8, S12: who uses what is behind it is found: %s', async (how) => {
    expect(await inNamespace(WORKER, 'changed', [how])).toMatchObject({
      outcomes: ['UnmountVolume: refused HeldBy', 'RemoveOrphanPodDir: skipped HeldBy'],
      left: [2, 2],
    })
  })

  it("S8: a volume's whole life behind links of a driver and of pods", async () => {
    expect(await inNamespace(WORKER, 'driverDirectory')).toEqual({
      set: ['done', 'done'],
      present: ['staged', 'stage file', 'published', 'publish file'],
      inTable: 2,
      after: [],
      gone: Array(5).fill('done'),
      said: [],
      left: [[], [], false],
      attachments: 0,
      end: [],
    })
  })
})
