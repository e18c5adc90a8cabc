/** Which tests kill an apply at every step of each kind of operation, and run it again; kinds.test.ts checks that they are there. */
import type { OperationKind } from '../../../src/core/plan/plan.ts'
import { type Shown, shown } from '../../helpers/titles.ts'

const everyStep = shown(
  'e2e/kill',
  'at the start and the end of every operation, and at every step',
  'the second apply does the rest, and the next plan is empty',
  'no byte of any volume has changed',
)
const everyChange = shown(
  'privileged/killing',
  'comes to the same end in the next run, lock and all, and no content has changed (R837)',
)
const refresh = shown(
  'privileged/faults/killed',
  'before any change of RemountVolume or ExpandVolume: the next one does the rest',
)
const undo = shown(
  'privileged/faults/killed',
  'before any step of CleanOrphanVolume, UnmapVolume or UnmapDevice: the next one does the rest',
)
const csi = shown(
  'privileged/set-up/csi-faults',
  '%s: killed before or after any change or call, the next apply comes to the same end',
)
const local = shown(
  'privileged/set-up/local',
  'is whole after a kill anywhere and another apply, and goes without a trace',
)

/** Of node scope; an AttachVolume is only ever shown, and the controller carries it out. */
export const KILLED: Readonly<Record<Exclude<OperationKind, 'AttachVolume'>, readonly Shown[]>> = {
  UnmountVolume: [...everyStep, ...everyChange],
  CleanOrphanVolume: [...everyStep, ...undo],
  UnmapVolume: undo,
  UnmountDevice: everyStep,
  UnmapDevice: undo,
  DetachVolume: everyStep,
  RemoveOrphanPodDir: everyStep,
  MountVolume: [
    ...csi,
    ...local,
    ...shown('privileged/set-up/empty-dir', 'comes to the same end when killed before any change (medium "$medium")'),
    ...shown('privileged/set-up/atomic', 'killed at any step and run again, they come to the same'),
  ],
  MapVolume: [...csi, ...local],
  RemountVolume: [...refresh, ...shown('privileged/set-up/atomic', 'killed while it writes, a generation is whole')],
  ExpandVolume: refresh,
}
