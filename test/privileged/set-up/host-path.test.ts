import { describe, expect, it } from 'vitest'
import { inSameNamespace } from '../../helpers/in-namespace.ts'
import { noMounts, noRoot } from '../../helpers/namespace.ts'

const WORKER = new URL('./host-path.worker.ts', import.meta.url)

describe.skipIf(noMounts !== undefined)(`hostPath for real${noMounts === undefined ? '' : ` (${noMounts})`}`, () => {
  it('what is of another type than the volume says is blocked, links followed (P58)', async () => {
    expect(await inSameNamespace(WORKER, 'matrix')).toEqual({
      Directory: ['dir fine', 'link to dir fine'],
      DirectoryOrCreate: ['dir fine', 'link to dir fine', 'dangling failed WriteFailed'],
      File: ['file fine'],
      FileOrCreate: ['file fine', 'dangling done'],
      Socket: ['socket fine'],
      CharDevice: ['char fine'],
      Nonsense: [],
    })
  })

  it('what is missing is made where the type says so, and is there then', async () => {
    expect(await inSameNamespace(WORKER, 'made')).toEqual({
      states: ['done', 'done'],
      modes: ['755', '755', '644'],
      after: [],
    })
  })

  it('what cannot be made fails', async () => {
    expect(await inSameNamespace(WORKER, 'notMade')).toEqual({
      'no parent': 'failed WriteFailed',
      'a file above': 'failed WriteFailed',
      'a link to nowhere': 'failed WriteFailed',
      'a step back': 'blocked HostPathType',
    })
  })

  it('of a pod that runs nothing is looked at', async () => {
    expect(await inSameNamespace(WORKER, 'running')).toEqual({ looked: [], operations: 0 })
  })

  it.skipIf(noRoot !== undefined)('what a container puts in its place keeps its mode', async () => {
    expect(await inSameNamespace(WORKER, 'swapped')).toEqual({ state: 'done', linked: true, mode: '600' })
  })

  it('takes no mount options (P14)', async () => {
    expect(await inSameNamespace(WORKER, 'mountOptions')).toEqual(['blocked PluginUnsupported'])
  })

  it.skipIf(noRoot !== undefined)('a path that does not answer hides none of the others', async () => {
    expect(await inSameNamespace(WORKER, 'hanging')).toEqual([
      ['/away', 'Timeout'],
      ['/dir', 'dir'],
      ['/missing', 'absent'],
    ])
  })
})
