/** An apply that is killed after its n-th change, and one that comes after it. */

import { spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import type { Host } from '../../../src/core/host/host.ts'
import { linuxHost } from '../../../src/core/host/linux-host.ts'
import type { Operation, Step } from '../../../src/core/plan/plan.ts'
import { statesOf } from '../../helpers/apply-plan.ts'
import { thisProgram } from '../../helpers/programs.ts'
import { runScenario, sh } from '../../helpers/scenario.ts'
import { UNASKED_DRIVER } from '../../helpers/unasked.ts'
import { apply, expectNow, makeDir, operation, podUid, readMounts, tmpfs, volumeDir } from './real-node.ts'

const DRIVER = {
  name: 'pv',
  plugin: 'kubernetes.io/csi',
  driver: 'disk.test',
  handle: 'vol-1',
  mode: 'Filesystem',
} as const

function paths(root: string) {
  const csi = volumeDir(root, 1, 'pv', 'kubernetes.io~csi')
  return {
    csi,
    target: `${csi}/mount`,
    secret: volumeDir(root, 1, 'token'),
    emptyDir: volumeDir(root, 1, 'scratch', 'kubernetes.io~empty-dir'),
    leaf: `${root}/pods/${podUid(1)}/volume-subpaths/pv/app/0`,
    data: `${root}-data`,
  }
}

function setUp(root: string): void {
  const { csi, target, secret, emptyDir, leaf, data } = paths(root)
  writeFileSync(`${makeDir(data)}/file`, 'precious')
  sh('mount', '--bind', data, makeDir(target))
  writeFileSync(`${csi}/vol_data.json`, '{"driverName":"disk.test","volumeHandle":"vol-1"}')
  sh('mount', '--bind', data, makeDir(leaf))
  tmpfs(secret)
  for (const n of [1, 2, 3]) writeFileSync(`${makeDir(`${emptyDir}/d${n}`)}/f`, 'scratch')
}

/** What a planner makes of what is there: mounts from the table, files from the disk. */
function planned(root: string): Operation[] {
  const { csi, target, secret, emptyDir, leaf } = paths(root)
  const table = readMounts()
  const umounts = (path: string): Step[] => table.at(path).map(() => ({ op: 'umount', target: path }))
  const parents = [leaf, `${leaf}/..`, `${leaf}/../..`].map((path) => sh('realpath', '-m', path))
  const operations = [
    operation(
      'csi',
      1,
      [
        ...umounts(leaf),
        ...parents.map((path): Step => ({ op: 'rmdir', target: path })),
        { op: 'NodeUnpublishVolume', target },
        { op: 'unlink', target: `${csi}/vol_data.json` },
        { op: 'rmdir', target: csi },
      ],
      { volume: DRIVER, expects: expectNow(leaf, target) },
    ),
    operation('secret', 1, [...umounts(secret), { op: 'rmdir', target: secret }], { expects: expectNow(secret) }),
    operation('scratch', 1, [
      { op: 'deleteContent', target: emptyDir },
      { op: 'rmdir', target: emptyDir },
    ]),
  ]
  const wanted: Record<string, boolean> = {
    csi: existsSync(csi),
    secret: existsSync(secret),
    scratch: existsSync(emptyDir),
  }
  return operations.filter(({ id }) => wanted[id])
}

/** Kills this very process before its n-th change. */
function mortal(changes: number): { host: Host; change: () => void } {
  let left = changes
  const change = (): void => {
    if (left-- <= 0) process.kill(process.pid, 'SIGKILL')
  }
  const counted = <A extends readonly unknown[], T>(work: (...args: A) => T) => {
    return (...args: A): T => {
      change()
      return work(...args)
    }
  }
  const host: Host = {
    ...linuxHost,
    umount: counted(linuxHost.umount),
    rmdir: counted(linuxHost.rmdir),
    unlink: counted(linuxHost.unlink),
    deleteContent: counted(linuxHost.deleteContent),
  }
  return { host, change }
}

async function run(root: string, changes: number): Promise<Record<string, string>> {
  const { host, change } = mortal(changes)
  const driver = {
    ...UNASKED_DRIVER,
    nodeUnpublishVolume: async ({ targetPath }: { targetPath: string }) => {
      change()
      if (readMounts().at(targetPath).length > 0) sh('umount', targetPath)
      change()
    },
    nodeUnstageVolume: async () => {},
  }
  return statesOf(await apply(root, planned(root), { host, csi: () => driver, parallel: 1 }))
}

await runScenario({
  /** Kills after 0, 1, 2 … changes, until one comes to its end; each time a second apply must reach the same end. */
  async everywhere(directory) {
    const ends = new Set<string>()
    let kills = 0
    let takenOver = true
    for (let changes = 0; changes < 60; changes++) {
      const root = makeDir(`${directory}/kubelet-${changes}`)
      setUp(root)
      const victim = spawn(...thisProgram('victim', root, String(changes)), {
        stdio: 'ignore',
      })
      const signal = await new Promise((resolve) => victim.on('close', (_, name) => resolve(name)))
      const outcomes = await run(root, Number.POSITIVE_INFINITY)
      takenOver &&= Object.values(outcomes).every((state) => state === 'done')
      const { data } = paths(root)
      ends.add(
        JSON.stringify([
          readMounts().under(root).length,
          sh('find', `${root}/pods`, '-type', 'f'),
          sh('sh', '-c', `cd ${root} && find pods | sort`),
          readFileSync(`${data}/file`, 'utf8'),
        ]),
      )
      if (signal === null) return { kills, takenOver, ends: [...ends].map((end) => JSON.parse(end)) }
      kills += 1
    }
    return { kills, takenOver: false, ends: [...ends] }
  },

  victim: (_, [root = '', changes = '']) => run(root, Number(changes)),
})
