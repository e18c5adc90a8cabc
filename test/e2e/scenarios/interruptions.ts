/** Signals, a second apply, a kubelet that comes, a terminal: each on a broken node of its own. */
import { readFileSync, writeFileSync } from 'node:fs'
import type { ApplyEvent } from '../../../src/core/plan/events.ts'
import { NODE } from '../../helpers/scene/api-objects.ts'
import type { Scene } from '../../helpers/scene/scene.ts'
import { type Run, runVolctl } from '../../helpers/scene/volctl.ts'
import { onTerminal } from './on-terminal.ts'
import { APPLY, planOf, withScene, writeReport } from './scenario.ts'

export interface Interrupted extends Run {
  /** Operations of the plan after it, blocked ones included. */
  readonly left: number
  readonly milliseconds: number
}

export interface InterruptionsReport {
  readonly once: Interrupted
  readonly twice: Interrupted
  readonly hangUp: Interrupted
  readonly second: Run
  readonly kubelet: Interrupted
  /** Nothing is seen of a kubelet here, and the node's lease is renewed. */
  readonly lease: Interrupted
  readonly unanswered: Interrupted
  readonly answeredNo: Interrupted
  readonly answeredYes: Interrupted
}

/** Runs apply on a broken node; `at` is called when the driver begins with its first unpublish. */
async function interrupted(fault: string, at: (scene: Scene, pid: number) => void): Promise<Interrupted> {
  return await onBroken(async (scene) => {
    scene.driver.setFaults(fault)
    return await runVolctl(scene, APPLY, (line, child) => {
      const { type, step } = JSON.parse(line) as ApplyEvent
      if (type === 'step' && step?.op === 'NodeUnpublishVolume') at(scene, child.pid ?? 0)
    })
  })
}

async function onBroken(run: (scene: Scene) => Promise<Run>): Promise<Interrupted> {
  return await withScene(
    async (scene) => {
      await scene.breakIt()
      const started = performance.now()
      const result = await run(scene)
      const milliseconds = performance.now() - started
      scene.driver.setFaults()
      hostSays(scene, { running: false, mayReturn: false })
      await scene.api.remove('Lease', NODE, 'kube-node-lease').catch(() => undefined)
      return { ...result, milliseconds, left: (await planOf(scene, '--orphans')).plan.operations.length }
    },
    { small: true },
  )
}

function hostSays(scene: Scene, kubelet: object): void {
  const { VOLCTL_TEST_HOST: file = '' } = scene.env
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), kubelet }))
}

function renewedLease(): object {
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { namespace: 'kube-node-lease', name: NODE },
    spec: { holderIdentity: NODE, leaseDurationSeconds: 40, renewTime: new Date().toISOString() },
  }
}

const CTRL_C = '\x03'
const late = 'late NodeUnpublishVolume=1500:once'
const report: InterruptionsReport = {
  once: await interrupted(late, (_, pid) => process.kill(pid, 'SIGINT')),
  twice: await interrupted('hang NodeUnpublishVolume', (_, pid) => {
    process.kill(pid, 'SIGTERM')
    // One that is not read before the next is the same one.
    const again = setInterval(() => isSent(pid) || clearInterval(again), 300)
  }),
  hangUp: await interrupted(late, (_, pid) => process.kill(pid, 'SIGHUP')),
  kubelet: await interrupted(late, (scene) => hostSays(scene, { running: true, mayReturn: true })),
  lease: await interrupted(late, (scene) => void scene.api.put(renewedLease())),
  second: await secondApply(),
  unanswered: await onBroken((scene) => onTerminal(scene, () => CTRL_C)),
  answeredNo: await onBroken((scene) => onTerminal(scene, () => 'y\n')),
  answeredYes: await onBroken((scene) => {
    // Long enough for the progress to be drawn.
    scene.driver.setFaults('late NodeUnstageVolume=600')
    return onTerminal(scene, () => 'yes\n')
  }),
}
writeReport(report)

/** False: it has left. */
function isSent(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGTERM')
  } catch {
    return false
  }
}

/** While one apply waits for the driver, another begins. The first one stands still until then: on a busy machine it would end before. */
async function secondApply(): Promise<Run> {
  let second: Promise<Run> | undefined
  await interrupted(late, (scene, pid) => {
    if (second !== undefined) return
    process.kill(pid, 'SIGSTOP')
    second = runVolctl(scene, ['apply', '--yes']).finally(() => process.kill(pid, 'SIGCONT'))
  })
  if (second === undefined) throw new Error('the first apply called no driver')
  return await second
}
