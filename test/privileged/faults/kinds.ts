/** Which tests kill an apply at every step of each kind of operation, and run it again; kinds.test.ts checks that they are there. */
import type { OperationKind } from '../../../src/core/plan/plan.ts'
import { type Shown, shown } from '../../helpers/titles.ts'

const everyStep = shown(
  'e2e/kill',
  'at the start and the end of every operation, and at every step',
  'the second apply does the rest, and the next plan is empty',
  'no byte of any volume has changed',
)
const everyChange = shown('privileged/killed-anywhere', '$way, $phase: the next apply comes to the same end')
const changed = shown(
  'privileged/faults/killed',
  'before any change of RemountVolume or ExpandVolume, or any step of CleanOrphanVolume, UnmapVolume or UnmapDevice: the next one does the rest',
)
/** Of node scope; an AttachVolume is only ever shown, and the controller carries it out. */
export const KILLED: Readonly<Record<Exclude<OperationKind, 'AttachVolume'>, readonly Shown[]>> = {
  UnmountVolume: [...everyStep, ...everyChange],
  CleanOrphanVolume: [...everyStep, ...changed],
  UnmapVolume: [...changed, ...everyChange],
  UnmountDevice: [...everyStep, ...everyChange],
  UnmapDevice: changed,
  DetachVolume: everyStep,
  RemoveOrphanPodDir: everyStep,
  MountVolume: everyChange,
  MapVolume: everyChange,
  RemountVolume: [...changed, ...shown('privileged/set-up/atomic', 'killed while it writes, a generation is whole')],
  ExpandVolume: changed,
}
