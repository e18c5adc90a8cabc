/** nfs, set up against a stand-in for mount(8) that lies in its place, on this machine alone. */
import { spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, existsSync, lstatSync, readFileSync, writeFileSync } from 'node:fs'
import { afterEach, expect } from 'vitest'
import type { PodVolumeSource } from '../../../src/core/kube/api/objects.ts'
import { type Host, linuxHost } from '../../../src/core/rules/host.ts'
import { commandPath } from '../../../src/core/trust/programs.ts'
import { LiveNode, POD } from '../../helpers/live-node.ts'
import { it } from '../../helpers/machine.ts'
import { noRoot } from '../../helpers/namespace.ts'
import { sh } from '../../helpers/scenario.ts'
import { describeUnless } from '../describe-unless.ts'

const SHARE: PodVolumeSource[] = [{ name: 'share', nfs: { server: 'files.test', path: '/export' } }]
const TMPFS = '$real -t tmpfs tmpfs "$dir"'

const podDir = ({ root }: LiveNode) => `${root}/pods/${POD}/volumes/kubernetes.io~nfs/share`

/** What stands in for a mount of type nfs: shell, with the mount point in $dir and the real mount(8) in $real. */
function standIn(directory: string, behaviour: string): void {
  const real = `${directory}/mount.real`
  if (existsSync(real)) sh('umount', commandPath('mount'))
  else copyFileSync(commandPath('mount'), real)
  const script = `${directory}/mount.stand-in`
  const log = `echo "mount $*" >> ${directory}/log\nfor dir; do :; done`
  writeFileSync(script, `#!/bin/sh\nreal=${real}\n[ "$2" = nfs ] || exec $real "$@"\n${log}\n${behaviour}\n`)
  chmodSync(script, 0o755)
  sh(real, '--bind', script, commandPath('mount'))
}

function nodeWith(directory: string, behaviour: string): LiveNode {
  standIn(directory, behaviour)
  const node = new LiveNode(directory)
  node.pod(POD, 'a', SHARE)
  return node
}

describeUnless(noRoot, 'nfs against a stand-in for mount(8)', () => {
  afterEach(() => void spawnSync('umount', [commandPath('mount')]))

  it('is mounted by these very calls (P19, P62), is there, and goes with its pod', async ({ directory }) => {
    standIn(directory, TMPFS)
    const node = new LiveNode(directory)
    node
      .persistentVolume('plain', { source: { nfs: { server: '192.0.2.1', path: '/a', readOnly: true } } })
      .persistentVolume('options', {
        source: { nfs: { server: 'fd00::1', path: '/b' }, mountOptions: ['vers=4.2', 'hard', ''] },
      })
    node.pod(POD, 'a', [
      ...SHARE,
      { name: 'reading', nfs: { server: 'files.test', path: '/', readOnly: true } },
      { name: 'c1', persistentVolumeClaim: { claimName: 'claim-plain' } },
      { name: 'c2', persistentVolumeClaim: { claimName: 'claim-options', readOnly: true } },
    ])
    expect(await node.applied()).toEqual(Array(4).fill('done'))
    const lines = readFileSync(`${directory}/log`, 'utf8').replaceAll(`${node.root}/pods/${POD}/volumes/`, '')
    expect(lines.trim().split('\n')).toEqual([
      'mount -t nfs files.test:/export kubernetes.io~nfs/share',
      'mount -t nfs -o ro files.test:/ kubernetes.io~nfs/reading',
      'mount -t nfs 192.0.2.1:/a kubernetes.io~nfs/plain',
      'mount -t nfs -o hard,ro,vers=4.2 [fd00::1]:/b kubernetes.io~nfs/options',
    ])
    expect((lstatSync(`${podDir(node)}/..`).mode & 0o777).toString(8)).toBe('750')
    expect(await node.operations()).toEqual([])
    node.forget(POD)
    expect(new Set(await node.applied({ orphans: true }))).toEqual(new Set(['done']))
    expect(await node.operations({ orphans: true })).toEqual([])
  })

  it('a dead server hangs nothing: mount and its helper are ended, and what is left is named', async ({
    directory,
  }) => {
    // mount(8) waits for its helper, and the helper for the server. One that is left behind fails the test.
    const node = nodeWith(directory, 'sleep 86399 & wait')
    // Every other program has its time on a busy machine.
    const run: Host['run'] = (name, args, deadlineMs, input) =>
      linuxHost.run(name, args, name === 'mount' ? 700 : deadlineMs, input)
    node.context = { host: { ...linuxHost, run } }
    const message = expect.stringMatching(`did not end within .*directory ${podDir(node)}`)
    expect(await node.outcomes()).toMatchObject([{ code: 'TimedOut', message }])
    node.context = {}
    standIn(directory, TMPFS)
    expect(await node.applied()).toEqual(['done'])
  })

  it('a mount that failed and is there all the same is taken away (P63)', async ({ directory }) => {
    const node = nodeWith(directory, `${TMPFS}; echo 'mount.nfs: internal error' >&2; exit 32`)
    expect(await node.outcomes()).toMatchObject([{ message: expect.stringContaining('internal error') }])
    expect(node.mounts().reached(podDir(node))).toEqual([])
    expect(existsSync(`${node.root}/pods/${POD}`)).toBe(false)
  })
})
