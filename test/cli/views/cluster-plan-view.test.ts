import { describe, expect, it } from 'vitest'
import type { ClusterState } from '../../../src/core/cluster/model/cluster-state.ts'
import { planCluster } from '../../../src/core/cluster/pass/plan-cluster.ts'
import { renderClusterPlan } from '../../../src/core/views/cluster-plan-view.ts'
import { PLAIN_SCREEN } from '../../../src/core/views/screen.ts'
import { textWidth } from '../../../src/core/views/text-width.ts'
import {
  ALIVE,
  attachment,
  bound,
  cluster,
  clusterOptions,
  node,
  pod,
  silentNode,
  uniqueName,
} from '../../helpers/cluster-builder.ts'

const LIVING = { lease: ALIVE, leaseAtEnd: ALIVE }
const MANY = Array.from({ length: 12 }, (_, index) => `v${index}`)

const inUse = (name: string, ...volumes: string[]) =>
  node(name, {
    volumesInUse: volumes.map((each) => uniqueName(each)),
    volumesAttached: volumes.map((each) => uniqueName(each)),
  })

const SCENES: Readonly<Record<string, ClusterState>> = {
  healthy: cluster({
    controller: LIVING,
    nodes: [inUse('a', 'db'), node('b')],
    pods: [pod('db-0', 'a', ['db'])],
    attachments: [attachment('db', 'a')],
    ...bound('db'),
  }),
  'left over, and no controller': cluster({
    attachments: MANY.map((name) => attachment(name, 'a')),
    ...bound(...MANY),
  }),
  'left over, and a controller': cluster({
    controller: LIVING,
    attachments: MANY.map((name) => attachment(name, 'a')),
    ...bound(...MANY),
  }),
  'a node that is gone': cluster({
    nodes: [node('b')],
    pods: [pod('db-0', 'b', ['db'])],
    attachments: [attachment('db', 'a')],
    ...bound('db'),
  }),
  'two pods of one volume': cluster({
    nodes: [inUse('a', 'db'), node('b')],
    pods: [pod('db-0', 'a', ['db']), pod('db-1', 'b', ['db'], { started: false, phase: 'Pending' })],
    attachments: [attachment('db', 'a')],
    ...bound('db'),
  }),
  'a node that is silent': cluster({
    nodes: [{ ...silentNode('a', 30), volumesInUse: [uniqueName('db')] }, node('b')],
    attachments: [attachment('db', 'a')],
    ...bound('db'),
  }),
  'pods that cannot be listed': cluster({
    lists: { ...cluster().lists, pods: { state: 'failed', count: 0 } },
    errors: [{ resource: 'pods', status: 403, reason: 'Forbidden', message: 'pods is forbidden' }],
    attachments: [attachment('db', 'a')],
    ...bound('db'),
  }),
}

const LOOK = { unfolded: false, applyCommand: 'volctl apply --cluster' }

describe.each(Object.entries(SCENES))('the plan of a cluster: %s', (name, state) => {
  const plan = planCluster(state, clusterOptions())

  it('is drawn as before', async () => {
    const screens = [80, 120, undefined].map((width) => renderClusterPlan(plan, { ...PLAIN_SCREEN, width }, LOOK))
    await expect(screens.join('\n==== \n')).toMatchFileSnapshot(`./cluster-screens/${name.replaceAll(/\W+/g, '-')}.txt`)
  })

  it('has no line that is too wide, but for a command', () => {
    const lines = renderClusterPlan(plan, { ...PLAIN_SCREEN, width: 80 }, LOOK).split('\n')
    expect(lines.filter((line) => textWidth(line) > 80 && !/kubectl|volctl|csi-[0-9a-f]{64}/.test(line))).toEqual([])
  })

  it('says verdict and counts last', () => {
    const lines = renderClusterPlan(plan, { ...PLAIN_SCREEN, width: 80 }, LOOK)
      .trimEnd()
      .split('\n')
    expect(lines.slice(-8).join(' ')).toMatch(/Nothing to do|operations?: |volctl can do nothing|Refused/)
  })
})
