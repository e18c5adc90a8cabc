import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { livingPod } from '../api-objects.ts'
import { type LayoutBuilder, podUid } from '../layout.ts'
import { inRounds, ratios } from '../measure.ts'
import { floor, isThere, type Programs } from '../programs.ts'
import type { Result, Row } from '../row.ts'
import { type Scene, type SceneContent, startScene } from '../scene.ts'

const PROCESSES = 700
const NAMESPACES = 140
const PODS = 100
const MOUNTS_OF_A_POD = 5
const ROUNDS = 7

/**
 * Every fifth process has its own mount namespace, as the containers of a pod have; the last one holds the mount. All of them end
 * with the bench, however that ends: then its end of the standard input is closed.
 */
const START = `i=0
while [ $i -lt ${PROCESSES - NAMESPACES - 1} ]; do sleep 3600 & i=$((i+1)); done
i=0
while [ $i -lt ${NAMESPACES} ]; do unshare -m sleep 3600 & i=$((i+1)); done
cd "$1" && sleep 3600 &
sleep 2
echo started
cat
kill -KILL 0`

/** Who holds one busy mount, among as many processes as a full node has. */
export async function holdersRows(programs: Programs): Promise<Result[]> {
  const row: Row = {
    name: `holders of one busy mount with ${PROCESSES} processes, by \`explain\``,
    peer: '`lsof`',
    scene: `${PROCESSES} processes in ${NAMESPACES + 1} mount namespaces, ${PODS * MOUNTS_OF_A_POD} tmpfs mounts; one process has its working directory in the mount`,
    demand: { atMost: 1 },
  }
  if (!isThere('lsof')) return [{ ...row, notRun: 'lsof is not installed' }]
  await using scene = await startScene(programs, 'holders', 'plan', busyNode)
  const mount = join(scene.rootDir, 'pods', podUid('gone', 0), 'volumes/kubernetes.io~empty-dir/memory-0')
  await using started = new AsyncDisposableStack()
  started.adopt(await startProcesses(scene, mount), endGroup)
  const lsof = scene.inside(['lsof', mount])
  const runs = await inRounds(
    { ...scene.volctl(['explain', mount]), lsof, floor: scene.inside(floor('holders')) },
    ROUNDS,
  )
  const measured = {
    executable: ratios(runs.executable, runs.lsof),
    bundle: ratios(runs.bundle, runs.lsof),
    floor: ratios(runs.floor, runs.lsof),
  }
  return [{ ...row, measured }]
}

function busyNode(layout: LayoutBuilder): SceneContent {
  const kinds = ['living', 'gone'] as const
  for (let index = 0; index < PODS; index++) {
    for (let mount = 0; mount < MOUNTS_OF_A_POD; mount++)
      layout.tmpfs(
        podUid(kinds[index === 0 ? 1 : 0] ?? 'living', index),
        `volumes/kubernetes.io~empty-dir/memory-${mount}`,
      )
  }
  const pods = Array.from({ length: PODS - 1 }, (_, index) => livingPod(index + 1, { volumes: [] }))
  return { pods, layout }
}

async function startProcesses(scene: Scene, mount: string): Promise<ChildProcess> {
  const [command = '', ...args] = scene.inside(['sh', '-c', START, 'sh', mount]).command
  const group = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'], detached: true })
  await once(group.stdout, 'data')
  return group
}

async function endGroup(group: ChildProcess): Promise<void> {
  const ended = once(group, 'exit')
  group.stdin?.end()
  await ended
}
