/** hostPath volumes, whose types are checked, and which are made where their types say so. */
import { chmodSync, copyFileSync, lstatSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { describe, expect } from 'vitest'
import { hostPaths } from '../../../src/core/node/host-paths.ts'
import { kernelTextIfAny, processIds } from '../../../src/core/trust/kernel.ts'
import { commandPath } from '../../../src/core/trust/programs.ts'
import { LiveNode, POD } from '../../helpers/live-node.ts'
import { it } from '../../helpers/machine.ts'
import { noRoot } from '../../helpers/namespace.ts'
import { sh } from '../../helpers/scenario.ts'
import { noFuse } from '../faults/no-fuse.ts'
import { startFuse } from '../fuse/start.ts'

process.umask(0o022)

/** What apply says of a pod that wants this path with this type. */
async function verdict(directory: string, path: string, type: string): Promise<string> {
  const node = new LiveNode(directory)
  node.pod(POD, 'a', [{ name: 'v', hostPath: { path, type } }])
  const [end = 'fine'] = await node.applied()
  return end
}

const modeOf = (path: string) => (lstatSync(path).mode & 0o777).toString(8)

/** A script in the place of a program, which it calls as $real, while the work is done. */
async function withStandIn(directory: string, name: string, script: string, work: () => Promise<void>): Promise<void> {
  const program = commandPath(name)
  copyFileSync(program, `${directory}/real`)
  writeFileSync(`${directory}/stand-in`, `#!/bin/sh\nreal=${directory}/real\n${script}\n`)
  chmodSync(`${directory}/stand-in`, 0o755)
  sh('mount', '--bind', `${directory}/stand-in`, program)
  try {
    await work()
  } finally {
    sh('umount', program)
  }
}

describe('hostPath for real', () => {
  it('what is of another type than the volume says is blocked, links followed (P58)', async ({ directory }) => {
    mkdirSync(`${directory}/dir`)
    writeFileSync(`${directory}/file`, '')
    sh('mkfifo', `${directory}/fifo`)
    symlinkSync('dir', `${directory}/link to dir`)
    symlinkSync('nowhere', `${directory}/dangling`)
    symlinkSync('/dev/null', `${directory}/char`)
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(`${directory}/socket`, resolve))
    const names = ['dir', 'file', 'fifo', 'link to dir', 'char', 'socket', 'dangling']
    for (const [type, want] of Object.entries({
      Directory: ['dir fine', 'link to dir fine'],
      DirectoryOrCreate: ['dir fine', 'link to dir fine', 'dangling failed WriteFailed'],
      File: ['file fine'],
      FileOrCreate: ['file fine', 'dangling done'],
      Socket: ['socket fine'],
      CharDevice: ['char fine'],
      Nonsense: [],
    })) {
      const looks = names.map(
        async (name) => `${name} ${await verdict(`${directory}/${type}/${name}`, `${directory}/${name}`, type)}`,
      )
      expect((await Promise.all(looks)).filter((each) => !each.endsWith('blocked HostPathType'))).toEqual(want)
    }
    server.close()
  })

  it('what is missing is made where the type says so, and is there then', async ({ directory }) => {
    const node = new LiveNode(directory)
    const [dir, file] = [`${directory}/a/b`, `${directory}/a/b/ready`]
    const volume = (name: string, path: string, type: string) => ({ name, hostPath: { path, type } })
    for (const volumes of [[], [volume('file', file, 'FileOrCreate')]]) {
      node.pod(POD, 'a', [volume('dir', dir, 'DirectoryOrCreate'), ...volumes])
      expect(await node.outcomes()).toMatchObject([{ state: 'done' }])
      expect(await node.operations()).toEqual([])
      node.forget(POD)
    }
    expect([`${directory}/a`, dir, file].map(modeOf)).toEqual(['755', '755', '644'])
  })

  it('what a container puts in its place keeps its mode', async ({ directory, skip }) => {
    skip(noRoot !== undefined, noRoot)
    mkdirSync(`${directory}/shared`)
    writeFileSync(`${directory}/shadow`, 'secret', { mode: 0o600 })
    // A link in the place of what was just made: nothing behind it is opened up.
    const script = `$real "$@"\nrm -f "$2"; ln -s ${directory}/shadow "$2"`
    await withStandIn(directory, 'touch', script, async () =>
      expect(await verdict(directory, `${directory}/shared/file`, 'FileOrCreate')).toBe('done'),
    )
    expect(lstatSync(`${directory}/shared/file`).isSymbolicLink()).toBe(true)
    expect(modeOf(`${directory}/shadow`)).toBe('600')
  })

  it('S36: what hangs hides no other path, and is asked once, however often: a mount, or a path whose links only a child follows', async ({
    directory,
    skip,
  }) => {
    skip(noFuse !== undefined, noFuse)
    mkdirSync(`${directory}/dir`)
    symlinkSync('away/c', `${directory}/link`)
    // Which mount this leads to, only a child sees.
    symlinkSync(`/proc/self/root${directory}/away`, `${directory}/hidden`)
    const fuse = await startFuse(`${directory}/away`, 'silent')
    const node = new LiveNode(directory)
    const volumes = ['away/a', 'away/b', 'dir', 'hidden', 'link', 'missing'].map((name, index) => ({
      name: `v${index}`,
      hostPath: { path: `${directory}/${name}`, type: 'Directory' },
    }))
    node.pod(POD, 'a', volumes)
    const askers = () => processIds().filter((pid) => kernelTextIfAny(`/proc/${pid}/comm`) === 'stat').length
    for (const _ of [1, 2, 3]) {
      const found = await hostPaths(node.api(), node.mounts(), () => false, 1000)
      expect(found.map(({ type, error }) => type ?? error)).toEqual([
        'Timeout',
        'Timeout',
        'dir',
        'Timeout',
        'Timeout',
        'absent',
      ])
      expect(askers()).toBe(2)
    }
    await fuse.kill()
    await expect.poll(askers).toBe(0)
  })
})
