/** Upstream's TestMountOptionFromSpec, and what it leaves out (P14, P19). */
import { describe, expect, it } from 'vitest'
import type { Pod } from '../../src/core/kube/api/objects.ts'
import type { VolumeToMount } from '../../src/core/volumes/desired-state.ts'
import { mountOptions, mountOptionsObstacle, ownershipOf } from '../../src/core/volumes/mount-options.ts'

const ANNOTATION = 'volume.beta.kubernetes.io/mount-options'

function volume(annotation?: string, options?: readonly string[]) {
  const annotations = annotation === undefined ? {} : { annotations: { [ANNOTATION]: annotation } }
  return {
    plugin: 'kubernetes.io/host-path',
    persistentVolume: {
      metadata: { name: 'pv', uid: 'pv-uid', ...annotations },
      spec: options === undefined ? {} : { mountOptions: options },
    },
  } as VolumeToMount
}

it.each<{ name: string; annotation?: string; spec?: string[]; own: string[]; want: string[] }>([
  { name: 'the annotation', annotation: 'ro,nfsvers=3', own: [], want: ['nfsvers=3', 'ro'] },
  { name: 'an empty annotation', annotation: '', own: [], want: [] },
  { name: 'the annotation before the spec', annotation: 'a', spec: ['b'], own: [], want: ['a'] },
  { name: 'an empty annotation before the spec', annotation: '', spec: ['b'], own: ['ro'], want: ['ro'] },
  { name: 'duplicates', annotation: 'ro,nfsvers=3', own: ['ro', 'noatime'], want: ['nfsvers=3', 'noatime', 'ro'] },
  { name: 'the spec', spec: ['vers=4', 'ro'], own: ['bind'], want: ['bind', 'ro', 'vers=4'] },
  { name: 'neither: in their own order', own: ['ro', 'bind'], want: ['ro', 'bind'] },
])('mountOptions: $name', ({ annotation, spec, own, want }) =>
  expect(mountOptions(volume(annotation, spec), own)).toEqual(want),
)

describe('a plugin that takes none (P14)', () => {
  it('refuses them', () =>
    expect(mountOptionsObstacle(volume(undefined, ['noatime']))).toMatchObject({
      code: 'PluginUnsupported',
      message: expect.stringMatching(/mount options/),
    }))
  it.each([volume(), volume(''), volume(undefined, [])])('does not mind that there are none', (each) =>
    expect(mountOptionsObstacle(each)).toBeUndefined(),
  )
})

type Security = NonNullable<Pod['spec']['securityContext']>

const stepsOf = (securityContext: Security | undefined, isEmptyDir: boolean) => {
  const pod: Pod = {
    metadata: { name: 'a', uid: 'u' },
    spec: securityContext === undefined ? {} : { securityContext },
  }
  return ownershipOf({ pod } as VolumeToMount, '/volume', isEmptyDir)
}

it.each<[string, Security | undefined, boolean, object | undefined]>([
  ['null, as Go writes it', { fsGroup: null as unknown as number }, false, undefined],
  [
    'root is a group as well',
    { fsGroup: 0 },
    false,
    { gid: 0, policy: 'Always', readOnly: false, ignoreErrors: false },
  ],
  [
    'OnRootMismatch',
    { fsGroup: 2000, fsGroupChangePolicy: 'OnRootMismatch' },
    false,
    { gid: 2000, policy: 'OnRootMismatch', readOnly: false, ignoreErrors: false },
  ],
  [
    'OnRootMismatch of a plugin that passes no policy (P32)',
    { fsGroup: 2000, fsGroupChangePolicy: 'OnRootMismatch' },
    true,
    { gid: 2000, policy: 'Always', readOnly: false, ignoreErrors: true },
  ],
  [
    'a policy that nobody knows',
    { fsGroup: 2000, fsGroupChangePolicy: 'Sometimes' },
    false,
    { gid: 2000, policy: 'Always', readOnly: false, ignoreErrors: false },
  ],
])('the fsGroup of a pod: %s', (_, securityContext, isEmptyDir, ownership) => {
  const expected = ownership === undefined ? [] : [{ op: 'setOwnership', target: '/volume', ownership }]
  expect(stepsOf(securityContext, isEmptyDir)).toEqual(expected)
})
