import { join } from 'node:path'
import { expect, it } from 'vitest'
import { clusterNames } from '../../src/core/completion/cluster-names.ts'
import type { LiveKind } from '../../src/core/completion/spec.ts'
import { typedFlags } from '../../src/core/completion/typed-flags.ts'
import { valuesOf } from '../../src/core/completion/values.ts'

const FIXTURES = join(import.meta.dirname, '..', 'fixtures', 'clusters')

it('--cluster is seen before the word', () =>
  expect(typedFlags(['plan', '--cluster', '--snapshot', 'f'])).toEqual({ snapshot: 'f', cluster: true }))

it.each<{ kind: LiveKind; current: string; of?: string; values: readonly string[] }>([
  { kind: 'pod', current: '', values: ['shop/web-5d8f-old', 'shop/web-5d8f-new'] },
  { kind: 'namespace', current: '', values: ['shop', 'shop'] },
  { kind: 'volume', current: '', values: ['pv-data'] },
  { kind: 'driver', current: '', values: ['disk.csi.example.com'] },
  { kind: 'node', current: '', values: ['node-1', 'node-2'] },
  { kind: 'node', current: '', of: 'node-gone', values: ['node-2', 'node-1'] },
  { kind: 'thing', current: 'pvc/', values: ['pvc/shop/data'] },
  { kind: 'thing', current: 'persistentvolume/', values: ['persistentvolume/pv-data'] },
  { kind: 'thing', current: 'node/', values: ['node/node-1', 'node/node-2'] },
  { kind: 'context', current: '', values: [] },
])('$kind $current of $of', async ({ kind, current, of = 'multi-attach', values }) => {
  const names = await clusterNames({ snapshot: join(FIXTURES, `${of}.jsonl`) }, AbortSignal.timeout(60_000))
  expect((await valuesOf(kind, current, names)).map(({ value }) => value)).toEqual(values)
})
