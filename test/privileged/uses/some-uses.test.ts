/** S12, S20, S21, S24: some users of each kind of volume, all at once on one node; every one of them in uses.long.test.ts. */
import { expect } from 'vitest'
import { it } from '../../helpers/machine.ts'
import { noBlockDevices, noSystemCalls } from '../../helpers/namespace.ts'
import { describeUnless } from '../describe-unless.ts'
import type { Combination } from './combinations.ts'
import { applied, nameOf, undoneOf, wrongOf } from './trials.ts'

const COMBINATIONS = (
  [
    ['CSI file system', 'UnmountVolume', 'none'],
    ['CSI file system', 'UnmountVolume', 'working directory'],
    ['CSI file system', 'UnmountVolume', 'overlay in a namespace'],
    ['CSI file system', 'UnmountDevice', 'another partition mounted'],
    ['CSI file system', 'DetachVolume', 'device open for write'],
    ['CSI file system', 'DetachVolume', 'device mapped, descriptor closed'],
    ['CSI raw block', 'UnmapVolume', 'none'],
    ['CSI raw block', 'UnmapVolume', 'device open read-only'],
    ['CSI raw block', 'UnmapDevice', 'another partition open'],
    ['CSI raw block', 'DetachVolume', 'loop device on the disk'],
    ['CSI directory', 'UnmountDevice', 'bind in a namespace'],
    ['local device', 'UnmountDevice', 'file open for write'],
    ['emptyDir on disk', 'UnmountVolume', 'overlay, lower'],
    ['emptyDir on disk', 'UnmountVolume', 'overlay, work'],
    ['emptyDir on disk', 'UnmountVolume', 'bind in a namespace'],
    ['emptyDir on disk', 'UnmountVolume', 'loop device on a file, made in a namespace'],
    ['emptyDir on disk', 'UnmountVolume', 'swap file'],
    ['emptyDir on disk', 'UnmountVolume', 'file named as if deleted, detached lazily'],
    ['emptyDir in memory', 'UnmountVolume', 'mapped, descriptor closed'],
    ['emptyDir in memory', 'UnmountVolume', 'bind on the host'],
    ['emptyDir in memory', 'UnmountVolume', 'overlay in a namespace'],
    ['emptyDir in memory', 'UnmountVolume', 'file open read-only'],
    ['subPath of a hostPath', 'UnmountVolume', 'root directory'],
  ] as const
).map(([kind, operation, use]): Combination => ({ kind, operation, use }))

const cannot = noBlockDevices ?? noSystemCalls

describeUnless(cannot, 'some who use volumes', () => {
  it('S12, S20, S21, S24: each is named, or not hurt, and what nobody uses is taken away', async ({ directory }) => {
    const verdicts = await applied(directory, COMBINATIONS)
    expect(verdicts).toHaveLength(COMBINATIONS.length)
    expect(verdicts.flatMap((each) => (wrongOf(each) === '' ? [] : [`${nameOf(each)}: ${wrongOf(each)}`]))).toEqual([])
    expect(verdicts.flatMap(undoneOf)).toEqual([])
  })
})
