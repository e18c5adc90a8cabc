import { expect, it } from 'vitest'
import { progressReport } from '../../../src/core/apply/mounts/mount-step.ts'

/** TestProgressTracking, with the kubelet's own times. */
it.each([
  { seconds: [0, 10, 29.9], said: [] },
  { seconds: [0, 30], said: [30] },
  { seconds: [30, 31, 89.9], said: [30] },
  { seconds: [30, 90, 149, 150], said: [30, 90, 150] },
  { seconds: [300, 301, 359, 360], said: [300, 360] },
])('asked after $seconds s, it speaks after $said s (P32)', ({ seconds, said }) => {
  const heard: number[] = []
  let now = 1_000_000
  const report = progressReport(
    (count) => heard.push(count),
    () => now,
  )
  for (const second of seconds) {
    now = 1_000_000 + second * 1000
    report(second)
  }
  expect(heard).toEqual(said)
})
