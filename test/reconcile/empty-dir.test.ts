import { describe, expect, it } from 'vitest'
import type { Pod, PodVolumeSource } from '../../src/core/kube/api/objects.ts'
import type { Step } from '../../src/core/volumes/steps.ts'
import { node, ROOT, uid } from '../helpers/node-builder.ts'
import { blocked, only, plan } from './planned.ts'

const POD = uid(2)
const DIR = `pods/${POD}/volumes/kubernetes.io~empty-dir/v`
const READY = `pods/${POD}/plugins/kubernetes.io~empty-dir/v/ready`

type EmptyDir = NonNullable<PodVolumeSource['emptyDir']>

const wanting = (emptyDir: EmptyDir, spec: Partial<Pod['spec']> = {}) =>
  node().livingPod(POD, 'app', [{ name: 'v', emptyDir }], { spec })

/** "op", and what is mounted with which options. */
const words = ({ op, fsType, options }: Step): string => [op, fsType, ...(options ?? [])].filter(Boolean).join(' ')

describe('an emptyDir that is half there converges (P36)', () => {
  it.each([
    ['nothing', wanting({}), ['mkdir', 'writeMarker']],
    ['the directory', wanting({}).dir(DIR).file(`${DIR}/data`), ['mkdir', 'writeMarker']],
    ['the marker', wanting({}).file(READY), ['unlink', 'mkdir', 'writeMarker']],
    [
      'the marker of a tmpfs from before the boot',
      wanting({ medium: 'Memory' }).dir(DIR).file(READY),
      ['unlink', 'mkdir', 'mount tmpfs', 'writeMarker'],
    ],
    ['a tmpfs without its marker', wanting({ medium: 'Memory' }).mount(DIR, { fsType: 'tmpfs' }), ['writeMarker']],
  ])('%s', (_there, built, steps) => {
    expect(only(plan(built), 'MountVolume').steps.map(words)).toEqual(steps)
  })
})

describe('an emptyDir that a person has to look at', () => {
  it.each([
    ['an unknown medium', wanting({ medium: 'Tape' }), 'InvalidVolume'],
    ['pages that nobody requests', wanting({ medium: 'HugePages-2Mi' }), 'InvalidVolume'],
    ['data where the tmpfs is to be', wanting({ medium: 'Memory' }).file(`${DIR}/data`), 'DataUnderMountPoint'],
    [
      'another file system where the tmpfs is to be',
      wanting({ medium: 'Memory' }).mount(DIR, { fsType: 'ext4' }).file(READY),
      'ForeignMount',
    ],
  ])('%s', (_why, built, code) => {
    expect(blocked(plan(built))).toEqual([`MountVolume ${code}`])
  })
})

it('a group goes to the directory before the marker says that it is ready (P34)', () => {
  const securityContext = { fsGroup: 2000, fsGroupChangePolicy: 'OnRootMismatch' }
  const { steps } = only(plan(wanting({ medium: 'Memory' }, { securityContext })), 'MountVolume')
  expect(steps.map(words)).toEqual(['mkdir', 'mount tmpfs', 'setOwnership', 'writeMarker'])
  expect(steps[2]).toMatchObject({
    target: `${ROOT}/${DIR}`,
    ownership: { gid: 2000, policy: 'Always', ignoreErrors: true },
  })
})
