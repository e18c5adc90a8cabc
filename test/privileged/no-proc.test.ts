/** In a chroot or a rescue shell without /proc nothing can be looked at: one line says so, whatever was asked. */
import { join } from 'node:path'
import { execa } from 'execa'
import { expect, it } from 'vitest'
import { CAPTURES } from '../helpers/captures.ts'
import { noRoot, unshareArguments } from '../helpers/namespace.ts'
import { BUNDLE } from '../helpers/volctl-program.ts'
import { describeUnless } from './describe-unless.ts'

const SNAPSHOT = ['--snapshot', join(CAPTURES, 'healthy', 'node.json')]
const WITHOUT_PROC = 'mount -t tmpfs none /proc && exec "$0" "$@"'

describeUnless(noRoot, 'without /proc', () => {
  const run = async (args: readonly string[]): Promise<{ status: number | undefined; stderr: string }> => {
    const { exitCode, stderr } = await execa(
      'unshare',
      [...unshareArguments, 'sh', '-c', WITHOUT_PROC, BUNDLE, ...args],
      { reject: false, stdin: 'ignore' },
    )
    return { status: exitCode, stderr }
  }

  it.each([
    { args: ['plan', ...SNAPSHOT], status: 1 },
    { args: ['apply', '--yes'], status: 1 },
    { args: ['doctor', ...SNAPSHOT], status: 1 },
    { args: ['check', ...SNAPSHOT], status: 2 },
  ])('volctl $args', async ({ args, status }) => {
    expect(await run(args)).toEqual({
      status,
      stderr: expect.stringMatching(/^volctl: \/proc is not mounted: .+\n +Mount it, .+: mount -t proc proc \/proc$/),
    })
  })

  it.each([
    ['completion', 'bash'],
    ['plan', '--help'],
  ])('volctl %s %s needs none', async (...args) => expect(await run(args)).toEqual({ status: 0, stderr: '' }))
})
