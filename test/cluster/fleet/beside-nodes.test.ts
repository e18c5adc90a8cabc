/** The status of a cluster beside snapshots of its nodes: what each node really has, and who does not agree. */
import { describe, expect, it } from 'vitest'
import planSchema from '../../../schema/cluster-plan.schema.json' with { type: 'json' }
import statusSchema from '../../../schema/cluster-status.schema.json' with { type: 'json' }
import nodePlanSchema from '../../../schema/plan.schema.json' with { type: 'json' }
import { clusterAnswerOf } from '../../../src/core/answer/cluster-answer.ts'
import { besideNodes } from '../../../src/core/cluster/fleet/beside-nodes.ts'
import type { NodeLedger } from '../../../src/core/cluster/fleet/node-ledger.ts'
import type { ClusterState } from '../../../src/core/cluster/model/cluster-state.ts'
import { clusterStatus } from '../../../src/core/cluster/status/cluster-status.ts'
import { csiUniqueName } from '../../../src/core/names/volume-names.ts'
import type { ClusterOptions } from '../../../src/core/plan/cluster-plan.ts'
import type { ClusterStatus } from '../../../src/core/plan/cluster-status.ts'
import { PLAIN_SCREEN } from '../../../src/core/views/screen.ts'
import { renderStatus } from '../../../src/core/views/status-view.ts'
import { textWidth } from '../../../src/core/views/text-width.ts'
import { schemaCheck } from '../../helpers/closed-schema.ts'
import { ALIVE, clusterOptions, pod } from '../../helpers/cluster-builder.ts'
import { DRIVER } from '../../helpers/node-builder.ts'
import { ledgerOf, PUBLISHED, STAGED, unwanted } from './fleet-nodes.ts'

const X = csiUniqueName(DRIVER, 'h-x')
const defects = schemaCheck(statusSchema, planSchema, nodePlanSchema)

function told(state: ClusterState, ledgers: readonly NodeLedger[], options: Partial<ClusterOptions> = {}) {
  return clusterStatus(state, clusterOptions(options), (context) => besideNodes(context, { ledgers, defects: [] }))
}

const statusOf = (...of: Parameters<typeof told>): ClusterStatus => told(...of).status

const IN_ORDER = unwanted(
  { pods: [pod('p', 'a', ['x'])], controller: { lease: ALIVE } },
  { volumesInUse: [X], volumesAttached: [X] },
)

describe('each volume on each node', () => {
  it.each<{ name: string; state: ClusterState; ledgers: readonly NodeLedger[]; rows: readonly string[]; says: object }>(
    [
      {
        name: 'is where the API has it',
        state: IN_ORDER,
        ledgers: [ledgerOf('a', STAGED), ledgerOf('b')],
        rows: ['a there good'],
        says: { nodes: 2, without: 0, says: { there: 1 }, disagreements: 0 },
      },
      {
        name: 'is still mounted where the API alone would detach it',
        state: unwanted(),
        ledgers: [ledgerOf('a', PUBLISHED)],
        rows: ['a there MountedOnNode'],
        says: { nodes: 1, without: 1, says: { there: 1 }, disagreements: 1 },
      },
      {
        name: 'is proven free where the API keeps it in use',
        state: unwanted({ controller: { lease: ALIVE } }, { volumesInUse: [X] }),
        ledgers: [ledgerOf('a')],
        rows: ['a free ControllerActs'],
        says: { nodes: 1, without: 1, says: { free: 1 }, disagreements: 1 },
      },
      {
        name: 'is not shown where the node has no snapshot',
        state: IN_ORDER,
        ledgers: [ledgerOf('b')],
        rows: ['a unknown good'],
        says: { nodes: 1, without: 1, says: { unknown: 1 }, disagreements: 0 },
      },
      {
        name: 'is a row also where only a node has it',
        state: IN_ORDER,
        ledgers: [ledgerOf('a', STAGED), ledgerOf('b', STAGED)],
        rows: ['a there MountedButNotAttached', 'b there MountedButNotAttached'],
        says: { nodes: 2, without: 0, says: { there: 2 }, disagreements: 1 },
      },
    ],
  )('$name', ({ state, ledgers, rows, says }) => {
    const status = statusOf(state, ledgers)
    expect(
      status.rows.map(({ node, onNode, verdict }) => `${node} ${onNode?.says} ${verdict.code ?? verdict.state}`),
    ).toEqual(rows)
    expect(status.fleet).toMatchObject(says)
    expect(defects(status)).toEqual([])
  })

  it('is left out by a name, and that changes no verdict', () => {
    const ledgers = [ledgerOf('a', STAGED), ledgerOf('b', STAGED)]
    const { rows, fleet } = statusOf(IN_ORDER, ledgers, { nodes: ['a'] })
    expect(rows.map(({ node, verdict }) => [node, verdict.code])).toEqual([['a', 'MountedButNotAttached']])
    expect([fleet?.says, fleet?.disagreements]).toEqual([{ there: 1 }, 1])
  })
})

describe('on a screen of 80 columns', () => {
  const { status, plan } = told(unwanted(), [ledgerOf('a', PUBLISHED)])
  const answer = clusterAnswerOf(plan, { reading: ['--nodes', 'DIR'] })
  const drawn = (width: number, wide = false): string =>
    renderStatus(status, { ...PLAIN_SCREEN, width, wide }, { all: false, plan, answer })

  it('has what the node shows, and who does not agree', () => {
    expect(drawn(80)).toMatchInlineSnapshot(`
      "https://api.example:6443: controller does not run (lease
      kube-system/kube-controller-manager was last renewed 4m ago, and nothing acted
      since); 2 nodes, 3 pods, 1 VolumeAttachment

      Needs you
        x the snapshot of node a taken 30s ago shows the volume mounted:
          /var/lib/kubelet/pods/00000000-0000-4000-8000-000000000009/volumes/kubernetes.io~csi/pv-x/mount
            stays as it is: pv-x on node a
          -> See what keeps the volume there: kubectl volctl on a plan; then take the
             snapshot of the node again.

      Note: 1 of 2 nodes have no snapshot and are judged by the API alone: b

      NODE  VOLUME     WANTED BY  ATTACHED     IN USE  ON NODE  VERDICT
      a     default/x  -          object only  no      mounted  x in use

      1 volume: 1 blocked.
      On the nodes (1 node shown whole, 1 node judged by the API alone): 1 there, 0
      proven free; 1 where not everybody agrees.
      Next: volctl explain --cluster --nodes DIR pv-x
              # says what is wrong, and what to do
      "
    `)
  })

  it.each([40, 60, 80, 120])('%i columns: nothing is wider', (width) => {
    for (const wide of [false, true])
      expect(
        drawn(width, wide)
          .split('\n')
          // A path or a command is never broken.
          .filter((line) => textWidth(line) > width && line.trim().includes(' ') && !line.includes('volctl ')),
      ).toEqual([])
  })
})
