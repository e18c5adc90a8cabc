/**
 * volctl in a container that has the node's root file system mounted (--host-root): the kubelet's directory is hidden
 * from the container itself, and the files that it names are its own.
 */
import { execFile, execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { load } from 'js-yaml'
import { NAMESPACE } from '../../helpers/scene/api-objects.ts'
import type { Scene } from '../../helpers/scene/scene.ts'
import { type Run, runVolctl } from '../../helpers/scene/volctl.ts'
import { VOLCTL } from '../../helpers/volctl-program.ts'
import { planOf, withScene, writeReport } from './scenario.ts'

interface Answers {
  readonly plan: Run
  readonly explain: Run
}

export interface HostRootReport {
  /** What volctl on the node itself says. */
  readonly onNode: Answers
  /** What it says in a container that sees the node's processes. */
  readonly inContainer: Answers
  /** There without the flag. */
  readonly alone: Run
  readonly detailed: number | undefined
  /** In a container with processes of its own. */
  readonly ownPids: Run
  readonly incomplete: Run
  /** Where what is unmounted on the node stays mounted in the container, as in one of `kubectl debug`: a plan, and an apply. */
  readonly debug: Run
  readonly held: Run
  /** Operations of a plan after that. */
  readonly thereafter: number
  /** In an image only: the command of deploy/node-pod.yaml. */
  readonly pod?: Run
  /** That of deploy/job.yaml, with the container's service account, where the node has no credential. */
  readonly job?: Run
  /** Planned into a file of the container's, and applied from there. */
  readonly repair: Run
  readonly left: number
}

/**
 * Its root is the node's but for what is mounted over it; its own files are in a tmpfs, where it stands. What is unmounted
 * on the node goes there as well (mountPropagation HostToContainer): else it would hold all of it.
 */
const CONTAINER = `
own=$1 hidden=$2; shift 2
mkdir -p "$own/host" && mount --rbind / "$own/host" && mount -t tmpfs hidden "$hidden" &&
mkdir -p "$own/files" && mount -t tmpfs files "$own/files" && cd "$own/files" && exec "$@"`

/** How a container differs from that of deploy/node-pod.yaml. */
interface Container {
  readonly ownPids?: boolean
  /** Default: slave, they follow those of the node. */
  readonly mounts?: 'slave' | 'private'
  readonly env?: Readonly<Record<string, string>>
}

interface Start {
  readonly command: readonly string[]
  /** What the shell has for $0 and $1. */
  readonly words: readonly [string, string]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

const OWN_PIDS = ['unshare', '-p', '-f', '--mount-proc']

/** In which volctl is the built one, or an executable. */
function besideNode(scene: Scene, own: string, { ownPids, mounts = 'slave' }: Container): Start {
  const pids = ownPids === true ? OWN_PIDS : []
  return {
    command: ['unshare', '-m', '--propagation', mounts, 'sh', '-c', CONTAINER, 'sh', own, scene.rootDir, ...pids],
    words: [VOLCTL, join(own, 'host')],
    cwd: own,
    env: {},
  }
}

/** The root directory of an unpacked image; the shell, which the image has not, is outside. */
const { VOLCTL_IMAGE_ROOT: imageRoot } = process.env
const ENTER = new URL('../../helpers/image/container', import.meta.url).pathname

function inImage(scene: Scene, own: string, { ownPids, mounts }: Container): Start {
  return {
    command: [],
    words: [ENTER, '/host'],
    cwd: join(own, 'files'),
    env: {
      TMPDIR: scene.directory,
      ...(mounts !== undefined && { VOLCTL_IMAGE_MOUNTS: mounts }),
      ...(ownPids === true && { VOLCTL_IMAGE_PIDS: 'own' }),
    },
  }
}

/** @param script of a shell; $0 is volctl, $1 the node's root file system */
function inContainer(scene: Scene, script: string, container: Container = {}): Promise<Run> {
  const own = join(scene.directory, 'container')
  mkdirSync(join(own, 'files'), { recursive: true })
  const start = (imageRoot === undefined ? besideNode : inImage)(scene, own, container)
  const [program = '', ...args] = [...start.command, 'sh', '-c', script, ...start.words]
  const env = { ...process.env, ...scene.env, ...start.env, ...container.env }
  return new Promise((resolve) => {
    const child = execFile(
      program,
      args,
      { cwd: start.cwd, env, maxBuffer: Number.POSITIVE_INFINITY },
      (_, stdout, stderr) => resolve({ status: child.exitCode ?? undefined, stdout, stderr }),
    )
  })
}

/** Of a user who may read what a plan needs, as the kubelet puts a service account into a container. */
async function runJob(scene: Scene, image: string): Promise<Run> {
  const config = JSON.parse(readFileSync(scene.api.kubeconfig('plan'), 'utf8')) as {
    readonly users: readonly [{ readonly user: { readonly token: string } }]
  }
  const directory = join(image, 'var/run/secrets/kubernetes.io/serviceaccount')
  mkdirSync(join(directory, '..2026'), { recursive: true })
  writeFileSync(join(directory, '..2026', 'token'), config.users[0].user.token, { mode: 0o600 })
  copyFileSync(join(scene.api.directory, 'ca.crt'), join(directory, '..2026', 'ca.crt'))
  symlinkSync('..2026', join(directory, '..data'))
  for (const name of ['token', 'ca.crt']) symlinkSync(`..data/${name}`, join(directory, name))
  chmodSync(directory, 0o1777)
  const { kubeconfig: _, ...host } = JSON.parse(readFileSync(scene.hostFile, 'utf8')) as { kubeconfig: string }
  const poor = join(scene.directory, 'host-without-credential.json')
  writeFileSync(poor, JSON.stringify(host))
  const { hostname, port } = new URL(scene.api.url)
  const env = { VOLCTL_TEST_HOST: poor, KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port }
  return await runManifest(scene, 'job.yaml', env)
}

/** What the manifest's container runs. */
function runManifest(scene: Scene, file: string, env: Readonly<Record<string, string>> = {}): Promise<Run> {
  const text = readFileSync(join(import.meta.dirname, '../../../deploy', file), 'utf8')
  const { spec } = load(text) as { readonly spec: PodSpec & { readonly template?: { readonly spec: PodSpec } } }
  const [, ...args] = (spec.template?.spec ?? spec).containers[0].command
  return inContainer(scene, `"$0" ${args.join(' ')}`, { env })
}

interface PodSpec {
  readonly containers: readonly [{ readonly command: readonly string[] }]
}

async function hostRoot(scene: Scene): Promise<HostRootReport> {
  await scene.breakIt()
  const what = `${NAMESPACE}/${scene.pods.web.name}`
  const save = '"$0" plan --orphans --out ./saved.plan --host-root "$1" >/dev/null && test -s saved.plan'
  const apply = '"$0" apply ./saved.plan --yes -o ndjson --host-root "$1"'
  const left = async (): Promise<number> => (await planOf(scene, '--orphans')).plan.operations.length
  return {
    onNode: {
      plan: await runVolctl(scene, ['plan', '--orphans', '-o', 'json']),
      explain: await runVolctl(scene, ['explain', what, '-o', 'json']),
    },
    inContainer: {
      plan: await inContainer(scene, '"$0" plan --orphans -o json --host-root "$1"'),
      explain: await inContainer(scene, `"$0" explain ${what} -o json --host-root "$1"`),
    },
    alone: await inContainer(scene, '"$0" plan -o json'),
    detailed: (await inContainer(scene, '"$0" plan --detailed-exitcode --host-root "$1" >/dev/null')).status,
    ownPids: await inContainer(scene, '"$0" plan --host-root "$1"', { ownPids: true }),
    incomplete: await inContainer(scene, '"$0" plan --host-root ./files'),
    debug: await inContainer(scene, '"$0" plan --orphans -o json --host-root "$1"', { mounts: 'private' }),
    held: await inContainer(scene, '"$0" apply --orphans --yes --host-root "$1"', { mounts: 'private' }),
    thereafter: await left(),
    ...(imageRoot !== undefined && {
      pod: await runManifest(scene, 'node-pod.yaml'),
      job: await runJob(scene, imageRoot),
    }),
    repair: await inContainer(scene, `${save} && ${apply}`),
    left: await left(),
  }
}

// As systemd makes it.
execFileSync('mount', ['--make-rshared', '/'])
writeReport(await withScene(hostRoot, { small: true }))
