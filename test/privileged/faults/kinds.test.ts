/** Which tests kill an apply at every step of each kind of operation, and run it again; and that they are there. */
import { describe, expect, it } from 'vitest'
import { OPERATION_KINDS, type OperationKind } from '../../../src/core/plan/plan.ts'
import { isThere, type Shown, shown } from '../../helpers/titles.ts'

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
const KILLED: Readonly<Record<Exclude<OperationKind, 'AttachVolume'>, readonly Shown[]>> = {
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

const every = Object.entries(KILLED).flatMap(([kind, list]) => list.map((shown) => ({ kind, ...shown })))

describe('kinds of operations, killed at every step', () => {
  it('are all that an apply carries out', () => {
    expect([...Object.keys(KILLED), 'AttachVolume'].toSorted()).toEqual([...OPERATION_KINDS].toSorted())
    expect(Object.values(KILLED).filter((list) => list.length === 0)).toEqual([])
  })

  it.each(every)('$kind: $file has "$title"', (each) => expect(isThere(each)).toBe(true))
})
