import { describe, expect, it } from 'vitest'
import { inSameNamespace } from '../helpers/in-namespace.ts'
import { noMounts } from '../helpers/namespace.ts'

const WORKER = new URL('./workers/deleting.ts', import.meta.url)

interface Found {
  readonly outcome: string
  readonly left: string[]
  readonly untouched: boolean
}

describe.skipIf(noMounts !== undefined)(
  `S12: deleting content${noMounts === undefined ? '' : ` (${noMounts})`}`,
  () => {
    it.each([
      { scenario: 'links', outcome: 'deleted 6', left: [] },
      { scenario: 'oddNames', outcome: 'deleted 2', left: [] },
      { scenario: 'deep', outcome: 'deleted 3000', left: [] },
      { scenario: 'bindMount', outcome: 'ForeignMount', left: ['0-bind'] },
      { scenario: 'fileBindMount', outcome: 'ForeignMount', left: ['0-bind'] },
      { scenario: 'volumeIsALink', outcome: 'ENOTDIR, Swapped', left: [] },
      { scenario: 'otherMount', outcome: 'ForeignMount', left: ['file'] },
    ])('$scenario: $outcome, and nothing outside has changed', async ({ scenario, outcome, left }) => {
      const found = await inSameNamespace<Found>(WORKER, scenario)
      expect(found).toEqual({ outcome, left, untouched: true })
    })

    it('S13: of an emptyDir in which the plan saw no file only directories are deleted', async () => {
      expect(await inSameNamespace(WORKER, 'uncounted')).toEqual({
        'saw none': ['failed UnexpectedFile', true],
        'saw one': ['done', false],
      })
    })

    it('is refused while somebody is inside, whatever the directory is called there', async () => {
      expect(await inSameNamespace(WORKER, 'holders')).toEqual({
        cwd: 'refused HeldBy',
        file: 'refused HeldBy',
        namespace: 'refused HeldBy',
        nobody: 'done',
        exists: false,
      })
    })
  },
)
