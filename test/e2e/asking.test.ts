/** Who is asked, on a terminal and without one: hands off standard input, and the question in earnest (contract, `--yes`, `apply -`). */
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Scene } from '../helpers/scene/scene.ts'
import { type Run, runUnjudged, runVolctl } from '../helpers/scene/volctl.ts'
import { VOLCTL } from '../helpers/volctl-program.ts'
import { it, leftOf, onTerminal, stateOf } from './story.ts'

const APPLY = `${VOLCTL} apply --orphans`

/** Without a terminal, as cron does it. */
const shell = ({ env }: Scene, command: string): Promise<Run> =>
  runUnjudged({ env, program: 'setsid' }, ['sh', '-c', command])

const NO_TERMINAL = 'apply cannot ask for confirmation: standard input is not a terminal'

it.for([
  { name: 'an answer through a pipe is none', command: `echo yes | ${APPLY}`, says: NO_TERMINAL },
  { name: 'only yes is a yes', command: `${APPLY} --yes=false`, type: 'y\n', says: 'not confirmed: nothing was' },
  { name: 'Ctrl-C is a no', command: APPLY, type: '\x03', status: 130, says: 'interrupted: nothing was changed' },
  {
    name: 'a question that would not be seen is not asked',
    command: `${APPLY} 2>$TMPDIR/err; status=$?; cat $TMPDIR/err; exit $status`,
    says: 'apply cannot ask for confirmation: standard error is not a terminal',
  },
])('on a terminal: $name', async ({ command, type = '', status = 1, says }, { broken }) => {
  const before = stateOf(broken)
  const scene = { ...broken, env: { ...broken.env, TMPDIR: broken.directory } }
  const run = await onTerminal(scene, () => type, command)
  expect(run.status).toBe(status)
  expect(run.stdout).toContain(says)
  expect(run.stdout.includes('to continue: ')).toBe(type !== '')
  expect(stateOf(broken)).toBe(before)
})

it('a loop keeps its lines', async ({ broken }) => {
  const loop = `printf 'a\\nb\\nc\\n' | while read name; do
      ${VOLCTL} explain pv/none; ${VOLCTL} apply --only remount; ${VOLCTL} journal
      echo "read $name"
    done`
  const { status, stdout } = await shell(broken, loop)
  expect([status, stdout.match(/^read .*/gm)]).toEqual([0, ['read a', 'read b', 'read c']])
})

it('a name that nothing bears stops it before anything is done, unless --ignore-not-found', async ({ broken }) => {
  const before = stateOf(broken)
  const unknown = await shell(broken, `${APPLY} --pod default/nobody`)
  expect(unknown).toMatchObject({ status: 1, stdout: '' })
  expect(unknown.stderr).toContain('default/nobody matches no pod on this node')
  expect((await shell(broken, `${APPLY} --pod default/nobody --ignore-not-found`)).status).toBe(0)
  expect(stateOf(broken)).toBe(before)
})

it('apply - carries out the plan that comes through a pipe; nothing, and a file that others could have written, are refused (S33)', async ({
  broken,
}) => {
  const file = join(broken.directory, 'node.plan')
  await runVolctl(broken, ['plan', '--orphans', '--out', file])
  const before = stateOf(broken)
  chmodSync(file, 0o666)
  for (const [from, says] of [
    ['/dev/null', 'plan file from standard input: a device, not a plain file'],
    [file, 'whoever wrote it could override safety checks'],
  ] as const) {
    const run = await shell(broken, `${VOLCTL} apply - <${from}`)
    expect(run).toMatchObject({ status: 1, stdout: '', stderr: expect.stringContaining(says) })
  }
  expect(stateOf(broken)).toBe(before)
  chmodSync(file, 0o600)
  expect((await shell(broken, `cat ${file} | ${VOLCTL} apply -`)).status).toBe(0)
  expect(await leftOf(broken)).toBe(0)
})

it('yes does it, with a line for what runs, in colour', async ({ broken }) => {
  // Long enough for the progress to be drawn.
  broken.driver.setFaults('late-after NodeUnstageVolume=600')
  const { status, stdout } = await onTerminal(broken, () => 'yes\n')
  expect([status, await leftOf(broken)]).toEqual([0, 0])
  expect(stdout).toMatch(/\d+ of \d+ operations ended/)
  expect(stdout).toContain('\u001b[32mdone')
  expect(stdout).toContain('Nothing is left to do.')
})
