/** volctl plan --cluster --nodes: snapshots of nodes from a directory or from standard input, beside a snapshot of a cluster. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { writeClusterSnapshot } from '../../src/core/cluster/snapshot/cluster-snapshot.ts'
import type { ClusterPlan } from '../../src/core/plan/cluster-plan.ts'
import { STAGED, snapshotOf, unwanted } from '../cluster/fleet/fleet-nodes.ts'

const VOLCTL = join(import.meta.dirname, '../../bin/volctl')
const work = mkdtempSync(join(tmpdir(), 'volctl-nodes-'))
afterAll(() => rmSync(work, { recursive: true, force: true }))

const cluster = join(work, 'cluster.json')
const nodes = join(work, 'nodes')
const text = JSON.stringify(snapshotOf('a', STAGED).snapshot)
writeClusterSnapshot(unwanted(), cluster)
mkdirSync(nodes)
writeFileSync(join(nodes, 'a.json'), text)

function volctl(args: readonly string[], input = '', command = 'plan'): ReturnType<typeof spawnSync> {
  return spawnSync(VOLCTL, [command, ...args], { cwd: work, encoding: 'utf8', input })
}

it.each([
  { how: 'a directory', given: 'nodes', input: '' },
  { how: 'standard input', given: '-', input: `${text}\n` },
])('$how: what a node has mounted is not detached', ({ given, input }) => {
  const { stdout, stderr } = volctl(['--cluster', '--snapshot', cluster, '--nodes', given, '-o', 'json'], input)
  expect(stderr).toBe('')
  const plan = JSON.parse(String(stdout)) as ClusterPlan
  expect(plan.operations.map(({ blocked }) => blocked?.code)).toEqual(['MountedOnNode'])
  expect(plan.fleet).toMatchObject({ nodes: 1, without: 1, unusable: [] })
})

it('the status has what each node really has, and its plan takes the same snapshots', () => {
  const args = ['--cluster', '--snapshot', cluster, '--nodes', 'nodes']
  const { stdout, stderr } = volctl([...args, '-o', 'json'], '', 'status')
  expect(stderr).toBe('')
  expect(JSON.parse(String(stdout))).toMatchObject({
    rows: [{ node: 'a', onNode: { says: 'there', found: [{ how: 'staged' }] }, verdict: { code: 'MountedOnNode' } }],
    fleet: { nodes: 1, without: 1, says: { there: 1 }, disagreements: 1 },
  })
  expect(volctl(args, '', 'status').stdout).toContain(' --nodes nodes ')
  expect(volctl(['--nodes', 'nodes'], '', 'status')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('--cluster'),
  })
})

it.each([
  { args: ['--nodes', 'nodes'], says: '--nodes is for the pass over the whole cluster' },
  { args: ['--cluster', '--snapshot', cluster, '--nodes', 'none'], says: 'no such file or directory' },
  { args: ['--cluster', '--snapshot', '-', '--nodes', '-'], says: 'cannot both be standard input' },
])('$args is an error: $says', ({ args, says }) => {
  const { status, stdout, stderr } = volctl(args)
  expect(status).toBe(1)
  expect(stdout).toBe('')
  expect(stderr).toContain(says)
})
