/** What a plan says of a node where somebody uses what it would take away, and what the apply right after it does. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Plan } from '../../../src/core/plan/plan.ts'
import { runScenario } from '../../helpers/scenario.ts'
import type { Scene } from '../../helpers/scene/scene.ts'
import { runVolctl } from '../../helpers/scene/volctl.ts'
import { applyTo, blockedOf, onBroken, planOf } from '../safety/broken-scene.ts'

/** A shell that waits, until it is let go. */
async function hold(command: readonly string[], cwd: string): Promise<{ pid: number; end: () => Promise<void> }> {
  const [program = '', ...args] = command
  const child = spawn(program, args, { cwd, stdio: ['pipe', 'pipe', 'inherit'] })
  await once(child.stdout, 'data')
  return {
    pid: child.pid ?? 0,
    end: async () => {
      const ended = once(child, 'exit')
      child.stdin.end()
      await ended
    },
  }
}

const WAIT = 'echo ready; read -r line'

/** What is the same of two looks: all but when they were. */
function comparable({ createdAt: _, inputs, operations, waiting, problems, summary }: Plan): object {
  const { next: __, ...rest } = summary
  return { operations, waiting, problems, summary: rest, unjudged: inputs.unjudged }
}

async function offline(scene: Scene, directory: string): Promise<Plan> {
  const file = `${directory}/node.json.gz`
  const { status, stderr } = await runVolctl(scene, ['snapshot', '-o', file])
  if (status !== 0) throw new Error(stderr)
  return planOf(scene, '--snapshot', file)
}

async function looks(scene: Scene, directory: string): Promise<object> {
  const plan = await planOf(scene)
  const { stdout: screen } = await runVolctl(scene, ['plan'])
  return {
    blocked: blockedOf(plan),
    unjudged: plan.inputs.unjudged.map(({ rule }) => rule),
    cause: plan.summary.causes?.find(({ kind }) => kind === 'in-use'),
    screen,
    live: comparable(plan),
    offline: comparable(await offline(scene, directory)),
  }
}

await runScenario({
  /** Somebody stands in a volume of a pod that is gone. */
  held: (directory) =>
    onBroken(directory, async (scene) => {
      const volume = `${scene.rootDir}/pods/${scene.pods.db.uid}/volumes/kubernetes.io~csi/pv-common/mount`
      const holder = await hold(['sh', '-c', WAIT], volume)
      const held = await looks(scene, directory)
      const applied = await applyTo(scene)
      await holder.end()
      const free = await looks(scene, directory)
      return { pid: holder.pid, held, applied: applied.ends, free, after: (await applyTo(scene)).ends }
    }),

  /** Somebody has a copy of its own of all mounts, as a monitoring container has: the directory cannot be removed (R036). */
  copied: (directory) =>
    onBroken(directory, async (scene) => {
      const holder = await hold(['unshare', '-m', '--propagation', 'private', 'sh', '-c', WAIT], directory)
      const held = await looks(scene, directory)
      const applied = await applyTo(scene)
      await holder.end()
      return { pid: holder.pid, held, applied: applied.ends, after: (await applyTo(scene)).ends }
    }),
})
