import { describe, expect, it } from 'vitest'
import { inSameNamespace } from '../../helpers/in-namespace.ts'
import { noRoot } from '../../helpers/namespace.ts'

const WORKER = new URL('./ownership.worker.ts', import.meta.url)
const OUTSIDE = ['0 700', '0 600']

describe.skipIf(noRoot !== undefined)(`fsGroup for real${noRoot === undefined ? '' : ` (${noRoot})`}`, () => {
  it('gives files and directories to the group, and links themselves, never what they lead to (P31)', async () => {
    expect(await inSameNamespace(WORKER, 'everyType')).toEqual({
      inside: [
        '2000 2777',
        '2000 2775',
        '2000 2775',
        '2000 660',
        '2000 4775',
        '2000 link',
        '2000 link',
        '2000 link',
        '2000 660',
      ],
      owner: true,
      outside: OUTSIDE,
      change: { entries: 9, failed: 0, mounts: [] },
    })
  })

  it('sets fewer bits where the volume is only to be read', async () => {
    expect(await inSameNamespace(WORKER, 'readOnly')).toEqual(['2000 2750', '2000 440'])
  })

  it('leaves what is bound into the volume alone, directory or file, and names it', async () => {
    expect(await inSameNamespace(WORKER, 'bindMounts')).toEqual({
      mounts: ['/0-dir', '/1-file'],
      outside: OUTSIDE,
      own: ['2000 2777', '2000 660'],
    })
  })

  it('trusts the root where the policy says so (P32)', async () => {
    expect(await inSameNamespace(WORKER, 'policies')).toEqual({
      'root right, Always': ['false', '2000 2770', '2000 2770'],
      'root right, OnRootMismatch': ['true', '2000 2770', '2000 700'],
      'root wrong, OnRootMismatch': ['false', '2000 2770', '2000 2770'],
    })
  })

  it('goes as deep as there are directories', async () => {
    expect(await inSameNamespace(WORKER, 'deep')).toEqual({ entries: 3001, deepest: ['0 755'], changed: ['2000 2775'] })
  })

  it('changes the root last, so that a walk that was interrupted is made again', async () => {
    expect(await inSameNamespace(WORKER, 'interrupted')).toEqual({
      half: { outcome: 'Interrupted', root: ['0 777'], given: 10 },
      again: 41,
      root: ['2000 2777'],
      given: 40,
      third: true,
    })
  })

  it('refuses a directory that is reached through a link', async () => {
    expect(await inSameNamespace(WORKER, 'swappedRoot')).toEqual({
      outcomes: ['ENOTDIR', 'Swapped'],
      outside: OUTSIDE,
      volume: ['0 777'],
    })
  })

  it('never leaves the volume while names are swapped for links and mounts thousands of times', async () => {
    expect(await inSameNamespace(WORKER, 'swaps')).toEqual({
      walked: true,
      outcomes: [],
      outside: OUTSIDE,
      attacker: 0,
    })
  })
})
