import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { noMounts } from '../helpers/namespace.ts'
import { describeUnless } from '../privileged/describe-unless.ts'
import { commands, demo, directory, expectMainJob } from './run-demo.ts'

/** Root of a user namespace, as a plain user's demo is in the one that it makes for itself. */
const USER_NAMESPACE = ['unshare', '-U', '-r']
const noUserNamespace = spawnSync('unshare', ['-U', '-r', '-m', 'true']).status !== 0

describeUnless(noMounts, 'the demo', () => {
  it('shows the main job without a terminal, in a user namespace', async ({ skip }) => {
    skip(noUserNamespace, 'this machine allows no user namespaces')
    await expectMainJob({ by: USER_NAMESPACE })
  })
})

it('the demo where mounts are forbidden: says so, and shows the plan of a recorded node', async () => {
  const bin = join(directory, 'bin')
  mkdirSync(bin)
  writeFileSync(join(bin, 'unshare'), '#!/bin/sh\necho "unshare: Operation not permitted" >&2\nexit 1\n')
  chmodSync(join(bin, 'unshare'), 0o755)
  const { status, text } = await demo({ path: `${bin}:${process.env.PATH}` })
  expect(status, text).toBe(0)
  expect(text).toContain('This user cannot create real mounts here')
  expect(commands(text)).toEqual([
    '$ volctl plan --snapshot test/fixtures/captures/forcedel-killed/before.json',
    '$ volctl plan --orphans --snapshot test/fixtures/captures/forcedel-killed/before.json',
  ])
  expect(text).toContain('remove 3 directories')
})
