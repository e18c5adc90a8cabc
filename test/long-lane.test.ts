import { globSync } from 'node:fs'
import { matchesGlob } from 'node:path'
import { expect, it } from 'vitest'
import { LONG_LANE, longFiles, neededBy, ROOT } from './long-lane.ts'

it('each file of the long lane is in the table, and each pattern of the table matches a file', () => {
  const long = longFiles()
  expect(long.filter((file) => !LONG_LANE.some(({ tests }) => matchesGlob(file, tests)))).toEqual([])
  const patterns = LONG_LANE.flatMap(({ about, tests }) => [...about, tests])
  expect(patterns.filter((each) => globSync(each, { cwd: ROOT }).length === 0)).toEqual([])
})

it('a change needs the files about what it touches, and those that it changes', () => {
  const long = [
    'test/package/image.long.test.ts',
    'test/e2e/api-away.long.test.ts',
    'test/privileged/swapping.long.test.ts',
  ]
  expect(neededBy(['docs/tour.md', 'test/reconcile/detach.test.ts'], long)).toEqual([])
  expect(neededBy(['deploy/job.yaml', 'test/privileged/swapping.long.test.ts'], long)).toEqual([long[0], long[2]])
  expect(neededBy(['src/core/apply/execute.ts'], long)).toEqual([long[1]])
})
