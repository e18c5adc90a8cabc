/** Lines of a kubelet about a node with real mounts: through a pipe, and as an argument. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import type { LineExplanation } from '../../../src/core/log-lines/line-explanation.ts'
import { csiUniqueName } from '../../../src/core/names/volume-names.ts'
import { DRIVER, pvOf } from '../../helpers/scene/api-objects.ts'
import { IDLE } from '../../helpers/scene/pods.ts'
import type { Scene } from '../../helpers/scene/scene.ts'
import { runVolctl } from '../../helpers/scene/volctl.ts'
import { VOLCTL } from '../../helpers/volctl-program.ts'
import { withScene, writeReport } from './scenario.ts'

export interface LinesReport {
  readonly pods: Readonly<Record<'db' | 'batch', string>>
  /** In the order of LINES. */
  readonly answers: readonly LineExplanation[]
  readonly busy: LineExplanation
  /** Of the process that holds the volume. */
  readonly pid: number
  readonly screen: string
}

const klog = (message: string): string =>
  `Nov 22 20:01:02 worker-1 kubelet[812]: E1122 20:01:02.123456     812 file.go:1] ${message}`
const many = (error: string): string =>
  klog(`"There were many similar errors. Turn up verbosity to see them." err=${JSON.stringify(error)} numErrs=1`)

const targetOf = ({ pods, rootDir }: Scene): string =>
  `${rootDir}/pods/${pods.db.uid}/volumes/kubernetes.io~csi/pv-common/mount`

function linesOf({ pods, rootDir }: Scene): string[] {
  const { db, batch } = pods
  const idle = csiUniqueName(DRIVER, 'vol-idle')
  return [
    many(`orphaned pod "${db.uid}" found, but volume paths are still present on disk`),
    many(
      `orphaned pod "${batch.uid}" found, but failed to rmdir() subpath at path ${rootDir}/pods/${batch.uid}/volume-subpaths/pv-batch/main/0: device or resource busy`,
    ),
    `E1122 20:01:02.123456       1 a.go:1] DetachVolume.Detach failed for volume "${pvOf(IDLE)}" (UniqueName: "${idle}") on node "worker-1" : rpc error: code = Internal desc = x`,
    many(
      'orphaned pod "99999999-2222-4333-8444-000000000001" found, but error occurred when trying to remove the volumes dir: not a directory',
    ),
  ]
}

async function piped(scene: Scene, line: string): Promise<LineExplanation> {
  const child = spawn(VOLCTL, ['explain', '-', '-o', 'json'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, ...scene.env },
  })
  child.stdin.end(`${line}\n`)
  const [stdout] = await Promise.all([text(child.stdout), once(child, 'close')])
  return JSON.parse(stdout) as LineExplanation
}

async function run(scene: Scene): Promise<LinesReport> {
  await scene.breakIt()
  const { db, batch } = scene.pods
  const answers = await Promise.all(linesOf(scene).map((line) => piped(scene, line)))
  const target = targetOf(scene)
  const holder = spawn('sh', ['-c', 'echo ready; read -r line'], { cwd: target, stdio: ['pipe', 'pipe', 'inherit'] })
  await once(holder.stdout, 'data')
  const line = klog(
    `UnmountVolume.TearDown failed for volume "data" (UniqueName: "${csiUniqueName(DRIVER, 'vol-common')}") pod "${db.uid}" (UID: "${db.uid}") : rpc error: code = Internal desc = unmount failed: exit status 32\\nOutput: umount: ${target}: target is busy.`,
  )
  const answer = await runVolctl(scene, ['explain', line, '-o', 'json'])
  const table = await runVolctl(scene, ['explain', line])
  const ended = once(holder, 'exit')
  holder.stdin.end()
  await ended
  return {
    pods: { db: db.uid, batch: batch.uid },
    answers,
    busy: JSON.parse(answer.stdout) as LineExplanation,
    pid: holder.pid ?? 0,
    screen: table.stdout,
  }
}

writeReport(await withScene(run, { small: true }))
