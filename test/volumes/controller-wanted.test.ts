import { describe, expect, it } from 'vitest'
import type { Pod } from '../../src/core/kube/api/objects.ts'
import { controllerWantedVolumes } from '../../src/core/volumes/populate.ts'
import { api, claim, claimVolume, NODE, pod, volume } from './builders.ts'

const NAME = 'kubernetes.io/csi/csi.test^vol-claim'
const one = { persistentVolumeClaims: [claim()], persistentVolumes: [volume()] }
const wanted = (pods: readonly Pod[], parts: Parameters<typeof api>[0] = one) => {
  const { names, unresolved } = controllerWantedVolumes(pods, api(parts), NODE)
  return { names: [...names.keys()], unresolved: unresolved.map((each) => each.cause), pods: [...names.values()] }
}
const deletionTimestamp = '2026-01-01T00:00:00Z'

describe('S21, R706-R709: what the attach/detach controller wants', () => {
  it.each<{ rule: string; pod: Pod; parts?: Parameters<typeof api>[0]; want: string[] }>([
    { rule: 'R707 a running pod', pod: pod([claimVolume()]), want: [NAME] },
    { rule: 'R708, T145 unused by any container', pod: pod([claimVolume()], { mounts: [] }), want: [NAME] },
    { rule: 'R707 phase Failed', pod: pod([claimVolume()], { status: { phase: 'Failed' } }), want: [] },
    { rule: 'R221 deleted, nothing runs', pod: pod([claimVolume()], { metadata: { deletionTimestamp } }), want: [] },
    {
      rule: 'R221 deleted, a container runs',
      pod: pod([claimVolume()], {
        metadata: { deletionTimestamp },
        status: { containerStatuses: [{ name: 'c', state: { running: {} } }] },
      }),
      want: [NAME],
    },
    { rule: 'R706 a pod of another node', pod: pod([claimVolume()], { spec: { nodeName: 'other' } }), want: [] },
    {
      rule: 'R709 no look at the deletion of the claim',
      pod: pod([claimVolume()]),
      parts: { ...one, persistentVolumeClaims: [claim('claim', { metadata: { deletionTimestamp } })] },
      want: [NAME],
    },
    {
      rule: 'R012 attachRequired: false',
      pod: pod([claimVolume()]),
      parts: { ...one, csiDrivers: [{ metadata: { name: 'csi.test', uid: 'u' }, spec: { attachRequired: false } }] },
      want: [],
    },
    {
      rule: 'R816 CSIDriver unreadable',
      pod: pod([claimVolume()]),
      parts: { ...one, errors: [{ resource: 'csidrivers', status: 403 }] },
      want: [NAME],
    },
    {
      rule: 'R010 flex, capability unknown',
      pod: pod([{ name: 'v', flexVolume: { driver: 'vendor/driver' } }]),
      want: ['vendor/driver/v'],
    },
    {
      rule: 'R164 inline migrated',
      pod: pod([{ name: 'v', portworxVolume: { volumeID: '7' } }]),
      want: ['kubernetes.io/csi/pxd.portworx.com^7'],
    },
  ])('$rule: $want', ({ pod: it, parts, want }) => {
    expect(wanted([it], parts)).toMatchObject({ names: want, unresolved: [] })
  })

  it('R709: ephemeral wins where both are set', () => {
    const metadata = { ownerReferences: [{ kind: 'Pod', name: 'web', uid: 'pod-uid', controller: true }] }
    const parts = {
      persistentVolumeClaims: [claim(), claim('web-v', { metadata })],
      persistentVolumes: [volume(), volume('web-v')],
    }
    expect(wanted([pod([{ ...claimVolume('v'), ephemeral: {} }])], parts).names).toEqual([
      'kubernetes.io/csi/csi.test^vol-web-v',
    ])
  })

  it('T109: an ephemeral claim that the pod does not own is unresolved', () => {
    const parts = { persistentVolumeClaims: [claim('web-v')], persistentVolumes: [volume('web-v')] }
    expect(wanted([pod([{ name: 'v', ephemeral: {} }])], parts)).toMatchObject({
      names: ['kubernetes.io/csi/csi.test^vol-web-v'],
      unresolved: ['Unusable'],
    })
  })

  it('names every pod that wants the volume', () => {
    const pods = [pod([claimVolume()], { uid: 'a' }), pod([claimVolume()], { uid: 'b' })]
    expect(wanted(pods).pods).toEqual([pods])
  })
})
