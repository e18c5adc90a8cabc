/** Saved plans, the journal and a session that drops: each on a broken node of its own. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { PastApplies } from '../../../src/core/journal/read-journal.ts'
import { parseMountinfo } from '../../../src/core/mountinfo/parse-mountinfo.ts'
import type { Operation, Plan } from '../../../src/core/plan/plan.ts'
import { isInUserNamespace } from '../../../src/core/processes/standing.ts'
import { remountTmpfs } from '../../helpers/remount.ts'
import type { Scene } from '../../helpers/scene/scene.ts'
import { type Run, runVolctl } from '../../helpers/scene/volctl.ts'
import { VOLCTL } from '../../helpers/volctl-program.ts'
import { type Fingerprint, fingerprint } from './fingerprint.ts'
import { planOf, withScene, writeReport } from './scenario.ts'

export interface SavedPlanReport {
  readonly saved: Run & { readonly mode: string; readonly operations: number }
  readonly asPrinted: boolean
  /** Of this one the state file was replaced, of that one the tmpfs. */
  readonly otherFile: string
  readonly otherMount: string
  readonly partly: Run
  /** The same file once more. */
  readonly again: Run
  readonly unchangedAgain: boolean
  readonly rest: Run
  /** The file of the rest once more, for people. */
  readonly done: Run
  readonly journal: PastApplies
  readonly journalTable: Run
  readonly edited: Run
  readonly editedChanged: boolean
  readonly unsafe: Readonly<Record<string, Run>>
}

export interface FullDiskReport {
  readonly out: Run
  readonly stopped: Run
  readonly readOnlyOut: Run
  readonly readOnly: Run
  readonly changed: boolean
  readonly without: Run
}

export interface HangUpReport {
  readonly journal: PastApplies
  readonly left: number
}

export interface NamedReport {
  readonly pod: string
  /** Its ready operations, once those of the file are done. */
  readonly own: readonly string[]
  /** Pods with ready operations, before and after it all. */
  readonly ready: readonly string[]
  readonly unknown: Run
  readonly unknownChanged: boolean
  /** The one operation of the file with the pod's name, which is another pod's. */
  readonly inFile: readonly string[]
  readonly ofFile: Run
  readonly ofName: Run
  readonly left: readonly string[]
}

export interface UnansweredReport {
  readonly status: number
  readonly applies: number
}

const ndjson = ['--yes', '--parallel', '1', '-o', 'ndjson'] as const

async function savedPlan(scene: Scene): Promise<SavedPlanReport> {
  await scene.breakIt()
  const file = join(scene.directory, 'node.plan')
  const save = ['plan', '--orphans', '-o', 'json', '--out', file]
  const saved = await runVolctl(scene, save)
  const printed = JSON.parse(saved.stdout) as Plan
  const { options: _, ...inFile } = JSON.parse(readFileSync(file, 'utf8')) as Plan & { options: unknown }
  const mode = (statSync(file).mode & 0o777).toString(8)

  const edited = await applyEdited(scene, file)
  const unsafe = await applyUnsafe(scene, file)

  const otherFile = operationOf(printed, ({ basis }) => stateFileOf(basis?.files ?? []) !== undefined)
  replaceCopy(stateFileOf(otherFile.basis?.files ?? [])?.path ?? '')
  const otherMount = operationOf(
    printed,
    ({ volume, expects }) => volume?.plugin === 'kubernetes.io/secret' && expects?.[0]?.layers[0]?.fsType === 'tmpfs',
  )
  remount(otherMount.expects?.[0]?.path ?? '')

  const partly = await runVolctl(scene, ['apply', file, ...ndjson])
  const before = await fingerprint(scene)
  const again = await runVolctl(scene, ['apply', file, ...ndjson])
  const unchangedAgain = same(before, await fingerprint(scene))
  await runVolctl(scene, save)
  const rest = await runVolctl(scene, ['apply', file, ...ndjson])
  return {
    saved: { ...saved, mode, operations: printed.operations.length },
    asPrinted: JSON.stringify(inFile) === JSON.stringify(printed),
    otherFile: otherFile.id,
    otherMount: otherMount.id,
    partly,
    again,
    unchangedAgain,
    rest,
    journal: await journalOf(scene),
    journalTable: await runVolctl(scene, ['journal', '--last', '1']),
    ...edited,
    unsafe,
    done: await runVolctl(scene, ['apply', file, '--yes']),
  }
}

/** Every operation of a file does something else, or has another thing done to it. */
async function applyEdited(scene: Scene, file: string): Promise<{ edited: Run; editedChanged: boolean }> {
  const victim = join(scene.directory, 'victim')
  mkdirSync(victim)
  const plan = JSON.parse(readFileSync(file, 'utf8')) as { operations: Operation[] }
  const operations = plan.operations.map((operation) => ({
    ...operation,
    steps: [{ op: 'rmdir', target: victim }, ...operation.steps],
    unknown: { to: 'this version' },
  }))
  const other = join(scene.directory, 'edited.plan')
  writeFileSync(other, JSON.stringify({ ...plan, operations, later: 1 }), { mode: 0o600 })
  const before = await fingerprint(scene)
  const edited = await runVolctl(scene, ['apply', other, ...ndjson])
  return { edited, editedChanged: !same(before, await fingerprint(scene)) || !statSync(victim).isDirectory() }
}

async function applyUnsafe(scene: Scene, file: string): Promise<Record<string, Run>> {
  const other = join(scene.directory, 'other.plan')
  copyFileSync(file, other)
  chmodSync(other, 0o622)
  const writable = await runVolctl(scene, ['apply', other, ...ndjson])
  // A user namespace has nobody else to give it to.
  if (isInUserNamespace()) return { writable }
  chmodSync(other, 0o600)
  chownSync(other, 65534, 65534)
  const foreign = await runVolctl(scene, ['apply', other, ...ndjson])
  return { writable, foreign }
}

type Files = NonNullable<NonNullable<Operation['basis']>['files']>
const stateFileOf = (files: Files): Files[number] | undefined =>
  files.find(({ path }) => path.endsWith('/vol_data.json'))

function operationOf({ operations }: Plan, fits: (operation: Operation) => boolean): Operation {
  const found = operations.find((operation) => operation.kind === 'UnmountVolume' && fits(operation))
  if (found === undefined) throw new Error('the scene has no such operation')
  return found
}

/** Another file of the same content under the same name. */
function replaceCopy(path: string): void {
  copyFileSync(path, `${path}.new`)
  renameSync(`${path}.new`, path)
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

function same(one: Fingerprint, other: Fingerprint): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

async function journalOf(scene: Scene): Promise<PastApplies> {
  return JSON.parse((await runVolctl(scene, ['journal', '-o', 'json'])).stdout) as PastApplies
}

/** A disk of a few pages, on which nothing more fits; then the same, read-only. */
async function fullDisk(scene: Scene): Promise<FullDiskReport> {
  await scene.breakIt()
  const disk = join(scene.directory, 'disk')
  mkdirSync(disk)
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'disk', disk])
  const filling = spawn('dd', ['if=/dev/zero', `of=${disk}/filling`, 'bs=4096'], { stdio: 'ignore' })
  await once(filling, 'close')
  const before = await fingerprint(scene)
  const apply = ['apply', '--orphans', '--journal', disk, ...ndjson]
  const out = await runVolctl(scene, ['plan', '--out', join(disk, 'node.plan')])
  const stopped = await runVolctl(scene, apply)
  remountTmpfs(disk, 'ro')
  const readOnlyOut = await runVolctl(scene, ['plan', '--out', join(disk, 'node.plan')])
  const readOnly = await runVolctl(scene, apply)
  const changed = !same(before, await fingerprint(scene))
  const without = await runVolctl(scene, ['apply', '--orphans', '--no-journal', ...ndjson])
  execFileSync('umount', [disk])
  return { out, stopped, readOnlyOut, readOnly, changed, without }
}

/** The terminal goes away while the driver is at work: script(1), which holds its other end, is killed. */
async function hangUp(scene: Scene): Promise<HangUpReport> {
  await scene.breakIt()
  scene.driver.setFaults('late NodeUnpublishVolume=1500:once')
  const command = `${VOLCTL} apply --orphans --yes --parallel 1 --verbose`
  const child = spawn('script', ['--quiet', '--flush', '--command', command, '/dev/null'], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: { ...process.env, ...scene.env, TERM: 'xterm' },
  })
  let shown = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    shown += text
    if (/: NodeUnpublishVolume /.test(shown)) child.kill('SIGKILL')
  })
  await once(child, 'close')
  let journal = await journalOf(scene)
  while (journal.applies.at(-1)?.endedAt === undefined) journal = await journalOf(scene)
  scene.driver.setFaults()
  return { journal, left: (await planOf(scene, '--orphans')).plan.operations.length }
}

/** The same while the question waits for its answer. */
async function hangUpAtQuestion(scene: Scene): Promise<UnansweredReport> {
  await scene.breakIt()
  const status = join(scene.directory, 'status')
  // The shell outlives the terminal, to tell how volctl ended.
  const command = `trap : HUP; ${VOLCTL} apply --orphans; echo $? >${status}.new; mv ${status}.new ${status}`
  const child = spawn('script', ['--quiet', '--flush', '--command', command, '/dev/null'], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: { ...process.env, ...scene.env, TERM: 'xterm', SHELL: '/bin/sh' },
  })
  let shown = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    shown += text
    if (shown.includes('to continue: ')) child.kill('SIGKILL')
  })
  await once(child, 'close')
  while (!existsSync(status)) await setTimeout(20)
  return { status: Number(readFileSync(status, 'utf8')), applies: (await journalOf(scene)).applies.length }
}

/** `apply NAMESPACE/NAME`: a name; and a file of exactly this name, where there is one. */
async function named(scene: Scene): Promise<NamedReport> {
  await scene.reboot()
  const here = { env: scene.env, cwd: scene.directory }
  const idsOf = ({ operations }: Plan): string[] =>
    operations.flatMap(({ id, blocked }) => (blocked === undefined ? id : []))
  const podsOf = ({ operations }: Plan): string[] =>
    operations.flatMap(({ pod, blocked }) => (blocked === undefined && pod !== undefined ? pod.uid : []))
  const { plan } = await planOf(scene)
  const [first] = plan.operations.filter(({ pod, blocked }) => pod?.name !== undefined && blocked === undefined)
  const pod = first?.pod
  const other = plan.operations.find((each) => each.pod !== undefined && each.pod.uid !== pod?.uid)
  if (pod?.name === undefined || other?.pod === undefined || other.volume === undefined)
    throw new Error('the scene has no such pods')
  const name = `${pod.namespace}/${pod.name}`
  const before = await fingerprint(scene)
  const unknown = await runVolctl(here, ['apply', `${name}x`, ...ndjson])
  const unknownChanged = !same(before, await fingerprint(scene))
  const file = join(scene.directory, name)
  mkdirSync(join(scene.directory, pod.namespace ?? ''))
  await runVolctl(scene, ['plan', other.pod.uid, '--volume', other.volume.name, '--only', other.kind, '--out', file])
  const inFile = idsOf(JSON.parse(readFileSync(file, 'utf8')) as Plan)
  const ofFile = await runVolctl(here, ['apply', name, ...ndjson])
  rmSync(file)
  const own = idsOf((await planOf(scene, '--pod', name)).plan)
  const ofName = await runVolctl(here, ['apply', name, ...ndjson])
  const left = podsOf((await planOf(scene)).plan)
  return { pod: pod.uid, own, ready: podsOf(plan), unknown, unknownChanged, inFile, ofFile, ofName, left }
}

const small = { small: true }
export interface Report {
  readonly savedPlan: SavedPlanReport
  readonly fullDisk: FullDiskReport
  readonly named: NamedReport
  readonly hangUp: HangUpReport
  readonly unanswered: UnansweredReport
}

const report: Report = {
  savedPlan: await withScene(savedPlan, small),
  fullDisk: await withScene(fullDisk, small),
  named: await withScene(named, small),
  hangUp: await withScene(hangUp, small),
  unanswered: await withScene(hangUpAtQuestion, small),
}
writeReport(report)
