/** Where a CSI volume has its directories, whatever its name looks like (C10, C14, C18; upstream's tables). */
import { describe, expect, it } from 'vitest'
import { csiPlaces, type VolumeToMount } from '../../src/core/volumes/desired-state.ts'

const UID = '11111111-2222-3333-4444-555555555555'
const CSI = 'plugins/kubernetes.io/csi'

const volume = (specName: string, given: Partial<VolumeToMount> = {}) =>
  ({
    podUid: UID,
    plugin: 'kubernetes.io/csi',
    specName,
    mode: 'Filesystem',
    driver: 'disk.test',
    handle: 'vol-001',
    persistentVolume: { metadata: { name: specName, uid: 'u' }, spec: {} },
    ...given,
  }) as VolumeToMount

it('a file system has its target and state file in the pod’s directory', () => {
  const dir = `pods/${UID}/volumes/kubernetes.io~csi/a~b.c`
  const found = volume('a/b.c')
  expect([csiPlaces(found).target, csiPlaces(found).stateFile]).toEqual([`${dir}/mount`, `${dir}/vol_data.json`])
})

describe('where a file system is staged', () => {
  it('is told by driver and handle alone', () => {
    const staging = `${CSI}/disk.test/3e3056fe9f7966ee6fd9db9024187b7c9ad1c73fb6323780abfcfc6a53dac830/globalmount`
    for (const name of ['pv-1', 'test.spec.1']) expect(csiPlaces(volume(name)).stagingPath).toBe(staging)
    expect(csiPlaces(volume('pv-1', { handle: 'vol-002' })).stagingPath).not.toBe(staging)
  })
  it.each(['persistentVolume', 'driver', 'handle'] as const)('is nowhere for a volume without its %s', (missing) => {
    const { [missing]: _, ...rest } = volume('pv-1')
    expect([csiPlaces(rest).stagingDir, csiPlaces(rest).stagingPath]).toEqual([undefined, undefined])
  })
})
