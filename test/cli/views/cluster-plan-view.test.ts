import { describe, expect, it } from 'vitest'
import type { ClusterNode, ClusterState } from '../../../src/core/cluster/model/cluster-state.ts'
import { clusterAnswerOf } from '../../../src/core/views/answer/cluster-answer.ts'
import { renderPlan } from '../../../src/core/views/plan-view.ts'
import { PLAIN_SCREEN } from '../../../src/core/views/screen.ts'
import { attachment, bound, cluster, node, pod, silentNode, uniqueName } from '../../helpers/cluster-builder.ts'
import { planOf } from '../../helpers/cluster-plan.ts'
import { tooWide } from '../../helpers/screens.ts'
import { WORKED_CLUSTERS } from '../../helpers/worked-clusters.ts'
import { SCENES } from './cluster-scenes.ts'

const CONTEXT = { applyFlags: ['--cluster'] }
const LOOK = { unfolded: false, context: CONTEXT }

it.each(['a node that is gone', 'pods that cannot be listed'])(
  'the plan of a cluster is drawn as before: %s',
  async (name) => {
    const plan = planOf(SCENES[name] ?? expect.unreachable())
    const screens = [80, 120, undefined].map((width) => renderPlan(plan, { ...PLAIN_SCREEN, width }, LOOK))
    await expect(screens.join('\n==== \n')).toMatchFileSnapshot(`./cluster-screens/${name.replaceAll(' ', '-')}.txt`)
  },
)

it.each(Object.entries({ ...SCENES, ...WORKED_CLUSTERS }))(
  'the plan of a cluster has no line too wide, and says verdict and counts last: %s',
  (_, state) => {
    const text = renderPlan(planOf(state), { ...PLAIN_SCREEN, width: 80 }, LOOK)
    expect(tooWide(text, 80)).toEqual([])
    const last = text.trimEnd().split('\n').slice(-8).join(' ')
    expect(last).toMatch(/Nothing to do|Nothing is ready|operations?: |Refused/)
  },
)

it('the next step begins with what a person does, not with why', () => {
  const plan = planOf(SCENES['a node that is gone'] ?? expect.unreachable())
  const look = { ...plan, operations: [] }
  const text = renderPlan(look, PLAIN_SCREEN, LOOK)
  expect(text).toContain(
    '\nNext: make sure that the machine is off, then: volctl plan --cluster --node-gone a  # shows what that allows\n',
  )
})

/** Volumes x and y, each wanted by a pod on both nodes. */
const both = (a: ClusterNode, b: ClusterNode, ...attached: readonly string[]): ClusterState =>
  cluster({
    ...bound('x', 'y'),
    nodes: [a, b],
    pods: [pod('p', 'a', ['x']), pod('q', 'b', ['x']), pod('r', 'a', ['y']), pod('s', 'b', ['y'])],
    attachments: attached.map((name) => attachment(name, 'a')),
  })
const USING = { volumesInUse: [uniqueName('x'), uniqueName('y')] }

describe('two volumes that several nodes want are one, by what holds for both, with what each needs', () => {
  it.each<{ name: string; state: ClusterState; remedies: readonly RegExp[] }>([
    {
      name: 'nobody has them',
      state: both(node('a'), node('b')),
      remedies: [/: kubectl delete pod -n default p$/, /: kubectl delete pod -n default r$/],
    },
    {
      name: 'both nodes have them',
      state: both(node('a', USING), node('b', USING), 'x', 'y'),
      remedies: [/^Before anything else, .* pods on the other nodes\.$/],
    },
    {
      name: 'a node that is silent has them',
      state: both(silentNode('a', 30, USING), node('b'), 'x', 'y'),
      remedies: [/; then kubectl delete pod -n default p --force$/, /; then kubectl delete pod -n default r --force$/],
    },
  ])('$name', ({ state, remedies }) => {
    const [need] = clusterAnswerOf(planOf(state), CONTEXT).needs
    expect(need).toMatchObject({
      text: '2 volumes may be on one node only, and several nodes have or want each',
      names: 'pv-x, pv-y',
    })
    expect(need?.remedy).toEqual(remedies.map((each) => expect.stringMatching(each)))
  })
})

it('what waits for something else has a row of its own', () => {
  const { parts } = clusterAnswerOf(
    planOf({
      ...(SCENES['left over, and a controller'] ?? expect.unreachable()),
      ...bound('x', 'y', 'z'),
      nodes: [node('a', { volumesInUse: [uniqueName('x')] })],
      attachments: ['x', 'y', 'z'].map((name) => attachment(name, 'a')),
    }),
    CONTEXT,
  )
  const others = parts.find(({ name }) => name === 'Left to others')
  expect(others?.rows.map(({ label, text }) => `${label}: ${text}`).toSorted()).toEqual([
    'pv-x on a: the attach/detach controller detaches the volume from node a once the node no longer reports the volume in use',
    expect.stringMatching(
      /^pv-[yz] on a: the attach\/detach controller detaches the volume from node a; likewise pv-[yz] on a$/,
    ),
  ])
})

it('behind apply stands what lifts the cause on top', () => {
  const state = both(node('a'), node('b'), 'x', 'y', 'gone')
  const { next } = clusterAnswerOf(planOf(state), CONTEXT)
  expect(next.map(({ command }) => command)).toEqual(['volctl apply --cluster', 'volctl plan --cluster volume/pv-x'])
})
