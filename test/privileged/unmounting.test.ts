import { describe, expect, it } from 'vitest'
import { inSameNamespace } from '../helpers/in-namespace.ts'
import { noMounts } from '../helpers/namespace.ts'

const WORKER = new URL('./workers/unmounting.ts', import.meta.url)

describe.skipIf(noMounts !== undefined)(`unmounting for real${noMounts === undefined ? '' : ` (${noMounts})`}`, () => {
  it('S27: unmounts hundreds in one go, believes the mount table read after it, and names who holds the one that is busy', async () => {
    const found = await inSameNamespace<{
      done: number
      failed: { id: string; code: string; message: string }[]
      sleeper: number
      left: string[]
      second: object
      directories: number
    }>(WORKER, 'batch')
    expect(found.done).toBe(299)
    expect(found.failed).toEqual([
      { id: 'v7', code: 'HeldBy', message: expect.stringContaining(`sleep (pid ${found.sleeper}, cwd)`) },
    ])
    expect(found.left).toEqual([expect.stringMatching(/\/v7$/)])
    expect(found).toMatchObject({ second: { v7: 'done' }, directories: 0 })
  })

  it('S18: takes a stack of mounts off layer by layer', async () => {
    expect(await inSameNamespace(WORKER, 'stacked')).toEqual({
      states: { a: 'done', b: 'done' },
      left: 0,
      exists: false,
    })
  })

  it('S12, S18: unmounts sub-paths and leaves their content alone', async () => {
    expect(await inSameNamespace(WORKER, 'subPaths')).toEqual({
      states: { a: 'done' },
      exists: false,
      content: 'precious',
    })
  })

  it('S6: removes no directory that is a mount point in another namespace (R036)', async () => {
    expect(await inSameNamespace(WORKER, 'elsewhere')).toEqual({
      states: { a: 'failed HeldBy' },
      seen: true,
      said: ['ready', 'data'],
      exists: true,
    })
  })

  it('does nothing that cannot be written into the journal first', async () => {
    const found = await inSameNamespace<{ states: Record<string, string>; exit: number; left: string[] }>(
      WORKER,
      'journalFull',
    )
    const ids = (state: string) => Object.keys(found.states).filter((id) => found.states[id] === state)
    expect(ids('done').length).toBeGreaterThan(0)
    expect(found.left).toEqual([...ids('failed JournalFailed'), ...ids('refused JournalFailed')])
    expect(found.left.length + ids('done').length).toBe(12)
    expect(found.exit).toBe(3)
  })

  it('S27: another mount in the place of the one that the plan was made on is told by its id, and stays', async () => {
    expect(await inSameNamespace(WORKER, 'replaced')).toEqual({
      states: { a: 'refused ForeignMount' },
      files: ['file'],
    })
  })

  it('S18, S26: touches nothing where a foreign mount has come', async () => {
    expect(await inSameNamespace(WORKER, 'foreign')).toEqual({ states: { a: 'refused ForeignMount' }, files: ['file'] })
  })
})
