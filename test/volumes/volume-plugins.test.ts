import { describe, expect, it } from 'vitest'
import type { PersistentVolume, PodVolumeSource } from '../../src/core/kube/api/objects.ts'
import { apiLookup } from '../../src/core/volumes/api-lookup.ts'
import { specOf } from '../../src/core/volumes/resolve-volume.ts'
import { inlineCsiHandle } from '../../src/core/volumes/volume-names.ts'
import { api, volume } from './builders.ts'

const context = (parts: Parameters<typeof api>[0] = {}) => {
  const snapshot = api(parts)
  return { podUid: 'uid', lookup: apiLookup(snapshot), node: snapshot.node }
}
const iscsi = { targetPortal: '10.0.0.1', iqn: 'iqn.2003-01.test:disk', lun: 3 }

describe('R010, R019, P6: plugin and unique name of an inline volume', () => {
  it.each<{ source: Omit<PodVolumeSource, 'name'>; want: string; attachability?: string; deviceMountable?: boolean }>([
    { source: { emptyDir: {} }, want: 'kubernetes.io/empty-dir/uid-v' },
    { source: { gitRepo: {} }, want: 'kubernetes.io/git-repo/uid-v' },
    { source: { hostPath: { path: '/x' } }, want: 'kubernetes.io/host-path/uid-v' },
    { source: { nfs: { server: 's', path: '/p' } }, want: 'kubernetes.io/nfs/uid-v' },
    { source: { secret: {} }, want: 'kubernetes.io/secret/uid-v' },
    { source: { downwardAPI: {} }, want: 'kubernetes.io/downward-api/uid-v' },
    { source: { configMap: {} }, want: 'kubernetes.io/configmap/uid-v' },
    { source: { projected: {} }, want: 'kubernetes.io/projected/uid-v' },
    { source: { image: {} }, want: 'kubernetes.io/image/uid-v' },
    { source: { csi: { driver: 'd' } }, want: 'kubernetes.io/csi/uid-v' },
    // P9, R014: the portal as it was written.
    {
      source: { iscsi },
      want: 'kubernetes.io/iscsi/10.0.0.1:iqn.2003-01.test:disk:3',
      attachability: 'attachable',
      deviceMountable: true,
    },
    // R013: brackets and blanks are literal.
    {
      source: { fc: { targetWWNs: ['w1', 'w2'], lun: 0 } },
      want: 'kubernetes.io/fc/[w1 w2]:0',
      attachability: 'attachable',
      deviceMountable: true,
    },
    {
      source: { fc: { targetWWNs: ['w1'], wwids: ['i1', 'i2'] } },
      want: 'kubernetes.io/fc/[i1 i2]',
      attachability: 'attachable',
      deviceMountable: true,
    },
    { source: { flexVolume: { driver: 'vendor/driver' } }, want: 'vendor/driver/uid-v', attachability: 'unknown' },
  ])('$want', ({ source, want, attachability = 'notAttachable', deviceMountable = false }) => {
    const facts = specOf({ source: { name: 'v', ...source } }, context())
    expect(facts).toMatchObject({ uniqueName: want, attachability, deviceMountable })
    expect(want.startsWith(`${'plugin' in facts ? facts.plugin : ''}/`)).toBe(true)
  })

  it('R008, C32: an inline CSI volume has a made-up handle, and attaches under no CSIDriver', () => {
    const errors = [{ resource: 'csidrivers', status: 403 }]
    expect(specOf({ source: { name: 'v', csi: { driver: 'd' } } }, context({ errors }))).toMatchObject({
      driver: 'd',
      handle: inlineCsiHandle('uid', 'v'),
      attachability: 'notAttachable',
    })
  })

  it.each<{ rule: string; source: object; error: RegExp }>([
    { rule: 'P3', source: { rbd: {} }, error: /no plugin/ },
    { rule: 'P3', source: { cephfs: {} }, error: /no plugin/ },
    { rule: 'R003', source: { emptyDir: {}, hostPath: { path: '/x' } }, error: /several sources/ },
    { rule: 'R013', source: { fc: { targetWWNs: ['w'] } }, error: /WWIDs/ },
  ])('$rule: $source is an error', ({ source, error }) => {
    expect(specOf({ source: { name: 'v', ...source } }, context())).toMatchObject({
      error: expect.stringMatching(error),
    })
  })

  it('P7: a flex volume that the Node lists is attachable, and shared', () => {
    const node = { metadata: { name: 'n', uid: 'u' }, status: { volumesInUse: ['vendor/driver/v'] } }
    expect(specOf({ source: { name: 'v', flexVolume: { driver: 'vendor/driver' } } }, context({ node }))).toMatchObject(
      {
        uniqueName: 'vendor/driver/v',
        attachability: 'attachable',
        deviceMountable: true,
      },
    )
  })
})

describe('R010, R019, C31: plugin and unique name of a PersistentVolume', () => {
  it.each<{ spec: PersistentVolume['spec']; want: string; attachability?: string; deviceMountable?: boolean }>([
    { spec: { nfs: { server: 's', path: '/p' } }, want: 'kubernetes.io/nfs/uid-pv-c', deviceMountable: false },
    { spec: { hostPath: { path: '/p' } }, want: 'kubernetes.io/host-path/uid-pv-c', deviceMountable: false },
    { spec: { local: { path: '/p' } }, want: 'kubernetes.io/local-volume/pv-c' },
    {
      spec: { csi: { driver: 'd', volumeHandle: 'a/b c' } },
      want: 'kubernetes.io/csi/d^a/b c',
      attachability: 'attachable',
    },
  ])('$want', ({ spec, want, attachability = 'notAttachable', deviceMountable = true }) => {
    const facts = specOf({ persistentVolume: volume('c', spec) }, context())
    expect(facts).toMatchObject({ uniqueName: want, attachability, deviceMountable })
  })

  it.each([
    { rule: 'R012', name: 'no CSIDriver', parts: {}, want: 'attachable' },
    { rule: 'R012', name: 'attachRequired unset', parts: { csiDrivers: [driver({})] }, want: 'attachable' },
    {
      rule: 'R816',
      name: 'CSIDriver unreadable',
      parts: { errors: [{ resource: 'csidrivers', status: 403 }] },
      want: 'unknown',
    },
  ])('$rule, C35: $name: $want, and the name stays', ({ parts, want }) => {
    const facts = specOf({ persistentVolume: volume('c') }, context(parts))
    expect(facts).toMatchObject({
      attachability: want,
      uniqueName: 'kubernetes.io/csi/csi.test^vol-c',
      deviceMountable: true,
    })
  })
})

function driver(spec: object) {
  return { metadata: { name: 'csi.test', uid: 'd' }, spec }
}
