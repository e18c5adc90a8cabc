import { describe, expect, it } from 'vitest'
import type { Pod, PodVolumeSource } from '../../src/core/model/objects.ts'
import type { Step } from '../../src/core/plan/plan.ts'
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
    { there: 'nothing', built: wanting({}), steps: ['mkdir', 'writeMarker'] },
    { there: 'the directory', built: wanting({}).dir(DIR).file(`${DIR}/data`), steps: ['mkdir', 'writeMarker'] },
    { there: 'the marker', built: wanting({}).file(READY), steps: ['unlink', 'mkdir', 'writeMarker'] },
    {
      there: 'the marker of a tmpfs from before the boot',
      built: wanting({ medium: 'Memory' }).dir(DIR).file(READY),
      steps: ['unlink', 'mkdir', 'mount tmpfs', 'writeMarker'],
    },
    {
      there: 'a tmpfs without its marker',
      built: wanting({ medium: 'Memory' }).mount(DIR, { fsType: 'tmpfs' }),
      steps: ['writeMarker'],
    },
  ])('$there', ({ built, steps }) => {
    expect(only(plan(built), 'MountVolume').steps.map(words)).toEqual(steps)
  })

  it.each([
    { there: 'directory and marker', built: wanting({}).dir(DIR).file(READY) },
    {
      there: 'tmpfs and marker',
      built: wanting({ medium: 'Memory' }).mount(DIR, { fsType: 'tmpfs' }).file(READY),
    },
  ])('$there: nothing to do', ({ built }) => {
    expect(plan(built).operations).toEqual([])
  })
})

describe('an emptyDir that a person has to look at', () => {
  it.each([
    { why: 'an unknown medium', built: wanting({ medium: 'Tape' }), code: 'InvalidVolume' },
    { why: 'pages that nobody requests', built: wanting({ medium: 'HugePages-2Mi' }), code: 'InvalidVolume' },

    {
      why: 'data where the tmpfs is to be',
      built: wanting({ medium: 'Memory' }).file(`${DIR}/data`),
      code: 'DataUnderMountPoint',
    },
    {
      why: 'another file system where the tmpfs is to be',
      built: wanting({ medium: 'Memory' }).mount(DIR, { fsType: 'ext4' }).file(READY),
      code: 'ForeignMount',
    },
  ])('$why', ({ built, code }) => {
    expect(blocked(plan(built))).toEqual([`MountVolume ${code}`])
  })

  it.each(['0', '-1Gi'])('sizeLimit %s limits nothing (P38)', (sizeLimit) => {
    const { steps } = only(plan(wanting({ medium: 'Memory', sizeLimit })), 'MountVolume')
    expect(steps.map(words)).toEqual(['mkdir', 'mount tmpfs', 'writeMarker'])
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
