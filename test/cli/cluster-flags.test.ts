import { describe, expect, it } from 'vitest'
import { clusterOptions, requireFlagsOfScope } from '../../src/core/cli/options.ts'
import { planOptions } from '../helpers/plan-options.ts'

describe('--node', () => {
  it.each([
    { node: undefined, nodes: undefined },
    { node: ['a'], nodes: ['a'] },
    { node: ['a,b', 'c', ','], nodes: ['a', 'b', 'c'] },
  ])('of a cluster: $node', ({ node, nodes }) => {
    expect(clusterOptions({ cluster: true, node }, planOptions()).nodes).toEqual(nodes)
    expect(() => requireFlagsOfScope({ cluster: true, node })).not.toThrow()
  })

  it('names one node where the pass is over one', () => {
    expect(() => requireFlagsOfScope({ node: ['a'] })).not.toThrow()
    expect(() => requireFlagsOfScope({ node: ['a', 'b'] })).toThrow('a pass over one node takes one --node')
  })
})
