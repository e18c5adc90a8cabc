import { join } from 'node:path'
import { expect, it } from 'vitest'
import { clusterSnapshotLines, readClusterSnapshot } from '../../../src/core/cluster/read/cluster-snapshot.ts'
import { WORKED_CLUSTERS } from '../../helpers/worked-clusters.ts'

const FIXTURES = join(import.meta.dirname, '..', '..', 'fixtures', 'clusters')

it.each(Object.entries(WORKED_CLUSTERS))('%s.jsonl is that cluster', async (name, state) => {
  const path = join(FIXTURES, `${name}.jsonl`)
  await expect([...clusterSnapshotLines(state)].join('')).toMatchFileSnapshot(path)
  expect(await readClusterSnapshot(path)).toEqual(state)
})
