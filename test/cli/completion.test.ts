/** Completion in real shells, at a terminal, with the script that volctl prints; the shells do not even find volctl. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { volctl } from '../helpers/run-main.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { SHELLS, Typing } from './typing.ts'

const directory = temporaryDirectory()

describe.each(SHELLS)('%s (where it is installed)', { timeout: 180_000 }, (shell) => {
  const missing = spawnSync(shell, ['--version']).error !== undefined
  const place = join(directory, shell)
  const file = join(directory, `script.${shell}`)
  let typing: Typing
  beforeAll(async () => {
    mkdirSync(place)
    const { status, stdout, stderr } = await volctl(['completion', shell])
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(stdout).not.toContain(process.cwd())
    writeFileSync(file, stdout)
    if (!missing) typing = await Typing.start(shell, place, '/usr/bin:/bin', `cat ${file}`)
  })
  afterAll(() => typing?.[Symbol.dispose]())

  it.skipIf(missing)('completes commands, flags and values', async () => {
    const lines: readonly (readonly [keys: string, words: string])[] = [
      ['volctl expl\t', 'explain'],
      ['volctl --vers\t', '--version'],
      ['volctl plan --det\t--output js\t--ver\t', 'plan --detailed-exitcode --output json --verbose'],
      ['volctl plan -o js\t--only unm\t', 'plan -o json --only unmount'],
      ['volctl plan --skip detach,rem\t', 'plan --skip detach,remount'],
      ['volctl plan --only=RemountV\t', 'plan --only=RemountVolume'],
      ['volctl help journ\t', 'help journal'],
      ['volctl completion fi\t', 'completion fish'],
      ['volctl wait --for=unmou\t', 'wait --for=unmounted'],
      ['volctl plan --snapshot=q-fi\t', 'plan --snapshot=q-file'],
      ['volctl plan --settle q-fi\t', 'plan --settle q-fi'],
      // zsh takes the slash at the end away again.
      ['volctl plan --root-dir q-d\tdeep\tq', 'plan --root-dir q-dir/deeper/q'],
      ['volctl plan --root-dir=q-d\tdeep\tq', 'plan --root-dir=q-dir/deeper/q'],
    ]
    writeFileSync(join(place, 'q-file'), '')
    mkdirSync(join(place, 'q-dir', 'deeper'), { recursive: true })
    for (const [keys, words] of lines) expect(await typing.complete(keys)).toEqual(['volctl', ...words.split(' ')])
  })

  it.skipIf(missing)('inserts paths as they are, and expands nothing that was typed', async () => {
    writeFileSync(join(place, 'x$(touch pwned) y.plan'), '')
    expect(await typing.complete('volctl apply x\t')).toEqual(['volctl', 'apply', 'x$(touch pwned) y.plan'])
    // Only when the line is run, by the shell itself.
    writeFileSync(join(place, 'kept'), '')
    expect(await typing.complete("volctl plan --kubeconfig '$(rm kept)' --only unm\t")).toContain('$(rm kept)')
    expect(existsSync(join(place, 'kept'))).toBe(true)
    expect(existsSync(join(place, 'pwned'))).toBe(false)
  })
})

it('without a shell it says which there are', async () =>
  expect(await volctl(['completion'])).toMatchObject({
    status: 1,
    stdout: '',
    stderr: expect.stringContaining('Give bash, zsh or fish'),
  }))
