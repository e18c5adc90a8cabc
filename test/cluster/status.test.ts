/** status --cluster: a row for each volume on each node, with the plan's verdict. */
import { describe, expect, it } from 'vitest'
import schema from '../../schema/cluster-status.schema.json' with { type: 'json' }
import { clusterAnswerOf } from '../../src/core/answer/cluster-answer.ts'
import type { ClusterState } from '../../src/core/cluster/model/cluster-state.ts'
import { clusterStatus } from '../../src/core/cluster/status/cluster-status.ts'
import type { ClusterStatusRow } from '../../src/core/plan/cluster-status.ts'
import { PLAIN_SCREEN } from '../../src/core/views/screen.ts'
import { renderStatus } from '../../src/core/views/status-view.ts'
import { textWidth } from '../../src/core/views/text-width.ts'
import { schemaCheck } from '../helpers/closed-schema.ts'
import {
  ALIVE,
  ago,
  attachment,
  bound,
  cluster,
  clusterOptions,
  node,
  pod,
  silentNode,
  uniqueName,
} from '../helpers/cluster-builder.ts'
import { anyCluster } from '../helpers/random-cluster.ts'
import { randomFrom } from '../helpers/random-from.ts'

/** A node that reports these volumes attached and in use. */
const using = (name: string, ...volumes: readonly string[]) =>
  node(name, {
    volumesAttached: volumes.map((each) => uniqueName(each)),
    volumesInUse: volumes.map((each) => uniqueName(each)),
  })

const HEALTHY = cluster({
  ...bound('x', 'y'),
  controller: { lease: ALIVE },
  nodes: [using('a', 'x'), using('b', 'y')],
  pods: [pod('p', 'a', ['x']), pod('q', 'b', ['y'])],
  attachments: [attachment('x', 'a'), attachment('y', 'b')],
})

const short = ({ node, volume, desired, inUse, verdict }: ClusterStatusRow): string =>
  `${node} ${volume.name} ${desired}${inUse ? ' in use' : ''}: ${verdict.state}${verdict.code ? ` ${verdict.code}` : ''}`

const rowsOf = (state: ClusterState, options = {}): string[] =>
  clusterStatus(state, clusterOptions(options)).status.rows.map(short)

describe('volumes on nodes', () => {
  it('of a healthy cluster are good', () => {
    const { status, unmatched } = clusterStatus(HEALTHY, clusterOptions())
    expect(status.rows.map(short)).toEqual(['a pv-x wanted in use: good', 'b pv-y wanted in use: good'])
    expect(status.summary).toMatchObject({ volumes: 2, verdicts: { good: 2 }, filtered: 0 })
    expect(unmatched).toEqual([])
  })

  it.each<{ about: string; state: ClusterState; rows: readonly string[] }>([
    {
      about: 'a volume to attach, and one to detach',
      state: cluster({
        ...bound('x', 'y'),
        pods: [pod('p', 'a', ['x'])],
        attachments: [attachment('y', 'b')],
        nodes: [node('a'), node('b', { volumesAttached: [uniqueName('y')] })],
      }),
      rows: ['a pv-x wanted: operation WantedNotAttached', 'b pv-y notWanted: operation NotWanted'],
    },
    {
      about: 'the controller will attach it',
      state: cluster({ ...bound('x'), controller: { lease: ALIVE }, pods: [pod('p', 'a', ['x'])] }),
      rows: ['a pv-x wanted: waiting ControllerActs'],
    },
    {
      about: 'of a pod that has ended',
      state: cluster({
        ...bound('x'),
        controller: { lease: ALIVE },
        pods: [pod('p', 'a', ['x'], { terminated: true, phase: 'Succeeded' })],
        attachments: [attachment('x', 'a')],
      }),
      rows: ['a pv-x ended: waiting ControllerActs'],
    },
    {
      about: 'the worst first',
      state: cluster({
        ...HEALTHY,
        controller: { lease: ALIVE },
        pods: [...HEALTHY.pods, pod('r', 'b', ['x'], { started: false, phase: 'Pending', createdAt: ago(30) })],
      }),
      rows: [
        'a pv-x wanted in use: error MultiAttach',
        'b pv-x wanted: error MultiAttach',
        'b pv-y wanted in use: good',
      ],
    },
  ])('$about', ({ state, rows }) => expect(rowsOf(state)).toEqual(rows))

  it('what a list that is missing could explain is unknown, and not good', () => {
    const lists = { ...HEALTHY.lists, pods: { state: 'failed', count: 0 } as const }
    const rows = rowsOf({ ...HEALTHY, lists, pods: [] })
    expect(rows.filter((row) => row.includes('good'))).toEqual([])
  })

  it('names leave rows out, and change no verdict', () => {
    for (const narrowing of [{ nodes: ['a'] }, { volumes: ['pv-x'] }, { pods: ['default/p'] }])
      expect(rowsOf(HEALTHY, narrowing)).toEqual(['a pv-x wanted in use: good'])
    expect(rowsOf(HEALTHY, { namespaces: ['default'] })).toHaveLength(2)
    const { unmatched } = clusterStatus(HEALTHY, clusterOptions({ nodes: ['c'] }))
    expect(unmatched.map(({ code }) => code)).toEqual(['NothingNamed'])
  })
})

describe('on a screen of 80 columns', () => {
  const many = Array.from({ length: 30 }, (_, index) => `volume-of-some-length-${index}`)
  const busy = cluster({
    ...bound(...many),
    nodes: [silentNode('worker-with-a-long-name.example.com', 30), node('b')],
    pods: many.map((name) => pod(`pod-${name}`, 'worker-with-a-long-name.example.com', [name])),
  })

  const drawnOf = (state: ClusterState, wide = false): string => {
    const { status, plan } = clusterStatus(state, clusterOptions())
    const screen = { ...PLAIN_SCREEN, width: 80, rows: 24, wide }
    return renderStatus(status, screen, { all: false, plan, answer: clusterAnswerOf(plan) })
  }

  it.each(Object.entries({ HEALTHY, busy }))('%s: nothing is wider, and a screen holds it', (_, state) => {
    for (const wide of [false, true]) {
      const lines = drawnOf(state, wide).split('\n')
      expect(lines.filter((line) => textWidth(line) > 80)).toEqual([])
      if (!wide) expect(lines.length).toBeLessThanOrEqual(25)
    }
  })

  it('of a healthy cluster says so in its last line', () => {
    expect(drawnOf(HEALTHY).trimEnd().split('\n').at(-1)).toBe('2 volumes: all are as they should be.')
  })
})

describe('the schema', () => {
  const defects = schemaCheck(schema)

  it('describes the status of every cluster', () => {
    for (let seed = 0; seed < 200; seed++) {
      const { status } = clusterStatus(anyCluster(randomFrom(seed)), clusterOptions({ nodeGone: ['missing'] }))
      expect(defects(status)).toEqual([])
    }
  })

  it('notices what it does not describe', () => {
    const { status } = clusterStatus(HEALTHY, clusterOptions())
    expect(defects({ ...status, more: 1 })).not.toEqual([])
    expect(defects({ ...status, rows: status.rows.map((row) => ({ ...row, desired: 'maybe' })) })).not.toEqual([])
  })
})
