/**
 * What the end-to-end tests look at, run as a program in a mount namespace of its own: `node scenario.ts NAME`.
 * Prints one JSON document; the tests judge it.
 */
import { readdirSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { ApplyEvent } from '../../src/core/apply/events.ts'
import type { Plan } from '../../src/core/plan/plan.ts'
import { makeScene, PODS, type Scene } from '../helpers/scene/scene.ts'
import { type Run, runVolctl } from '../helpers/scene/volctl.ts'

/** All that a repair may change, and all that it must not. */
export interface Fingerprint {
  readonly files: readonly string[]
  readonly mounts: readonly string[]
  readonly attachments: readonly string[]
  readonly contents: Readonly<Record<string, string>>
}

export interface RepairReport {
  readonly healthy: { readonly status: number | undefined; readonly plan: Plan }
  readonly broken: Plan
  readonly apply: Run
  readonly after: { readonly status: number | undefined; readonly plan: Plan }
  readonly contentsBefore: Readonly<Record<string, string>>
  readonly end: Fingerprint
  readonly violations: readonly unknown[]
  readonly driverCalls: readonly string[]
  readonly livingPod: string
  /** The plan from a snapshot of the broken node. */
  readonly offline: Plan
  readonly snapshotMode: string
}

export interface KillReport {
  readonly boundaries: number
  readonly runs: readonly {
    readonly event: string
    readonly killed: boolean
    readonly second: number | undefined
    readonly after: number | undefined
    readonly end: Fingerprint
    readonly contentsBefore: Readonly<Record<string, string>>
  }[]
}

const APPLY = ['apply', '--orphans', '--yes', '--parallel', '1', '-o', 'ndjson']

async function repair(scene: Scene): Promise<RepairReport> {
  const healthy = await plan(scene)
  await scene.breakIt()
  const contentsBefore = scene.contentHashes()
  const broken = (await plan(scene, '--orphans')).plan
  const file = join(scene.directory, 'node.json.gz')
  await runVolctl(scene, ['snapshot', '-o', file])
  const offline = JSON.parse(
    (await runVolctl({ env: {} }, ['plan', '--orphans', '--snapshot', file, '-o', 'json'])).stdout,
  )
  const apply = await runVolctl(scene, APPLY)
  const after = await plan(scene, '--orphans')
  return {
    healthy,
    broken,
    apply,
    after,
    contentsBefore,
    end: await fingerprint(scene),
    violations: scene.driver.violations(),
    driverCalls: scene.driver.succeeded(),
    livingPod: PODS.web.uid,
    offline,
    snapshotMode: (await import('node:fs')).statSync(file).mode.toString(8).slice(-4),
  }
}

async function plan(scene: Scene, ...flags: string[]): Promise<{ status: number | undefined; plan: Plan }> {
  const { status, stdout, stderr } = await runVolctl(scene, ['plan', '--detailed-exitcode', '-o', 'json', ...flags])
  if (stdout === '') throw new Error(`volctl plan: ${stderr}`)
  return { status, plan: JSON.parse(stdout) }
}

/** One scene for every boundary: `apply` is killed there, run again to its end, and looked at. */
async function killEverywhere(only?: number): Promise<KillReport> {
  const runs: KillReport['runs'][number][] = []
  let boundaries = only ?? 1
  for (let boundary = only ?? 1; boundary <= boundaries; boundary++) {
    runs.push(
      await withScene(async (scene) => {
        await scene.breakIt()
        const contentsBefore = scene.contentHashes()
        let seen = 0
        let event = 'none'
        const first = await runVolctl(scene, APPLY, (line, child) => {
          const { type, kind } = JSON.parse(line) as ApplyEvent
          if (type !== 'start' && type !== 'done') return
          if (++seen !== boundary) return
          event = `${type} ${kind}`
          child.kill('SIGKILL')
        })
        const second = await runVolctl(scene, APPLY)
        const after = await plan(scene, '--orphans')
        if (only === undefined && first.status !== undefined) boundaries = boundary
        else if (only === undefined) boundaries = boundary + 1
        return {
          event,
          killed: first.status === undefined,
          second: second.status,
          after: after.status,
          end: await fingerprint(scene),
          contentsBefore,
        }
      }),
    )
  }
  return { boundaries, runs }
}

async function fingerprint(scene: Scene): Promise<Fingerprint> {
  const { rootDir } = scene
  const mounts = scene.mountPoints().map((path) => relative(rootDir, path))
  const requests = await scene.api.requests()
  const gone = requests.filter(({ method }) => method === 'DELETE').map(({ path }) => path.split('/').at(-1) ?? '')
  return {
    files: filesOf(rootDir, mounts),
    mounts,
    attachments: [...new Set(gone)].sort(),
    contents: scene.contentHashes(),
  }
}

function filesOf(rootDir: string, mounts: readonly string[]): string[] {
  const walk = (path: string): string[] =>
    readdirSync(join(rootDir, path), { withFileTypes: true }).flatMap((entry) => {
      const below = join(path, entry.name)
      return entry.isDirectory() && !mounts.includes(below) ? [`${below}/`, ...walk(below)] : [below]
    })
  return walk('.').toSorted()
}

async function withScene<T>(use: (scene: Scene) => Promise<T>): Promise<T> {
  const scene = await makeScene()
  try {
    return await use(scene)
  } finally {
    await scene.dispose()
  }
}

const [name, file = '', boundary] = process.argv.slice(2)
const report =
  name === 'repair'
    ? await withScene(repair)
    : await killEverywhere(boundary === undefined ? undefined : Number(boundary))
writeFileSync(file, JSON.stringify(report))
