/** S12, S20, S21, S24: some users of each kind of volume, all at once on one node; every one of them in uses.long.test.ts. */
import { expect } from 'vitest'
import { it } from '../../helpers/machine.ts'
import { noBlockDevices, noSystemCalls } from '../../helpers/namespace.ts'
import { describeUnless } from '../describe-unless.ts'
import type { Combination } from './combinations.ts'
import { applied, nameOf, wrongOf } from './trials.ts'

const COMBINATIONS: readonly Combination[] = [
  { kind: 'CSI file system', operation: 'UnmountVolume', use: 'none' },
  { kind: 'CSI file system', operation: 'UnmountVolume', use: 'working directory' },
  { kind: 'CSI file system', operation: 'UnmountDevice', use: 'another partition mounted' },
  { kind: 'CSI file system', operation: 'DetachVolume', use: 'device open for write' },
  { kind: 'CSI file system', operation: 'DetachVolume', use: 'device mapped, descriptor closed' },
  { kind: 'CSI raw block', operation: 'UnmapVolume', use: 'none' },
  { kind: 'CSI raw block', operation: 'UnmapVolume', use: 'device open read-only' },
  { kind: 'CSI raw block', operation: 'UnmapDevice', use: 'another partition open' },
  { kind: 'CSI raw block', operation: 'DetachVolume', use: 'loop device on the disk' },
  { kind: 'CSI directory', operation: 'UnmountDevice', use: 'bind in a namespace' },
  { kind: 'local device', operation: 'UnmountDevice', use: 'file open for write' },
  { kind: 'emptyDir on disk', operation: 'UnmountVolume', use: 'overlay, lower' },
  { kind: 'emptyDir on disk', operation: 'UnmountVolume', use: 'overlay, work' },
  { kind: 'emptyDir on disk', operation: 'UnmountVolume', use: 'bind in a namespace' },
  { kind: 'emptyDir on disk', operation: 'UnmountVolume', use: 'loop device on a file, made in a namespace' },
  { kind: 'emptyDir on disk', operation: 'UnmountVolume', use: 'swap file' },
  { kind: 'emptyDir on disk', operation: 'UnmountVolume', use: 'file named as if deleted, detached lazily' },
  { kind: 'emptyDir in memory', operation: 'UnmountVolume', use: 'mapped, descriptor closed' },
  { kind: 'emptyDir in memory', operation: 'UnmountVolume', use: 'bind on the host' },
  { kind: 'emptyDir in memory', operation: 'UnmountVolume', use: 'overlay in a namespace' },
  { kind: 'emptyDir in memory', operation: 'UnmountVolume', use: 'file open read-only' },
  { kind: 'subPath of a hostPath', operation: 'UnmountVolume', use: 'root directory' },
]

const cannot = noBlockDevices ?? noSystemCalls

describeUnless(cannot, 'some who use volumes', () => {
  it('S12, S20, S21, S24: each is named, or not hurt, and what nobody uses is taken away', async ({ directory }) => {
    const verdicts = await applied(directory, COMBINATIONS)
    expect(verdicts).toHaveLength(COMBINATIONS.length)
    expect(verdicts.flatMap((each) => (wrongOf(each) === '' ? [] : [`${nameOf(each)}: ${wrongOf(each)}`]))).toEqual([])
  })
})
