import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { readOtherNamespaces } from '../../../src/core/processes/mount-namespaces.ts'
import { statesOf } from '../../helpers/apply-plan.ts'
import { runScenario, sh } from '../../helpers/scenario.ts'
import { apply, expectNow, makeDir, operation, podUid, readMounts, tmpfs, unmount, volumeDir } from './real-node.ts'

await runScenario({
  /** Three hundred volumes of thirty pods, one of them busy. */
  async batch(directory) {
    const root = makeDir(`${directory}/kubelet`)
    const volumes = Array.from({ length: 300 }, (_, n) => ({ pod: n % 30, dir: volumeDir(root, n % 30, `v${n}`) }))
    for (const { dir } of volumes) tmpfs(dir)
    const held = volumes[7]?.dir ?? ''
    const sleeper = spawn('sleep', ['600'], { cwd: held, stdio: 'ignore' })
    const operations = volumes.map(({ pod, dir }, n) => unmount(`v${n}`, pod, dir))
    const result = await apply(root, operations)
    const left = readMounts()
      .under(root)
      .map(({ mountPoint }) => mountPoint)
    sleeper.kill()
    await new Promise((resolve) => sleeper.on('exit', resolve))
    const second = await apply(root, [unmount('v7', 7, held)])
    return {
      done: result.outcomes.filter(({ state }) => state === 'done').length,
      failed: result.outcomes
        .filter(({ state }) => state !== 'done')
        .map(({ id, code, message }) => ({ id, code, message })),
      sleeper: sleeper.pid,
      left: left.map((path) => path.slice(root.length)),
      second: statesOf(second),
      directories: volumes.filter(({ dir }) => existsSync(dir)).length,
    }
  },

  async stacked(directory) {
    const root = makeDir(`${directory}/kubelet`)
    const dir = volumeDir(root, 1, 'v')
    for (let layer = 0; layer < 3; layer++) tmpfs(dir)
    const result = await apply(root, [unmount('a', 1, dir), unmount('b', 2, tmpfs(volumeDir(root, 2, 'v')))])
    return { states: statesOf(result), left: readMounts().under(root).length, exists: existsSync(dir) }
  },

  /** A sub-path: a bind mount of a file and of a directory, whose content must stay as it is. */
  async subPaths(directory) {
    const root = makeDir(`${directory}/kubelet`)
    const data = makeDir(`${directory}/data`)
    writeFileSync(`${data}/file`, 'precious')
    const leaves = makeDir(`${root}/pods/${podUid(1)}/volume-subpaths/pv/app`)
    writeFileSync(`${leaves}/0`, '')
    makeDir(`${leaves}/1`)
    sh('mount', '--bind', `${data}/file`, `${leaves}/0`)
    sh('mount', '--bind', data, `${leaves}/1`)
    const expects = expectNow(`${leaves}/1`, `${leaves}/0`)
    const result = await apply(root, [
      operation(
        'a',
        1,
        [
          { op: 'umount', target: `${leaves}/1` },
          { op: 'umount', target: `${leaves}/0` },
          { op: 'unlink', target: `${leaves}/0` },
          { op: 'rmdir', target: `${leaves}/1` },
          { op: 'rmdir', target: leaves },
        ],
        { expects },
      ),
    ])
    return { states: statesOf(result), exists: existsSync(leaves), content: readFileSync(`${data}/file`, 'utf8') }
  },

  /** A mount on the directory in another namespace only; rmdir here would detach it there. */
  async elsewhere(directory) {
    const root = makeDir(`${directory}/kubelet`)
    const dir = makeDir(volumeDir(root, 1, 'v'))
    const script = `mount -t tmpfs tmpfs ${dir} && echo data > ${dir}/file && echo ready && cat > /dev/null && cat ${dir}/file`
    const other = spawn('unshare', ['-m', '--propagation', 'private', 'sh', '-c', script], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    let said = ''
    await new Promise<void>((resolve) =>
      other.stdout.on('data', (text) => {
        said += text
        if (said.includes('ready')) resolve()
      }),
    )
    const result = await apply(root, [operation('a', 1, [{ op: 'rmdir', target: dir }])])
    const seen = readOtherNamespaces(false).some(({ table }) => table.at(dir).length > 0)
    other.stdin.end()
    await new Promise((resolve) => other.on('close', resolve))
    return { states: statesOf(result), seen, said: said.split('\n').filter(Boolean), exists: existsSync(dir) }
  },

  /** A journal on a disk that is full after a few lines: what cannot be written down is not done. */
  async journalFull(directory) {
    const root = makeDir(`${directory}/kubelet`)
    sh('mount', '-t', 'tmpfs', '-o', 'size=4k', 'tmpfs', makeDir(`${root}.journal`))
    const operations = Array.from({ length: 12 }, (_, n) => {
      const dir = makeDir(volumeDir(root, n, 'scratch', 'kubernetes.io~empty-dir'))
      return operation(`o${n}`, n, [
        { op: 'deleteContent', target: dir },
        { op: 'rmdir', target: dir },
      ])
    })
    const result = await apply(root, operations, { parallel: 1 })
    const left = operations.filter(({ steps }) => existsSync(steps[0]?.target ?? ''))
    return { states: statesOf(result), exit: result.exit, left: left.map(({ id }) => id) }
  },

  /** What the plan was made on is gone, and another mount is in its place, of the same kind. */
  async replaced(directory) {
    const root = makeDir(`${directory}/kubelet`)
    const dir = tmpfs(volumeDir(root, 1, 'v'))
    const planned = unmount('a', 1, dir)
    // Made before the other goes: the kernel gives the lowest numbers that are free, to mounts and to devices.
    const other = tmpfs(`${directory}/other`)
    writeFileSync(`${other}/file`, 'x')
    sh('umount', dir)
    // Without its own notes (-n), which are root's.
    sh('mount', '-n', '--move', other, dir)
    const result = await apply(root, [planned])
    return { states: statesOf(result), files: readdirSync(dir) }
  },

  /** A foreign mount that came after the plan. */
  async foreign(directory) {
    const root = makeDir(`${directory}/kubelet`)
    const dir = tmpfs(volumeDir(root, 1, 'v'))
    const planned = unmount('a', 1, dir)
    tmpfs(`${dir}/inside`)
    writeFileSync(`${dir}/inside/file`, 'x')
    const result = await apply(root, [planned])
    return { states: statesOf(result), files: readdirSync(`${dir}/inside`) }
  },
})
