/** What somebody has mounted over, or below, emptyDirs of pods that were deleted while the kubelet was down. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startFuse } from '../../helpers/fuse/start.ts'
import { makeEmptyDir, makePodDirectory } from '../../helpers/scene/pod-directory.ts'
import type { Scene } from '../../helpers/scene/scene.ts'
import { type Run, runVolctl } from '../../helpers/scene/volctl.ts'
import { endsOf } from './outcomes.ts'
import { APPLY, planOf, withScene, writeReport } from './scenario.ts'

const WITH_FOREIGN = '11111111-2222-4333-8444-0000000000f2'
const UNDER_FUSE = '11111111-2222-4333-8444-0000000000f1'
const FUSECTL = '/sys/fs/fuse/connections'
const FUSECTL_MAGIC = 0x65735543

interface Planned {
  readonly status: number | undefined
  /** Of the pod: kind, and what blocks it. */
  readonly operations: readonly string[]
  readonly hint: string | undefined
}

export interface DeadReport {
  /** Without and with --orphans, and with --lazy. */
  readonly plain: Planned
  readonly orphans: Planned
  readonly lazy: Planned
  readonly unasked: Applied
  readonly asked: Applied
  readonly after: Planned
}

export interface ForeignReport {
  readonly plan: Planned
  /** What a person reads, in one line each. */
  readonly planned: string
  readonly explained: string
  readonly applied: Applied & { readonly text: string }
  /** The file in the mount, afterwards. */
  readonly content: string
}

export interface OverEmptyDirsReport {
  readonly dead: DeadReport
  readonly foreign: ForeignReport
}

interface Applied {
  readonly ends: readonly string[]
  /** The pod's directory is still there. */
  readonly stays: boolean
}

async function planned(scene: Scene, uid: string, ...flags: string[]): Promise<Planned> {
  const { status, plan } = await planOf(scene, ...flags)
  const mine = plan.operations.filter(({ pod }) => pod?.uid === uid)
  return {
    status,
    operations: mine.map(({ kind, blocked }) => (blocked === undefined ? kind : `${kind} ${blocked.code}`)),
    hint: mine[0]?.blocked?.hint?.replaceAll(scene.rootDir, 'ROOT'),
  }
}

const oneLine = ({ stdout, stderr }: Run): string => `${stdout}${stderr}`.replaceAll(/\s+/g, ' ')

async function useDead(scene: Scene): Promise<DeadReport> {
  // Where systemd mounts it; it alone shows that a connection is gone.
  if (statfsSync(FUSECTL).type !== FUSECTL_MAGIC) execFileSync('mount', ['-t', 'fusectl', 'fusectl', FUSECTL])
  const pod = makePodDirectory(scene.rootDir, UNDER_FUSE)
  const dir = makeEmptyDir(pod, 'cache', 'disk')
  writeFileSync(join(dir, 'below.txt'), 'hidden by the mount\n')
  const fuse = await startFuse(dir)
  await fuse.kill()
  const applied = async (...flags: string[]): Promise<Applied> => {
    const ends = endsOf(await runVolctl(scene, [...APPLY, ...flags]))
    return { ends, stays: existsSync(pod) }
  }
  return {
    plain: await planned(scene, UNDER_FUSE),
    orphans: await planned(scene, UNDER_FUSE, '--orphans'),
    lazy: await planned(scene, UNDER_FUSE, '--orphans', '--lazy', dir),
    unasked: await applied(),
    asked: await applied('--lazy', dir),
    after: await planned(scene, UNDER_FUSE, '--orphans'),
  }
}

async function useForeign(scene: Scene): Promise<ForeignReport> {
  const pod = makePodDirectory(scene.rootDir, WITH_FOREIGN)
  const theirs = join(makeEmptyDir(pod, 'work', 'disk'), 'theirs')
  mkdirSync(theirs)
  execFileSync('mount', ['-t', 'tmpfs', 'somebody', theirs])
  const file = join(theirs, 'precious.txt')
  writeFileSync(file, 'of somebody\n')
  const run = async (...args: string[]): Promise<string> => oneLine(await runVolctl(scene, args))
  const plan = await planned(scene, WITH_FOREIGN, '--orphans')
  const said = { planned: await run('plan', '--orphans'), explained: await run('explain', WITH_FOREIGN) }
  const ends = endsOf(await runVolctl(scene, APPLY))
  const text = await run('apply', '--orphans', '--yes')
  return { plan, ...said, applied: { ends, stays: existsSync(pod), text }, content: readFileSync(file, 'utf8') }
}

writeReport({
  foreign: await withScene(useForeign, { small: true }),
  dead: await withScene(useDead, { small: true }),
} satisfies OverEmptyDirsReport)
