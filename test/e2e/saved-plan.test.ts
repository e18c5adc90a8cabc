/** Holding to a plan: saved, reviewed, carried out later; the journal of it; a disk that is full. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { parseMountinfo } from '../../src/core/linux/parse-mountinfo.ts'
import type { ApplyEvent } from '../../src/core/plan/events.ts'
import type { Operation, Plan } from '../../src/core/plan/plan.ts'
import type { Scene } from '../helpers/scene/scene.ts'
import { answerOf, type Run, runVolctl } from '../helpers/scene/volctl.ts'
import { eventsOf } from './scenarios/outcomes.ts'
import { it, journalOf, stateOf } from './story.ts'

const CARRY_OUT = ['--yes', '--parallel', '1', '-o', 'ndjson'] as const

/** How each operation ended, by its id. */
function endsById(run: Run): Map<string, ApplyEvent> {
  const ends = eventsOf(run).filter(({ type, id }) => id !== undefined && !['start', 'step', 'left'].includes(type))
  return new Map(ends.map((event) => [event.id ?? '', event]))
}

const done = (run: Run): string[] => [...endsById(run)].filter(([, { type }]) => type === 'done').map(([id]) => id)

const stateFileOf = ({ basis }: Operation): string | undefined =>
  basis?.files?.find(({ path }) => path.endsWith('/vol_data.json'))?.path

function operationOf({ operations }: Plan, fits: (operation: Operation) => boolean): Operation {
  const found = operations.find((operation) => operation.kind === 'UnmountVolume' && fits(operation))
  if (found === undefined) throw new Error('the scene has no such operation')
  return found
}

/** Another mount on the same path: something in between keeps the kernel from giving the id again, or an id that somebody else let go. */
function remount(path: string): void {
  const idThere = (): number | undefined => parseMountinfo(readFileSync('/proc/self/mountinfo')).top(path)?.id
  const before = idThere()
  do {
    execFileSync('umount', [path])
    execFileSync('mount', ['-t', 'tmpfs', 'between', '/mnt'])
    execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', path])
  } while (idThere() === before)
}

const fileOf = (scene: Scene): string => join(scene.directory, 'node.plan')
let printed: Plan

it('is for its owner alone, says how to be called, and is the plan that was printed', async ({ broken }) => {
  const saved = await runVolctl(broken, ['plan', '--orphans', '-o', 'json', '--out', fileOf(broken)])
  expect(saved.status).toBe(0)
  expect(saved.stderr).toMatch(/^wrote .*node\.plan: plan [0-9a-f]{12}, \d+ operations\n$/)
  expect(statSync(fileOf(broken)).mode & 0o777).toBe(0o600)
  printed = answerOf<Plan>(saved)
  const { options: _, ...inFile } = JSON.parse(readFileSync(fileOf(broken), 'utf8')) as Plan & { options: unknown }
  expect(JSON.stringify(inFile)).toBe(JSON.stringify(printed))
})

it('an edited one is found out, operation by operation; fields that nobody knows are no matter', async ({ broken }) => {
  const victim = join(broken.directory, 'victim')
  mkdirSync(victim, { recursive: true })
  const operations = printed.operations.map((operation) => ({
    ...operation,
    steps: [{ op: 'rmdir', target: victim }, ...operation.steps],
    unknown: { to: 'this version' },
  }))
  const edited = join(broken.directory, 'edited.plan')
  const plan = JSON.parse(readFileSync(fileOf(broken), 'utf8')) as object
  writeFileSync(edited, JSON.stringify({ ...plan, operations, later: 1 }), { mode: 0o600 })
  const before = stateOf(broken)
  const run = await runVolctl(broken, ['apply', edited, ...CARRY_OUT])
  expect(run.status).toBe(3)
  expect([...endsById(run).values()].map(({ code }) => code)).toEqual(operations.map(() => 'Changed'))
  expect([stateOf(broken), statSync(victim).isDirectory()]).toEqual([before, true])
})

it('what is another file or another mount now is refused, with was and now; what depends on it is dropped, and the rest is done (S26)', async ({
  broken,
}) => {
  const otherFile = operationOf(printed, (operation) => stateFileOf(operation) !== undefined)
  const stateFile = stateFileOf(otherFile) ?? ''
  // Another file of the same content under the same name.
  copyFileSync(stateFile, `${stateFile}.new`)
  renameSync(`${stateFile}.new`, stateFile)
  const otherMount = operationOf(
    printed,
    ({ volume, expects }) => volume?.plugin === 'kubernetes.io/secret' && expects?.[0]?.layers[0]?.fsType === 'tmpfs',
  )
  remount(otherMount.expects?.[0]?.path ?? '')
  const partly = await runVolctl(broken, ['apply', fileOf(broken), ...CARRY_OUT])
  expect(partly.status).toBe(3)
  const ends = endsById(partly)
  expect(ends.get(otherFile.id)).toMatchObject({
    type: 'refused',
    code: 'Changed',
    message: expect.stringMatching(/vol_data\.json was inode (\d+) .*, now inode (?!\1 )\d+ /),
    differences: [{ what: expect.stringContaining('/vol_data.json') }],
  })
  expect(ends.get(otherMount.id)).toMatchObject({
    type: 'refused',
    code: 'Changed',
    message: expect.stringMatching(/was mount (\d+) of .*, now mount (?!\1 )\d+ of /),
  })
  expect([...ends.values()].filter(({ type }) => type === 'skipped').map(({ code }) => code)).toEqual(['Changed'])
  expect(done(partly)).toHaveLength(printed.operations.length - 3)
})

it('carried out again it does nothing, and says of each why; a new one does what is left', async ({ scene }) => {
  const before = stateOf(scene)
  const again = await runVolctl(scene, ['apply', fileOf(scene), ...CARRY_OUT])
  expect(again.status).toBe(3)
  expect(stateOf(scene)).toBe(before)
  const codes = [...endsById(again).values()].map(({ code }) => code)
  expect(codes.filter((code) => code === 'AlreadyDone')).toHaveLength(printed.operations.length - 3)
  await runVolctl(scene, ['plan', '--orphans', '--out', fileOf(scene)])
  const rest = await runVolctl(scene, ['apply', fileOf(scene), ...CARRY_OUT])
  expect([rest.status, done(rest).length]).toEqual([0, 3])
  const over = await runVolctl(scene, ['apply', fileOf(scene), '--yes'])
  expect(over.status).toBe(0)
  expect(over.stdout).toMatch(/^skipped {2}1 {2}UnmountVolume +\S+ {2}\S+ /m)
  expect(over.stdout).toContain('This plan is already done: of its operations none is left to do.')
})

it('the journal tells of each apply: which plan, who, from which file, and how every operation ended', async ({
  scene,
}) => {
  const { damaged, applies } = await journalOf(scene)
  expect(damaged).toEqual([])
  // What begins no operation is not in it.
  const [partly, , rest] = applies
  expect(partly).toMatchObject({
    exit: 3,
    plan: expect.stringMatching(/^[0-9a-f]{12}$/),
    planFile: expect.stringMatching(/node\.plan$/),
    by: { pid: expect.any(Number), uid: 0, user: expect.any(String) },
    guards: { orphans: true },
  })
  expect(partly?.operations.filter(({ state }) => state === 'refused').map(({ code }) => code)).toEqual([
    'Changed',
    'Changed',
  ])
  expect(rest?.operations.map(({ state }) => state)).toEqual(['done', 'done', 'done'])
  expect(rest?.operations.flatMap(({ stateFiles = [] }) => stateFiles)).toEqual([
    { path: expect.stringMatching(/vol_data\.json$/), content: expect.stringContaining('"volumeHandle"') },
  ])
})

it('what cannot be recorded is not done, and a plan that cannot be saved is printed: on a disk that is full', async ({
  broken,
}) => {
  const disk = join(broken.directory, 'disk')
  mkdirSync(disk)
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'disk', disk])
  const filling = spawn('dd', ['if=/dev/zero', `of=${disk}/filling`, 'bs=4096'], { stdio: 'ignore' })
  await once(filling, 'close')
  const before = stateOf(broken)
  const run = await runVolctl(broken, ['apply', '--orphans', '--journal', disk, ...CARRY_OUT])
  const unsaved = await runVolctl(broken, ['plan', '--out', join(disk, 'node.plan')])
  execFileSync('umount', [disk])
  expect(run).toMatchObject({ status: 1, stdout: '' })
  expect(JSON.parse(run.stderr)).toMatchObject({
    code: 'JournalFailed',
    hint: expect.stringContaining('--journal'),
  })
  expect(unsaved).toMatchObject({ status: 1, stdout: expect.stringMatching(/\n\d+ operations: /) })
  expect(unsaved.stderr).toMatch(/^volctl: plan file .*node\.plan: its file system is full \(ENOSPC\)\n.*\n$/)
  expect(stateOf(broken)).toBe(before)
})
