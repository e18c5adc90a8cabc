/**
 * volctl in a container that has the node's root file system mounted (--host-root): the kubelet's directory is hidden
 * from the container itself, and the files that it names are its own.
 */
import { execFile, execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
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

/** @param command of a shell; $0 is volctl, $1 the node's root file system */
function inContainer(scene: Scene, command: string, pids: readonly string[] = []): Promise<Run> {
  const own = join(scene.directory, 'container')
  mkdirSync(own, { recursive: true })
  const shell = ['sh', '-c', command, VOLCTL, join(own, 'host')]
  const args = ['-m', '--propagation', 'slave', 'sh', '-c', CONTAINER, 'sh', own, scene.rootDir, ...pids, ...shell]
  return new Promise((resolve) => {
    const child = execFile(
      'unshare',
      args,
      { env: { ...process.env, ...scene.env }, maxBuffer: Number.POSITIVE_INFINITY },
      (_, stdout, stderr) => resolve({ status: child.exitCode ?? undefined, stdout, stderr }),
    )
  })
}

async function hostRoot(scene: Scene): Promise<HostRootReport> {
  await scene.breakIt()
  const what = `${NAMESPACE}/${scene.pods.web.name}`
  const save = '"$0" plan --orphans --out ./saved.plan --host-root "$1" >/dev/null && test -s saved.plan'
  const apply = '"$0" apply ./saved.plan --yes -o ndjson --host-root "$1"'
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
    ownPids: await inContainer(scene, '"$0" plan --host-root "$1"', ['unshare', '-p', '-f', '--mount-proc']),
    incomplete: await inContainer(scene, '"$0" plan --host-root ./files'),
    repair: await inContainer(scene, `${save} && ${apply}`),
    left: (await planOf(scene, '--orphans')).plan.operations.length,
  }
}

// As systemd makes it.
execFileSync('mount', ['--make-rshared', '/'])
writeReport(await withScene(hostRoot, { small: true }))
