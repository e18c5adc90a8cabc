import { describe, expect, it } from 'vitest'
import type { ClusterState } from '../../src/core/cluster/model/cluster-state.ts'
import { changesBetween, lookedAt } from '../../src/core/cluster/model/controller-state.ts'
import { attachment, node } from '../helpers/cluster-builder.ts'

type Look = Pick<ClusterState, 'nodes' | 'attachments'>

const look = (parts: Partial<Look> = {}): Look => ({ nodes: [], attachments: [], ...parts })
const reports = (...names: string[]) => node('a', { volumesAttached: names })

describe('between two looks', () => {
  it.each<{ name: string; before: Look; after: Look; is: readonly string[] }>([
    {
      name: 'one was made anew under the same name: a controller acts',
      before: look({ attachments: [attachment('x', 'a', { uid: 'one' })] }),
      after: look({ attachments: [attachment('x', 'a', { uid: 'two' })] }),
      is: ['created while volctl ran'],
    },
    {
      name: 'volctl made one: no sign',
      before: look(),
      after: look({ attachments: [attachment('x', 'a', { byVolctl: true })] }),
      is: [],
    },
    {
      name: 'an attachment went: no sign',
      before: look({ attachments: [attachment('x', 'a')] }),
      after: look(),
      is: [],
    },
    {
      name: 'a Node reports others as attached: a controller acts',
      before: look({ nodes: [reports('v1')] }),
      after: look({ nodes: [reports('v2')] }),
      is: ['volumesAttached of node a changed'],
    },
    {
      name: 'the same in another order: no sign',
      before: look({ nodes: [reports('v1', 'v2')] }),
      after: look({ nodes: [reports('v2', 'v1')] }),
      is: [],
    },
    {
      name: 'a Node came, another was made anew: no sign',
      before: look({ nodes: [reports('v1')] }),
      after: look({ nodes: [{ ...reports(), uid: 'other' }, node('b', { volumesAttached: ['v'] })] }),
      is: [],
    },
    {
      name: 'a Node whose kubelet attaches by itself: no sign',
      before: look({ nodes: [{ ...reports('v1'), managed: false }] }),
      after: look({ nodes: [{ ...reports(), managed: false }] }),
      is: [],
    },
  ])('$name', ({ before, after, is }) => {
    expect(changesBetween(lookedAt(before), after)).toEqual(is.map((part) => expect.stringContaining(part)))
  })
})
