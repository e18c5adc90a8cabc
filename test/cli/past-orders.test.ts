import { mkdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { withPastOrders } from '../../src/core/cli/past-orders.ts'
import { openJournal } from '../../src/core/journal/write-journal.ts'
import { temporaryDirectory } from '../apply/temporary-directory.ts'
import { OPTIONS } from '../cluster/apply/scene.ts'
import { attachment, cluster, pod } from '../helpers/cluster-builder.ts'

const HERE = { server: 'https://api.example:6443', uid: 'cluster-uid' }

/** A journal with one apply that was killed right after its beginning. */
function journalWith(begin: object): string {
  const directory = temporaryDirectory()
  using journal = openJournal(directory)
  journal.write({ type: 'begin', node: HERE.server, rootDir: '', ...begin } as Parameters<typeof journal.write>[0])
  return directory
}

function goneBefore(journal: string, given: readonly string[], state = cluster()): readonly string[] | undefined {
  return withPastOrders({ ...OPTIONS, nodeGone: given }, state, journal, () => {}).goneBefore
}

describe('a node that nothing names any more, and that is given as gone', () => {
  it.each<{ name: string; begin: object; given: readonly string[]; is: readonly string[] | undefined }>([
    {
      name: 'as an apply before was told of this cluster: known',
      begin: { cluster: HERE, guards: { nodeGone: ['x', 'y'] } },
      given: ['x'],
      is: ['x'],
    },
    {
      name: 'the same cluster at another address: known',
      begin: { cluster: { ...HERE, server: 'https://other:6443' }, guards: { nodeGone: ['x'] } },
      given: ['x'],
      is: ['x'],
    },
    {
      name: 'of another cluster: not known',
      begin: { cluster: { ...HERE, uid: 'other' }, guards: { nodeGone: ['x'] } },
      given: ['x'],
      is: undefined,
    },
    {
      name: 'a name that is only alike: not known',
      begin: { cluster: HERE, guards: { nodeGone: ['node-11'] } },
      given: ['node-1'],
      is: undefined,
    },
    {
      name: 'an apply without the order: not known',
      begin: { cluster: HERE, guards: {} },
      given: ['x'],
      is: undefined,
    },
    { name: 'an apply of a node: not known', begin: { guards: { nodeGone: ['x'] } }, given: ['x'], is: undefined },
    {
      name: 'an order of another shape: not known',
      begin: { cluster: HERE, guards: { nodeGone: 'x' } },
      given: ['x'],
      is: undefined,
    },
    {
      name: 'of several those that are known',
      begin: { cluster: HERE, guards: { nodeGone: ['x'] } },
      given: ['x', 'typo', 'a'],
      is: ['x'],
    },
  ])('$name', ({ begin, given, is }) => expect(goneBefore(journalWith(begin), given)).toEqual(is))

  it('without a journal, or with one that cannot be read, is not known', () => {
    expect(goneBefore('/nowhere/journal', ['x'])).toBeUndefined()
    const directory = temporaryDirectory()
    mkdirSync(`${directory}/journal.jsonl`)
    expect(goneBefore(directory, ['x'])).toBeUndefined()
  })

  it('is looked for only if no attachment, pod or lease names the node', () => {
    const journal = journalWith({ cluster: HERE, guards: { nodeGone: ['x'] } })
    const named = [
      cluster({ attachments: [attachment('v', 'x')] }),
      cluster({ pods: [pod('p', 'x', ['v'])] }),
      cluster({ lostNodes: [{ name: 'x' }] }),
    ]
    for (const state of named) expect(goneBefore(journal, ['x'], state)).toBeUndefined()
  })
})
