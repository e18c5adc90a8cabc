/** `volctl explain node/NAME`: this node as a whole; another node is said to be one. */
import { describe, expect, it } from 'vitest'
import type { Explanation } from '../../src/core/explain/explanation.ts'
import { renderExplanation } from '../../src/core/views/explain-view.ts'
import { PLAIN_SCREEN } from '../../src/core/views/screen.ts'
import { explanationDefects } from '../helpers/closed-schema.ts'
import { explain, told } from '../helpers/explaining.ts'
import { type NodeBuilder, node, uid } from '../helpers/node-builder.ts'
import { planOptions } from '../helpers/plan-options.ts'
import { thrownBy } from '../kube/connect.ts'

/** A pod with its volume, an orphan with another; a third volume is only in the API. */
const built = (): NodeBuilder =>
  node()
    .served(uid(2), 'web-0')
    .persistentVolume('pv-2')
    .persistentVolume('pv-3', { attached: false })
    .published(uid(9), 'pv-2', '7:2')
    .staged('pv-2', '7:2')

function ask(what: string, of = built()): Explanation {
  const { explanation, ...held } = explain(of.build(), planOptions(), what)
  expect(explanationDefects(explanation)).toEqual([])
  // All processes are not asked about all volumes.
  expect(held).toMatchObject({ heldAt: [], content: [], devices: [] })
  return explanation
}

const facts = ({ identity }: Explanation): Record<string, string> =>
  Object.fromEntries(identity.map(({ label, value }) => [label, value]))

describe('this node', () => {
  const answer = ask('node/node-1')

  it('has what its Node object reports, and wide what the plan was made of', () => {
    expect(answer.subject).toEqual({ kind: 'Node', name: 'node-1' })
    expect(renderExplanation(answer, { ...PLAIN_SCREEN, wide: true })).toMatch(
      /\nRoot: .*\n(?:.*\n)*Kubelet: +stopped\n(?:.*\n)*Pods: .*\n/,
    )
    expect(facts(answer)).toEqual({
      Booted: '2026-11-20T00:00:00Z',
      Attached: '2 in node.status.volumesAttached, 2 VolumeAttachments',
      'In use': '2 in node.status.volumesInUse',
      Ready: 'True, heartbeat of 2026-11-21T11:58:00Z',
    })
  })

  it("is meant by its name alone, and by kubectl's words", () => {
    for (const what of ['node-1', 'nodes/node-1', 'no/node-1']) expect(ask(what).subject.kind).toBe('Node')
  })

  it('that is healthy has nothing to do', () =>
    expect(ask('node/node-1', node()).verdict.message).toBe(
      'nothing to do: every volume of this node is as it should be',
    ))
})

describe('another thing', () => {
  it('a pod with the name of the node, or in a namespace that is called node', () => {
    const named = built().livingPod(uid(3), 'node-1')
    expect(told(named, 'node-1').subject).toEqual({ kind: 'Pod', name: 'default/node-1' })
    named.pod(uid(4), 'web', [], { metadata: { namespace: 'node' } })
    expect(told(named, 'node/web').subject).toEqual({ kind: 'Pod', name: 'node/web' })
  })

  it('another node is said to be one', () => {
    expect(thrownBy(() => ask('node/node-7'))).toMatchObject({
      code: 'NotFound',
      message: 'node "node-7" is another node, or none: this one is node-1',
      hint: expect.stringContaining('volctl explain node/node-1'),
    })
  })
})
