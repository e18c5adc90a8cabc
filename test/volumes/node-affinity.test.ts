import { describe, expect, it } from 'vitest'
import type { NodeSelectorTerm } from '../../src/core/kube/api/objects.ts'
import { matchesNode } from '../../src/core/volumes/node-affinity.ts'
import { volume } from './builders.ts'

const node = { metadata: { name: 'node-1', uid: 'u', labels: { zone: 'a', size: '5', word: 'x' } } }

function term(key: string, operator: string, ...values: string[]): NodeSelectorTerm {
  return { matchExpressions: [{ key, operator, ...(values.length === 0 ? {} : { values }) }] }
}

function field(operator: string, ...values: string[]): NodeSelectorTerm {
  return { matchFields: [{ key: 'metadata.name', operator, values }] }
}

describe('R430#2: required node affinity of a PersistentVolume', () => {
  it.each<{ name: string; terms: NodeSelectorTerm[]; want: boolean }>([
    { name: 'In', terms: [term('zone', 'In', 'b', 'a')], want: true },
    { name: 'In, other value', terms: [term('zone', 'In', 'b')], want: false },
    { name: 'In, no label', terms: [term('rack', 'In', 'a')], want: false },
    { name: 'NotIn', terms: [term('zone', 'NotIn', 'b')], want: true },
    { name: 'NotIn, same value', terms: [term('zone', 'NotIn', 'a')], want: false },
    { name: 'NotIn, no label', terms: [term('rack', 'NotIn', 'a')], want: true },
    { name: 'Exists', terms: [term('zone', 'Exists')], want: true },
    { name: 'Exists, no label', terms: [term('rack', 'Exists')], want: false },
    { name: 'Exists, a name of every object', terms: [term('constructor', 'Exists')], want: false },
    { name: 'DoesNotExist', terms: [term('rack', 'DoesNotExist')], want: true },
    { name: 'DoesNotExist, label', terms: [term('zone', 'DoesNotExist')], want: false },
    { name: 'Gt', terms: [term('size', 'Gt', '4')], want: true },
    { name: 'Gt, equal', terms: [term('size', 'Gt', '5')], want: false },
    { name: 'Lt', terms: [term('size', 'Lt', '10')], want: true },
    { name: 'Lt, label no number', terms: [term('word', 'Lt', '10')], want: false },
    { name: 'Gt, value no number', terms: [term('size', 'Gt', 'x')], want: false },
    { name: 'Gt, two values', terms: [term('size', 'Gt', '1', '2')], want: false },
    { name: 'unknown operator', terms: [term('zone', 'Like', 'a')], want: false },
    { name: 'second term matches', terms: [term('zone', 'In', 'b'), term('zone', 'In', 'a')], want: true },
    { name: 'both parts of a term', terms: [{ ...term('zone', 'In', 'a'), ...field('In', 'other') }], want: false },
    { name: 'an empty term', terms: [{}], want: false },
    { name: 'no terms', terms: [], want: false },
    { name: 'name In', terms: [field('In', 'node-1')], want: true },
    { name: 'name In, other', terms: [field('In', 'node-2')], want: false },
    { name: 'name NotIn', terms: [field('NotIn', 'node-2')], want: true },
    { name: 'name NotIn, same', terms: [field('NotIn', 'node-1')], want: false },
    { name: 'name with two values', terms: [field('In', 'node-1', 'node-2')], want: false },
  ])('$name: $want', ({ terms, want }) => {
    const pv = volume('claim', { nodeAffinity: { required: { nodeSelectorTerms: terms } } })
    expect(matchesNode(pv, node)).toBe(want)
  })

  it('without a required affinity every node fits', () => {
    expect(matchesNode(volume(), node)).toBe(true)
    expect(matchesNode(volume('claim', { nodeAffinity: {} }), node)).toBe(true)
  })
})
