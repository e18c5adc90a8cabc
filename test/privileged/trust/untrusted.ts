/**
 * What volctl looks at, what somebody else may have done to it, and which commands look: one node, and trial after trial, in which
 * everything is as root wants it but for one thing that somebody else had a hand in.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname } from 'node:path'
import { load } from 'js-yaml'
import { ExitStatus } from '../../../src/core/messages/findings.ts'
import type { Plan } from '../../../src/core/plan/plan.ts'
import { kernelTextIfAny } from '../../../src/core/trust/kernel.ts'
import type { NodeSnapshot } from '../../../src/core/volumes/snapshot.ts'
import { sha256Hex } from '../../../src/core/volumes/volume-names.ts'
import { kubeconfigText } from '../../helpers/api-server/users.ts'
import { randomFrom } from '../../helpers/random-from.ts'
import { sh } from '../../helpers/scenario.ts'
import { inventory } from '../inventory.ts'
import { readMounts } from '../workers/real-node.ts'
import { execKubeconfig } from './kubeconfigs.ts'
import { makeVolume, NODE, type TrustNode } from './node.ts'
import { foreignDirectory, givenAway, STRANGER } from './strangers.ts'
import { LIMIT_MIB, type RunOptions, type WatchedRun } from './watched-run.ts'

type Command = 'plan' | 'apply' | 'snapshot' | 'explain' | 'journal'

const LOOKING = ['plan', 'apply', 'snapshot', 'explain'] as const

/** By what they are called here: the commands that look at them. */
export const SUBJECTS = {
  'admin.conf, found': LOOKING,
  "root's ~/.kube/config, found": LOOKING,
  'kubeconfig, given': LOOKING,
  'CA file of a kubeconfig': LOOKING,
  'token file of a kubeconfig': LOOKING,
  'kubelet --config': LOOKING,
  'kubelet --config-dir': LOOKING,
  'kubelet --config of one that runs': LOOKING,
  'unit file': LOOKING,
  'unit drop-in': LOOKING,
  'environment file of the unit': LOOKING,
  'static pod manifest': LOOKING,
  'flexVolume driver': LOOKING,
  'journal.jsonl': ['apply', 'journal'],
  'lazy.jsonl': LOOKING,
  'lock file': ['apply'],
  'plan file': ['apply'],
  'snapshot file': ['plan', 'explain'],
  'CSI socket': LOOKING,
  'CSI registration socket': LOOKING,
  'runtime socket': LOOKING,
} as const satisfies Readonly<Record<string, readonly Command[]>>

export type Subject = keyof typeof SUBJECTS

/** What else makes a file another's, or none: test/trust/files.test.ts. */
export const TRICKS = [
  "another user's",
  "another user's link",
  'a FIFO',
  'swapped all the time',
  'of 10 GB',
  'endless',
  'slow',
] as const

type Trick = (typeof TRICKS)[number]

export interface Trial {
  readonly subject: Subject
  readonly trick: Trick
  readonly command: Command
}

interface Verdict extends Trial {
  /** What must not be, in words. */
  readonly wrong: readonly string[]
  readonly status: number | undefined
}

export function allTrials(): readonly Trial[] {
  return (Object.entries(SUBJECTS) as [Subject, readonly Command[]][]).flatMap(([subject, commands]) =>
    TRICKS.flatMap((trick) => commands.map((command) => ({ subject, trick, command }))),
  )
}

/** So many of them, each subject and each trick among them; the same for the same seed. */
export function chosenTrials(count: number, seed: number): readonly Trial[] {
  const random = randomFrom(seed)
  const shuffled = allTrials()
    .map((trial) => ({ trial, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ trial }) => trial)
  const first = [...Object.keys(SUBJECTS), ...TRICKS].map((name) =>
    shuffled.find(({ subject, trick }) => subject === name || trick === name),
  )
  return [...new Set([...first.filter((trial) => trial !== undefined), ...shuffled])].slice(0, count)
}

const CONTAINERD = '/run/containerd/containerd.sock'
const UNITS = '/etc/systemd/system'
const JOURNAL = '/var/lib/volctl'

/** A file or a socket, as root has it and as somebody else would like it. */
interface Thing {
  readonly path: string
  readonly sound: string
  readonly evil: string
  readonly mode?: number
  readonly socket?: true
}

interface Places {
  readonly things: Readonly<Record<Subject, Thing>>
  /** A kubeconfig of root's that names a CA file and a token file. */
  readonly withFiles: string
  readonly outside: string
  /** Where answers go. */
  readonly answers: string
}

/** What is read from the node once, while it is sound. */
interface Sound {
  readonly plan: string
  readonly snapshot: string
}

interface Config {
  readonly clusters: readonly { readonly cluster: { readonly 'certificate-authority-data': string } }[]
  readonly users: readonly { readonly user: { readonly token: string } }[]
}

function placesOf(node: TrustNode, sound: Sound): Places {
  const { directory, root, api } = node
  const outside = `${directory}/outside`
  const own = `${directory}/own`
  const admin = readFileSync(api.kubeconfig('admin'), 'utf8')
  const { clusters, users } = load(readFileSync(api.kubeconfig('apply'), 'utf8')) as Config
  const authority = clusters[0]?.cluster['certificate-authority-data'] ?? ''
  const plugin = execKubeconfig(api.url, `${outside}/plugin`, { 'certificate-authority-data': authority })
  const [ca, token] = [`${own}/ca/ca.crt`, `${own}/token/token`]
  const config = `${own}/config/config.yaml`
  const flags = [...node.flags(), `--config=${config}`, `--config-dir=${own}/config.d`]
  const unit = (more: string) =>
    `[Service]\nEnvironmentFile=-/etc/default/kubelet\nExecStart=${kubelet(flags)} ${more}\n`
  const drivers = `${outside}/plugins`
  const kubeletConfig = (volumePluginDir: string) =>
    `${JSON.stringify({ kind: 'KubeletConfiguration', staticPodPath: `${own}/manifests`, volumePluginDir })}\n`
  const manifest = (name: string, uid: string) =>
    `${JSON.stringify({ kind: 'Pod', metadata: { name, namespace: 'kube-system', uid }, spec: { containers: [] } })}\n`
  const { dev, ino } = statSync(root)
  const bootID = kernelTextIfAny('/proc/sys/kernel/random/boot_id')
  const [mount] = readMounts().at(node.volume)
  const forged = { bootID, path: '/where/a/forger/says', dev: mount?.dev, fsType: 'tmpfs' }
  const stat = readFileSync('/proc/1/stat', 'utf8')
  const startTime = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  const owner = { pid: 1, startTime, bootID, user: 'root', since: new Date().toISOString() }
  const driver = '#!/bin/sh\necho \'{"status":"Not supported"}\'\nexit 1\n'
  const things: Readonly<Record<Subject, Thing>> = {
    'admin.conf, found': { path: '/etc/kubernetes/admin.conf', sound: admin, evil: plugin },
    "root's ~/.kube/config, found": { path: `${directory}/home/.kube/config`, sound: admin, evil: plugin },
    'kubeconfig, given': { path: `${own}/kubeconfig/config`, sound: admin, evil: plugin },
    'CA file of a kubeconfig': { path: ca, sound: Buffer.from(authority, 'base64').toString(), evil: 'none\n' },
    'token file of a kubeconfig': { path: token, sound: users[0]?.user.token ?? '', evil: 'a-token-of-nobody' },
    'kubelet --config': { path: config, sound: kubeletConfig(`${own}/plugins`), evil: kubeletConfig(drivers) },
    'kubelet --config of one that runs': {
      path: `${own}/running/config.yaml`,
      sound: kubeletConfig(`${own}/plugins`),
      evil: kubeletConfig(drivers),
    },
    'kubelet --config-dir': { path: `${own}/config.d/10.conf`, sound: '{}\n', evil: kubeletConfig(drivers) },
    'unit file': {
      path: `${UNITS}/kubelet.service`,
      sound: unit('$MORE'),
      evil: unit(`--volume-plugin-dir=${drivers}`),
    },
    'unit drop-in': {
      path: `${UNITS}/kubelet.service.d/10.conf`,
      sound: '[Service]\nEnvironment=A=b\n',
      evil: `[Service]\nExecStart=\nExecStart=${kubelet(flags)} --volume-plugin-dir=${drivers}\n`,
    },
    'environment file of the unit': {
      path: '/etc/default/kubelet',
      sound: 'MORE=--v=2\n',
      evil: `MORE=--volume-plugin-dir=${drivers}\n`,
    },
    'static pod manifest': {
      path: `${own}/manifests/etcd.yaml`,
      sound: manifest('etcd', 'static-1'),
      evil: manifest('../../..', `../../../${outside}/empty`),
    },
    'flexVolume driver': {
      path: `${own}/plugins/v~d/d`,
      sound: driver,
      evil: readFileSync(`${outside}/plugins/v~d/d`, 'utf8'),
      mode: 0o755,
    },
    'journal.jsonl': { path: `${JOURNAL}/journal.jsonl`, sound: '', evil: '{"type":"begin"}\n' },
    'lazy.jsonl': { path: `${JOURNAL}/lazy.jsonl`, sound: '', evil: `${JSON.stringify(forged)}\n` },
    'lock file': {
      path: `/run/volctl/${sha256Hex(`${dev}:${ino}`).slice(0, 16)}.lock`,
      sound: '',
      evil: `${JSON.stringify(owner)}\n`,
    },
    'plan file': { path: `${own}/plan/node.plan`, sound: sound.plan, evil: evilPlan(sound.plan, `${outside}/empty`) },
    'snapshot file': { path: `${own}/snapshot/node.json`, sound: sound.snapshot, evil: evilSnapshot(sound.snapshot) },
    'CSI socket': { path: `${root}/plugins/disk.test/csi.sock`, sound: '', evil: '', socket: true },
    'CSI registration socket': {
      path: `${root}/plugins_registry/disk.test-reg.sock`,
      sound: '',
      evil: '',
      socket: true,
    },
    'runtime socket': { path: CONTAINERD, sound: '', evil: '', socket: true },
  }
  const user = { tokenFile: token }
  return {
    things,
    withFiles: kubeconfigText({ server: api.url, 'certificate-authority': ca }, user),
    outside,
    answers: `${directory}/answers`,
  }
}

function kubelet(flags: readonly string[]): string {
  return `/usr/bin/kubelet ${flags.join(' ')}`
}

/** Every operation removes what is outside, and every guard is lifted. */
function evilPlan(text: string, victim: string): string {
  const plan = JSON.parse(text) as Plan & { options: object }
  const operations = plan.operations.map((each) => ({
    ...each,
    steps: [{ op: 'rmdir', target: victim }, ...each.steps],
  }))
  return JSON.stringify({ ...plan, operations, options: { ...plan.options, orphans: true, driverGone: ['v/d'] } })
}

/** Of types that no API server gives. */
function evilSnapshot(text: string): string {
  const snapshot = JSON.parse(text) as NodeSnapshot
  const items = ['labels', 'annotations'].map((name) => ({ path: name, fieldRef: { fieldPath: `metadata.${name}` } }))
  const volumes = [{ name: 'v', downwardAPI: { items } }]
  const metadata = { name: 'p', namespace: 'n', uid: 'u', labels: { a: 1 }, annotations: { b: [] } }
  const pods = [{ metadata, spec: { nodeName: NODE, containers: [], volumes } }]
  return JSON.stringify({ ...snapshot, api: { ...snapshot.api, pods } })
}

/** Everything as root wants it. */
function laySound(node: TrustNode, { things, withFiles, answers }: Places): void {
  const { directory, root } = node
  for (const path of [
    `${directory}/own`,
    `${directory}/home`,
    answers,
    UNITS,
    '/etc/kubernetes',
    JOURNAL,
    '/run/volctl',
    `${root}/plugins_registry`,
    `${root}/plugins/disk.test`,
  ])
    rmSync(path, { recursive: true, force: true })
  for (const path of [`${directory}/home`, answers, UNITS]) mkdirSync(path, { recursive: true })
  for (const path of ['/etc/default', '/run/containerd']) {
    mkdirSync(path, { recursive: true })
    chownSync(path, 0, 0)
    chmodSync(path, 0o755)
  }
  for (const [subject, { path, sound, mode = 0o600, socket }] of Object.entries(things)) {
    if (FOUND.includes(subject as Subject) || sound === '' || socket) continue
    write(path, sound, mode)
  }
  write(`${directory}/own/with-files`, withFiles, 0o600)
}

function write(path: string, text: string, mode: number): void {
  mkdirSync(dirname(path), { recursive: true })
  rmSync(path, { force: true })
  writeFileSync(path, text)
  chmodSync(path, mode)
}

/** They are there only where they are what is tried: another would be used instead. */
const FOUND: readonly Subject[] = ['admin.conf, found', "root's ~/.kube/config, found"]

/** What a trick has left behind to be ended. */
interface Hand {
  readonly watched: readonly string[]
  release(): Promise<void>
}

/** They make the thing what it is to be, and return what must stay as it is, and who is to be ended. */
const FILE_TRICKS: Readonly<Record<Trick, (thing: Thing) => readonly (string | ChildProcess)[]>> = {
  "another user's": ({ path, evil, mode = 0o600 }) => {
    write(path, evil, mode)
    return [givenAway(path)]
  },
  "another user's link": ({ path, evil, mode = 0o644 }) => {
    const other = `${dirname(path)}/.other`
    write(other, evil, mode)
    rmSync(path, { force: true })
    symlinkSync(givenAway(other), path)
    givenAway(path)
    return [other]
  },
  'a FIFO': ({ path }) => {
    fifo(path)
    return []
  },
  'swapped all the time': ({ path, sound, evil, mode = 0o644 }) => {
    const directory = dirname(path)
    const [good, bad] = [`${directory}/.good`, `${directory}/.bad`]
    write(good, sound, mode)
    write(bad, evil, mode)
    givenAway(bad)
    rmSync(path, { force: true })
    return [swapper(path, good, bad)]
  },
  'of 10 GB': ({ path, sound, mode = 0o600 }) => {
    write(path, sound, mode)
    truncateSync(path, 10 * 2 ** 30)
    return []
  },
  endless: ({ path }) => [writer(path, "exec yes '# and so on'")],
  slow: ({ path }) => [writer(path, "while :; do printf '#'; sleep 1; done")],
}

function fifo(path: string): void {
  mkdirSync(dirname(path), { recursive: true })
  rmSync(path, { force: true })
  sh('mkfifo', '-m', '600', path)
}

/** Opened for both here, so that neither side waits for the other to be there. */
function writer(path: string, script: string): ChildProcess {
  fifo(path)
  const fd = openSync(path, constants.O_RDWR)
  const child = spawn('sh', ['-c', script], { stdio: ['ignore', fd, 'ignore'], detached: true })
  closeSync(fd)
  return child
}

/** By the stranger, in a directory that is his: some hundred thousand times a second. */
function swapper(path: string, good: string, bad: string): ChildProcess {
  const directory = dirname(path)
  givenAway(directory)
  const [name, here] = [basename(path), `${directory}/.next`]
  const script = `chdir $ARGV[0]; for (;;) { for (@ARGV[2,3]) { symlink $_, ".next"; rename ".next", $ARGV[1] } }`
  symlinkSync(bad, here)
  renameSync(here, path)
  const args = [directory, name, basename(good), basename(bad)]
  return spawn('perl', ['-e', script, ...args], { stdio: 'ignore', uid: STRANGER, gid: STRANGER })
}

/** With what a trick has put beside it. */
function remove(path: string): void {
  rmSync(path, { force: true })
  for (const name of ['.other', '.good', '.bad', '.next']) rmSync(`${dirname(path)}/${name}`, { force: true })
}

/** What is in the place of a socket comes back; a server that does not end: test/rpc. */
function play(thing: Thing, trick: Trick): Hand {
  const { path, socket } = thing
  const sound = `${dirname(path)}/.sound`
  const isThere = socket === true && existsSync(path)
  if (isThere) renameSync(path, sound)
  const made = FILE_TRICKS[trick](thing)
  const children = made.filter((each) => typeof each !== 'string')
  return {
    watched: made.filter((each) => typeof each === 'string'),
    release: async () => {
      for (const child of children) if (child.kill('SIGKILL')) await once(child, 'exit')
      remove(path)
      if (isThere) renameSync(sound, path)
    },
  }
}

function argumentsOf({ subject, command }: Trial, node: TrustNode, { things, answers }: Places): readonly string[] {
  const credential: Partial<Record<Subject, readonly string[]>> = {
    'admin.conf, found': [],
    "root's ~/.kube/config, found": [],
    'kubeconfig, given': ['--kubeconfig', things['kubeconfig, given'].path],
    'CA file of a kubeconfig': ['--kubeconfig', `${node.directory}/own/with-files`],
    'token file of a kubeconfig': ['--kubeconfig', `${node.directory}/own/with-files`],
  }
  const given = credential[subject] ?? ['--kubeconfig', node.api.kubeconfig('admin')]
  const snapshot = ['--snapshot', things['snapshot file'].path]
  const from = subject === 'snapshot file' ? snapshot : given
  const lines: Readonly<Record<Command, readonly string[]>> = {
    plan: ['plan', '-o', 'json', ...from],
    apply:
      subject === 'plan file'
        ? ['apply', things['plan file'].path, '--yes', '-o', 'json', ...given]
        : ['apply', '--yes', '-o', 'json', ...given],
    snapshot: ['snapshot', '-o', `${answers}/snapshot.json`, ...given],
    explain: ['explain', node.volume, '-o', 'json', ...from],
    journal: ['journal', '-o', 'json'],
  }
  return lines[command]
}

/** What waits for the other side never answers; a machine that is busy takes ten times as long as one that is idle. */
const ANSWER_MS = 10_000

/** What was wrong with a run, whatever was tried. */
function judge(run: WatchedRun, ran: string, changed: readonly string[]): readonly string[] {
  const { status, ended, peakMiB, stderr, answeredMs } = run
  const isLeft = answeredMs !== undefined && (status === undefined || status === ExitStatus.Interrupted)
  return [
    ...(ended === 'itself' ? [] : [`was ${ended}: ${run.seconds} s, ${peakMiB} MiB`]),
    ...(ended === 'itself' && !isLeft && (status === undefined || status > 5) ? [`ended with ${status}`] : []),
    ...((answeredMs ?? 0) > ANSWER_MS ? [`answered Ctrl-C after ${answeredMs} ms`] : []),
    ...(ran === '' ? [] : [`was made to run: ${ran.trim()}`]),
    ...changed.map((line) => `changed: ${line}`),
    ...(peakMiB < LIMIT_MIB ? [] : [`took ${peakMiB} MiB`]),
    ...(/a defect of volctl|^ {4}at .+:\d+:\d+\)?$/m.test(stderr) ? [`says: ${stderr.slice(0, 500)}`] : []),
  ]
}

const CHANGING: ReadonlySet<Trick> = new Set(['swapped all the time', 'endless', 'slow'])

async function tryOne(node: TrustNode, places: Places, trial: Trial, options: RunOptions): Promise<Verdict> {
  const { subject, trick, command } = trial
  laySound(node, places)
  makeVolume(node.root, 1)
  makeVolume(node.root, 2, 'v~d')
  const running =
    subject === 'kubelet --config of one that runs'
      ? await node.start({
          name: 'kubelet',
          flags: [...node.flags(), `--config=${places.things[subject].path}`],
        })
      : undefined
  const hand = play(places.things[subject], trick)
  const still = trick === 'swapped all the time' ? [] : hand.watched
  // What is swapped, or written to, may lie under the root directory.
  const root = command === 'apply' || CHANGING.has(trick) ? [] : [node.root]
  const look = (): readonly string[] => [places.outside, ...root, ...still].flatMap(inventory)
  const before = look()
  const run = await node.volctl(argumentsOf(trial, node, places), options)
  const after = look()
  const changed = [...new Set(before).symmetricDifference(new Set(after))]
  await hand.release()
  await running?.end()
  const wrong = judge(run, node.marker.read(), changed)
  writeFileSync(node.marker.path, '')
  return { ...trial, wrong, status: run.status }
}

function makeOutside(node: TrustNode): void {
  const outside = `${node.directory}/outside`
  mkdirSync(`${outside}/empty`, { recursive: true })
  writeFileSync(`${outside}/victim`, 'what is nobody’s business\n')
  node.marker.program(`${outside}/plugin`, `echo '{}'`)
  node.marker.program(`${outside}/plugins/v~d/d`, `echo '{"status":"Success"}'`)
  foreignDirectory(`${outside}/strangers`)
}

/** A plan and a snapshot of the node as it is. */
async function soundAnswers(node: TrustNode): Promise<Sound> {
  const given = ['--kubeconfig', node.api.kubeconfig('admin')]
  const [plan, snapshot] = [`${node.directory}/sound.plan`, `${node.directory}/sound.json`]
  await node.volctl(['plan', '--out', plan, ...given])
  await node.volctl(['snapshot', '-o', snapshot, ...given])
  return { plan: readFileSync(plan, 'utf8'), snapshot: readFileSync(snapshot, 'utf8') }
}

/** @param optionsOf of the run of each trial */
export async function tryAll(
  node: TrustNode,
  trials: readonly Trial[],
  optionsOf: (index: number) => RunOptions = () => ({}),
): Promise<readonly Verdict[]> {
  makeOutside(node)
  const places = placesOf(node, await soundAnswers(node))
  const verdicts: Verdict[] = []
  for (const [index, trial] of trials.entries()) verdicts.push(await tryOne(node, places, trial, optionsOf(index)))
  return verdicts
}

/** Nobody has had a hand in anything: how plans of each end, and an apply. */
export async function trySound(
  node: TrustNode,
  subjects: readonly Subject[],
): Promise<readonly (number | undefined)[]> {
  makeOutside(node)
  const places = placesOf(node, await soundAnswers(node))
  const found: (number | undefined)[] = []
  for (const subject of subjects) {
    laySound(node, places)
    makeVolume(node.root, 1)
    makeVolume(node.root, 2, 'v~d')
    const { path, sound, mode = 0o600 } = places.things[subject]
    if (FOUND.includes(subject)) write(path, sound, mode)
    const run = await node.volctl(argumentsOf({ subject, trick: 'a FIFO', command: 'plan' }, node, places))
    found.push(run.status)
  }
  const apply = await node.volctl(['apply', '--yes', '-o', 'json', '--kubeconfig', node.api.kubeconfig('admin')])
  return [...found, apply.status]
}
