import { expect, it } from 'vitest'
import { isSkipped, ownedMode, ownership } from '../../src/core/linux/ownership.ts'

const DIRECTORY = 0o040000
const FILE = 0o100000

it.each([
  { of: 'a file', mode: FILE | 0o600, isDirectory: false, readOnly: false, becomes: 0o660 },
  { of: 'a file to be read', mode: FILE | 0o400, isDirectory: false, readOnly: true, becomes: 0o440 },

  { of: 'a directory', mode: DIRECTORY | 0o755, isDirectory: true, readOnly: false, becomes: 0o2775 },
  { of: 'a sticky directory', mode: DIRECTORY | 0o1700, isDirectory: true, readOnly: false, becomes: 0o3770 },
  { of: 'a directory to be read', mode: DIRECTORY | 0o700, isDirectory: true, readOnly: true, becomes: 0o2750 },
])('the bits of fsGroup (P31): $of: none is taken away', ({ mode, isDirectory, readOnly, becomes }) => {
  expect(ownedMode(mode, isDirectory, readOnly).toString(8)).toBe(becomes.toString(8))
})

/** TestSkipPermissionChange: only a root that matches in all three is trusted, and only where the policy trusts it. */
it.each([
  { why: 'all is right', mode: 0o2770, skipped: true },
  { why: 'another group', gid: 1000, mode: 0o2770, skipped: false },
  { why: 'no setgid', mode: 0o0770, skipped: false },
  { why: 'the group may not write', mode: 0o2750, skipped: false },
  { why: 'enough bits to be read', mode: 0o2550, readOnly: true, skipped: true },
])('is the walk left out (P32): $why: $skipped', ({ gid = 3000, mode, readOnly = false, skipped }) => {
  const root = { gid, mode: DIRECTORY | mode }
  const given = { gid: 3000, readOnly, ignoreErrors: false }
  expect(isSkipped(root, { ...given, policy: 'OnRootMismatch' })).toBe(skipped)
  expect(isSkipped(root, { ...given, policy: 'Always' })).toBe(false)
})

it('the group id that chown(2) takes for "do not change" is none', () => {
  const read = (gid: number) => ownership({ gid, policy: 'Always', readOnly: false, ignoreErrors: false }, '')
  expect(read(2 ** 32 - 2).gid).toBe(4_294_967_294)
  expect(() => read(2 ** 32 - 1)).toThrow(/gid is not a group id/)
})
