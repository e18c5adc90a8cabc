/** A root directory that was moved: volumes are still set up below the place that it had, and the plan of the new one wants them gone. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, readFileSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { csiGlobalDir } from '../../../src/core/names/volume-names.ts'
import type { Operation } from '../../../src/core/plan/plan.ts'
import { sh } from '../../helpers/scenario.ts'
import { DRIVER, handleOf, pvOf } from '../../helpers/scene/api-objects.ts'
import { FORGOTTEN, IDLE } from '../../helpers/scene/pods.ts'
import type { Scene } from '../../helpers/scene/scene.ts'
import { runVolctl } from '../../helpers/scene/volctl.ts'
import { endsOf, eventsOf } from './outcomes.ts'
import { APPLY, planOf, withScene, writeReport } from './scenario.ts'

export interface MovedRootReport {
  /** Status of a healthy node's plan, whether it names the root directory without links, and its operations. */
  readonly byLink: { readonly alone: readonly string[]; readonly both: readonly string[] }
  /** With a new, empty root directory and pods that run on the old one's: operations, and how many are ready. */
  readonly emptied: { readonly blocked: readonly string[]; readonly ready: number; readonly message: string }
  /** Of the plan of each way to be set up elsewhere: how the operations on the volume are blocked. */
  readonly planned: Readonly<Record<string, readonly string[]>>
  /** In a namespace of somebody's own: how the operations on the volume ended, and what was said. */
  readonly elsewhere: { readonly planned: readonly string[]; readonly ends: readonly string[]; readonly said: string }
  /** The same apply once nothing is set up elsewhere any more. */
  readonly control: readonly string[]
  readonly attachments: {
    readonly before: readonly string[]
    readonly held: readonly string[]
    readonly after: readonly string[]
  }
}

const ofVolume = (volume: { readonly name: string }): readonly string[] => [
  pvOf(volume as never),
  handleOf(volume as never),
]
/** A person says that it has no device here: that alone holds no mount back that bears its name. */
const ONE = [...APPLY, '--volume', pvOf(IDLE), '--device', `${pvOf(IDLE)}=none`]

const aboutVolumes = [...ofVolume(FORGOTTEN), ...ofVolume(IDLE)]

function blockedOf(operations: readonly Operation[]): string[] {
  return operations
    .filter(({ volume }) => aboutVolumes.includes(volume?.name ?? ''))
    .map(({ kind, volume, blocked }) => `${kind} ${volume?.name}: ${blocked?.code ?? 'ready'}`)
    .toSorted()
}

/** Where things of the old root directory lie, and what is mounted there. */
function ways(old: string): Readonly<Record<string, string>> {
  const staged = (volume: typeof IDLE): string => `${csiGlobalDir(DRIVER, handleOf(volume))}/globalmount`
  return {
    staged: join(old, staged(IDLE)),
    'staged, of one that is staged here as well': join(old, staged(FORGOTTEN)),
    "published in a pod's directory": join(
      old,
      'pods/99999999-2222-4333-8444-000000000001/volumes/kubernetes.io~csi',
      pvOf(IDLE),
      'mount',
    ),
    'raw block, published': join(old, 'plugins/kubernetes.io/csi/volumeDevices/publish', pvOf(IDLE), 'x'),
  }
}

function mountThere(path: string): void {
  mkdirSync(path, { recursive: true })
  sh('mount', '-t', 'tmpfs', 'disk', path)
}

/** In a mount namespace that only this process is in, and that has nothing else of the scene's. */
async function inOwnNamespace(path: string, rootDir: string): Promise<ChildProcess> {
  mkdirSync(path, { recursive: true })
  const others = `awk -v r="$1/" 'index($5, r) == 1 { print $5 }' /proc/self/mountinfo | tac`
  const script = `for m in $(${others}); do umount "$m"; done; mount -t tmpfs disk "$0" && echo ready && exec sleep infinity`
  const child = spawn('unshare', ['-m', '--propagation', 'private', 'sh', '-c', script, path, rootDir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await new Promise((ready) => createInterface({ input: child.stdout as NodeJS.ReadableStream }).once('line', ready))
  return child
}

async function attachmentsOf(scene: Scene): Promise<string[]> {
  const { plan } = await planOf(scene, '--orphans', '--volume', pvOf(IDLE))
  return plan.operations.filter(({ kind }) => kind === 'DetachVolume').map(({ volume }) => volume?.name ?? '')
}

/** The root directory as a kubelet is told it: by a link, with another one in it. */
async function byLink(scene: Scene): Promise<MovedRootReport['byLink']> {
  const [link, pods] = [join(scene.directory, 'link'), join(scene.rootDir, 'pods')]
  symlinkSync(scene.rootDir, link)
  const host = readFileSync(scene.hostFile, 'utf8')
  writeFileSync(scene.hostFile, JSON.stringify({ ...JSON.parse(host), rootDir: link }))
  const plan = async (): Promise<string[]> => {
    const run = await planOf(scene, '--orphans')
    return [`${run.status} ${run.plan.rootDir === scene.rootDir}`, ...blockedOf(run.plan.operations)]
  }
  const alone = await plan()
  renameSync(pods, join(scene.directory, 'pods'))
  symlinkSync('../link/../pods', pods)
  const both = await plan()
  unlinkSync(pods)
  renameSync(join(scene.directory, 'pods'), pods)
  writeFileSync(scene.hostFile, host)
  return { alone, both }
}

/** The kubelet is told another root directory, and all is still mounted below the one that it had. */
async function emptyRoot(scene: Scene): Promise<MovedRootReport['emptied']> {
  const rootDir = join(scene.directory, 'kubelet.new')
  mkdirSync(join(rootDir, 'pods'), { recursive: true })
  const host = readFileSync(scene.hostFile, 'utf8')
  writeFileSync(scene.hostFile, JSON.stringify({ ...JSON.parse(host), rootDir }))
  const { operations } = (await planOf(scene)).plan
  writeFileSync(scene.hostFile, host)
  const blocked = operations.flatMap(({ kind, blocked: why }) => (why === undefined ? [] : [`${kind} ${why.code}`]))
  return {
    blocked: [...new Set(blocked)],
    ready: operations.filter((each) => each.blocked === undefined).length,
    message: operations[0]?.blocked?.message ?? '',
  }
}

async function movedRoot(scene: Scene): Promise<MovedRootReport> {
  const linked = await byLink(scene)
  const emptied = await emptyRoot(scene)
  await scene.breakIt()
  const old = join(scene.directory, 'kubelet.old')
  const planned: Record<string, readonly string[]> = {
    nothing: blockedOf((await planOf(scene, '--orphans')).plan.operations),
  }
  for (const [name, path] of Object.entries(ways(old))) {
    mountThere(path)
    planned[name] = blockedOf((await planOf(scene, '--orphans')).plan.operations)
    sh('umount', path)
  }
  const before = await attachmentsOf(scene)
  const holder = await inOwnNamespace(ways(old).staged as string, scene.rootDir)
  const unseen = blockedOf((await planOf(scene, '--orphans', '--volume', pvOf(IDLE))).plan.operations)
  const apply = await runVolctl(scene, ONE)
  const held = await attachmentsOf(scene)
  holder.kill('SIGKILL')
  await new Promise((ended) => holder.once('exit', ended))
  const again = await runVolctl(scene, ONE)
  return {
    byLink: linked,
    emptied,
    planned,
    elsewhere: {
      planned: unseen,
      ends: endsOf(apply).filter((end) => aboutVolumes.some((name) => end.includes(` ${name}:`))),
      said: eventsOf(apply)
        .filter(({ type }) => type === 'blocked')
        .map(({ message }) => message)
        .join('\n'),
    },
    control: endsOf(again),
    attachments: { before, held, after: await attachmentsOf(scene) },
  }
}

writeReport(await withScene(movedRoot, { small: true }))
