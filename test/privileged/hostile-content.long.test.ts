import { describe, expect, it } from 'vitest'
import { inSameNamespace } from '../helpers/in-namespace.ts'
import { noMounts } from '../helpers/namespace.ts'

const WORKER = new URL('./workers/hostile-content.ts', import.meta.url)

describe.skipIf(noMounts !== undefined)(`a hostile pod${noMounts === undefined ? '' : ` (${noMounts})`}`, () => {
  it('links, control sequences, 255-byte names, 100,000 files, 4,000 levels: all goes, and nothing outside has changed', async () => {
    expect(await inSameNamespace(WORKER, 'pod')).toEqual({
      made: ['done', 'done', 'done', 'done'],
      asked: ['DeletesData', 'DeletesData', 'DeletesData', 'DeletesData'],
      // Files that were renamed while the others were deleted keep their directory, and the pod's, for the next run.
      first: ['done', 'done', 'done', 'failed UnexpectedFile', 'skipped UnexpectedFile'],
      second: ['done', 'done'],
      untouched: true,
      pods: ['00000000-0000-4000-8000-00000000000a'],
      left: [],
    })
  })

  it('S13: what has a name that is not UTF-8 is data as well: only that of an emptyDir goes, with --orphans', async () => {
    expect(await inSameNamespace(WORKER, 'bytes')).toEqual({
      without: { states: ['blocked DeletesData'], left: 4 },
      orphans: { states: ['done', 'done'], left: 3 },
      after: [],
      // The three with data, the one whose own name it is, and the node's own pod.
      kept: 5,
    })
  })
})
