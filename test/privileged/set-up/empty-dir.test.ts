import { describe, expect, it } from 'vitest'
import { inNamespace, noMounts } from '../../helpers/namespace.ts'

const WORKER = new URL('./empty-dir.worker.ts', import.meta.url)

describe.skipIf(noMounts !== undefined)(`emptyDir for real${noMounts === undefined ? '' : ` (${noMounts})`}`, () => {
  it('is made, is there, and goes with its pod', async () => {
    expect(await inNamespace(WORKER, 'disk')).toEqual({
      states: ['done'],
      mode: '777',
      after: [],
      gone: ['done', 'done'],
      left: [],
    })
  })

  it('fails, and leaves what it found, where a file is in its place', async () => {
    expect(await inNamespace(WORKER, 'fileInTheWay')).toEqual(['failed WriteFailed'])
  })
})
