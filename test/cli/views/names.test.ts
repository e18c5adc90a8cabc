import { describe, expect, it } from 'vitest'
import { namesOfLine, namesOfPlan, renderNames } from '../../../src/core/views/screen.ts'
import { anOperation } from '../plan-builder.ts'

describe('a plan', () => {
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

it('lines of a log: what of their names is on the node', () => {
  const name = { kind: 'pod', name: 'web-0', found: true, says: '' } as const
  const subject = { kind: 'Pod', name: 'shop/web-0' } as const
  const here = { ...name, subject, ask: 'pod/web-0', verdict: { state: 'nothing', message: '' } } as const
  const lost = { ...name, found: false }
  expect(namesOfLine({ names: [here, lost, name] })).toEqual(['pod/shop/web-0'])
})

it('each once, a line each, whatever it is called', () => expect(renderNames(['a', 'b\n', 'a'])).toBe('a\nb\\n\n'))
