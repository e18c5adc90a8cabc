/** A file system that turns read-only under a pod that writes, and what the built volctl says of it. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Explanation } from '../../../src/core/explain/explanation.ts'
import type { Plan } from '../../../src/core/plan/plan.ts'
import { bottomLine } from '../../helpers/bottom-line.ts'
import { runScenario, sh } from '../../helpers/scenario.ts'
import { NAMESPACE, pvOf } from '../../helpers/scene/api-objects.ts'
import { makeScene, type Scene } from '../../helpers/scene/scene.ts'
import { runVolctl } from '../../helpers/scene/volctl.ts'
import { readMounts } from './real-node.ts'

export interface Seen {
  /** errno of a write of the pod; absent: it was written. */
  readonly write?: string
  /** Among the super block's options. */
  readonly options: readonly string[]
  readonly status: number | undefined
  readonly operations: number
  readonly problems: readonly string[]
  readonly verdict: string
  readonly bottomLine: string
}

export interface ReadOnlyReport {
  readonly before: Seen
  /** mount -o remount,ro of the node's own mount. */
  readonly remounted: Seen
  /** The kernel found an error, with errors=remount-ro. */
  readonly broken: Seen
  /** The same, and the pod's volumeMounts are read-only. */
  readonly reader: Seen
}

const errnoOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? String(error)

async function look(scene: Scene, target: string): Promise<Seen> {
  let write: string | undefined
  try {
    writeFileSync(join(target, 'written'), 'by the pod')
  } catch (error) {
    write = errnoOf(error)
  }
  const plan = await runVolctl(scene, ['plan', '--detailed-exitcode', '-o', 'json'])
  if (plan.stdout === '') throw new Error(plan.stderr)
  const { operations, problems } = JSON.parse(plan.stdout) as Plan
  const table = await runVolctl(scene, ['plan'])
  const asked = await runVolctl(scene, ['explain', `pod/${NAMESPACE}/${scene.pods.web.name}`, '-o', 'json'])
  const { state, code = '' } = (JSON.parse(asked.stdout) as Explanation).verdict
  return {
    ...(write === undefined ? {} : { write }),
    options: readMounts().at(target).at(-1)?.superOptions ?? [],
    status: plan.status,
    operations: operations.length,
    problems: problems.map(({ severity, code: each, about }) => `${severity} ${each} ${about.volume ?? ''}`),
    verdict: `${state} ${code}`.trim(),
    bottomLine: bottomLine(table.stdout),
  }
}

await runScenario({
  async turned(directory): Promise<ReadOnlyReport> {
    const scene = await makeScene({ directory: `${directory}/scene`, small: true })
    try {
      const [volume] = scene.pods.web.volumes
      if (volume === undefined) throw new Error('no volume')
      const target = join(scene.rootDir, 'pods', scene.pods.web.uid, 'volumes/kubernetes.io~csi', pvOf(volume), 'mount')
      const device = readMounts().at(target)[0]?.source ?? ''
      const [staged] = readMounts()
        .under(scene.rootDir)
        .filter(({ source, mountPoint }) => source === device && mountPoint.endsWith('/globalmount'))
      if (staged === undefined) throw new Error(`${device} is not staged`)
      const before = await look(scene, target)
      sh('mount', '-o', 'remount,ro', staged.mountPoint)
      const remounted = await look(scene, target)
      sh('mount', '-o', 'remount,rw,errors=remount-ro', staged.mountPoint)
      writeFileSync(`/sys/fs/ext4/${device.slice('/dev/'.length)}/trigger_fs_error`, 'a test of volctl')
      const broken = await look(scene, target)
      await scene.api.put(...(await readers(scene)))
      const reader = await look(scene, target)
      return { before, remounted, broken, reader }
    } finally {
      await scene.dispose()
    }
  },
})

/** The pods as they are, with every volumeMount read-only. */
async function readers(scene: Scene): Promise<object[]> {
  const { stdout } = await runVolctl(scene, ['snapshot', '-o', '-'])
  const { api } = JSON.parse(stdout) as { api: { pods: { spec: { containers: { volumeMounts: object[] }[] } }[] } }
  return api.pods.map((pod) => ({
    ...pod,
    spec: {
      ...pod.spec,
      containers: pod.spec.containers.map((each) => ({
        ...each,
        volumeMounts: each.volumeMounts.map((mount) => ({ ...mount, readOnly: true })),
      })),
    },
  }))
}
