import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { VolctlError } from '../../../src/core/base/errors.ts'
import { readSnapshot } from '../../../src/core/plan/documents/snapshot-file.ts'
import { planNode } from '../../../src/core/reconcile/plan-node.ts'
import {
  namesOfExplanation,
  namesOfLine,
  namesOfPlan,
  namesOfRows,
  renderNames,
} from '../../../src/core/views/names.ts'
import { CAPTURES } from '../../helpers/captures.ts'
import { explain, nodeStatus } from '../../helpers/explaining.ts'
import { planOptions } from '../../helpers/plan-options.ts'
import { anOperation } from '../plan-builder.ts'

const files = readdirSync(CAPTURES)
  .map((folder) => join(CAPTURES, folder, 'before.json'))
  // On that with a running kubelet there is nothing to do.
  .filter((path) => existsSync(path) && !path.includes('forcedel-running'))

/** A deleted pod may have the name of one in the API, which kubectl means by it. */
function known(ask: () => string | undefined): string | undefined {
  try {
    return ask()
  } catch (error) {
    if (error instanceof VolctlError && error.code === 'AmbiguousName') return 'pod/both'
    throw error
  }
}

describe('a plan', () => {
  it.each(files)('%s: explain takes every name', async (path) => {
    const state = await readSnapshot(path)
    const options = planOptions({ orphans: true })
    const names = new Set(namesOfPlan(planNode(state, options)))
    expect(names.size).toBeGreaterThan(0)
    for (const name of names) {
      expect([name, known(() => namesOfExplanation(explain(state, options, name).explanation)[0])]).toEqual([
        name,
        expect.stringMatching(/^[a-z]+\/./),
      ])
    }
  })

  const volume = { name: 'v', plugin: 'kubernetes.io/csi', mode: 'Filesystem' } as const
  it.each([
    ['a pod', { pod: { namespace: 'shop', name: 'web-0', uid: 'u' } }, 'pod/shop/web-0'],
    ['a pod that has only a UID', { pod: { uid: 'u-1' } }, 'pod/u-1'],
    ['an attachment', { attachment: { name: 'csi-1', uid: 'u' }, volume }, 'volumeattachment/csi-1'],
    ['a PersistentVolume', { volume: { ...volume, persistentVolume: 'pv-1' } }, 'persistentvolume/pv-1'],
    ['a volume', { volume: { ...volume, uniqueName: 'csi^1' } }, 'volume/csi^1'],
  ])('%s', (_of, operation, name) => {
    const { pod: _, volume: __, ...bare } = anOperation()
    expect(namesOfPlan({ operations: [{ ...bare, ...operation }] })).toEqual([name])
  })

  it('pods of one name are told by their UIDs', () => {
    const pods = ['u1', 'u2'].map((uid) => ({ namespace: 'shop', name: 'web-0', uid }))
    expect(namesOfPlan({ operations: pods.map((pod) => anOperation({ pod })) })).toEqual(['pod/u1', 'pod/u2'])
  })
})

it.each(files)('rows of status, of %s: explain takes every name', async (path) => {
  const state = await readSnapshot(path)
  const options = planOptions()
  for (const name of new Set(namesOfRows(nodeStatus(state, options, false).rows)))
    expect(known(() => namesOfExplanation(explain(state, options, name).explanation)[0])).toMatch(/^[a-z]+\/./)
})

it('lines of a log: what of their names is on the node', () => {
  const name = { kind: 'pod', name: 'web-0', found: true, says: '' } as const
  const subject = { kind: 'Pod', name: 'shop/web-0' } as const
  const lost = { ...name, found: false }
  expect(namesOfLine({ names: [{ ...name, subject }, lost, name] })).toEqual(['pod/shop/web-0'])
})

it('each once, a line each, whatever it is called', () => expect(renderNames(['a', 'b\n', 'a'])).toBe('a\nb\\n\n'))
