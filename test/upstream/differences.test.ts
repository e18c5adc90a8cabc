/**
 * Where volctl decides otherwise than the kubelet's own tests ask for: the case upstream, volctl's rule, and what is planned.
 */
import { expect, it } from 'vitest'
import { csiGlobalDir } from '../../src/core/facts/actual/volume-names.ts'
import type { Plan } from '../../src/core/plan/plan.ts'
import { planNode } from '../../src/core/reconcile/plan-node.ts'
import { claimOf, DRIVER, type NodeBuilder, node, uid } from '../helpers/node-builder.ts'
import { planOptions } from '../helpers/plan-options.ts'

const GONE = uid(9)
const VOLUMES = `pods/${GONE}/volumes`

/** `UnmountVolume`, `UnmountDevice ForeignMount`; then what waits, and the codes of problems. */
function shown({ operations, waiting, problems }: Plan): string[] {
  return [
    ...operations.map(({ kind, blocked }) => (blocked === undefined ? kind : `${kind} ${blocked.code}`)),
    ...waiting.map(({ kind, code }) => `${kind} waits: ${code}`),
    ...new Set(problems.map(({ code }) => code)),
  ]
}

const staged = (built: NodeBuilder, capabilities: string[]): NodeBuilder => {
  built.with({ csiSockets: [{ path: 'x', driver: DRIVER, registered: true, capabilities }] })
  return built.staged('vol-1', '7:1')
}

it.each<{ upstream: string; rule: string; built: NodeBuilder; is: string[] }>([
  {
    upstream: 'TestCleanupOrphanedPodDirs: an empty sub-directory of a volume goes only in the next round',
    rule: 'O11: a pass is whole',
    built: node().dir(`${VOLUMES}/plugin/name/subdir`),
    is: ['RemoveOrphanPodDir'],
  },
  {
    upstream: 'TestCleanupOrphanedPodDirs: content is kept, and nothing is said',
    rule: 'O12: what is kept is reported',
    built: node().file(`${VOLUMES}/kubernetes.io~nfs/n/db`, 'precious'),
    is: ['DataUnderMountPoint', 'OrphanDirKept'],
  },
  {
    upstream: 'TestPodVolumesExistWithMount: a mount below what is not mounted is no volume',
    rule: 'O14: nothing is removed around a mount',
    built: node().dir(`${VOLUMES}/kubernetes.io~nfs/n`).mount(`${VOLUMES}/kubernetes.io~nfs/n/mount`),
    is: ['UnmountVolume ForeignMount', 'OrphanDirKept'],
  },
  {
    upstream: 'TestAttacherUnmountDevice: without its file, it counts as unstaged',
    rule: 'O9, S17: the hash of a handle that is known confirms it',
    built: node().published(GONE, 'pv-1', '7:1', { handle: 'vol-1' }).staged('vol-1', '7:1', { stateFile: false }),
    is: ['UnmountVolume', 'UnmountDevice', 'RemoveOrphanPodDir', 'MountedButNotAttached'],
  },
  {
    upstream: 'the same, and nobody knows the handle',
    rule: 'S17: blocked',
    built: node().staged('vol-1', '7:1', { stateFile: false }),
    is: ['UnmountDevice IdentityUnconfirmed'],
  },
  {
    upstream: 'TestAttacherUnmountDevice: a driver without staging, and mounted: the file is removed',
    rule: 'R444: such a driver did not stage it',
    built: staged(node(), []),
    is: ['UnmountDevice ForeignMount', 'MountedButNotAttached'],
  },
  {
    upstream: 'TestBlockMapperTearDownDevice: nothing is staged on disk, and the driver is not asked',
    rule: 'S16: it is asked all the same',
    built: node()
      .dir(`${csiGlobalDir(DRIVER, 'vol-1')}/globalmount`)
      .file(
        `${csiGlobalDir(DRIVER, 'vol-1')}/vol_data.json`,
        JSON.stringify({ driverName: DRIVER, volumeHandle: 'vol-1' }),
      ),
    is: ['UnmountDevice'],
  },
  {
    upstream: 'TestReconstructVolumesMount: what is desired is staged and published again',
    rule: 'O1: what is mounted and as it should be stays',
    built: node().served(uid(2), 'app'),
    is: [],
  },
  {
    upstream: 'TestReconcileWithUpdateReconstructedFromAPIServer: mounted and not attached is put into the status',
    rule: 'O7: an error that a person sees',
    built: node()
      .persistentVolume('pv-1', { attached: false })
      .livingPod(uid(2), 'app', [claimOf()])
      .published(uid(2), 'pv-1', '7:1')
      .staged('pv-1', '7:1'),
    is: ['MountedButNotAttached'],
  },
  {
    upstream:
      'FindAndAddNewPods_WithDifferentSELinuxContexts: a second pod of a ReadWriteOncePod volume is refused by its label',
    rule: 'O3, R430: it waits, whatever its label',
    built: node()
      .persistentVolume('pv-1', { accessModes: ['ReadWriteOncePod'] })
      .livingPod(uid(2), 'one', [claimOf()])
      .livingPod(uid(3), 'two', [claimOf()])
      .published(uid(2), 'pv-1', '7:1')
      .staged('pv-1', '7:1'),
    is: ['MountVolume waits: AccessMode'],
  },
])('$upstream; $rule', ({ built, is }) =>
  expect(shown(planNode(built.build(), planOptions({ orphans: true })))).toEqual(is),
)
