/** S38: something else is in a volume's place. Then nothing of the volume is unstaged, unmapped, detached or set up. */
import { commandLine } from '../../lang/command.ts'
import type { VolumeRow } from '../../ledger/row.ts'
import type { Draft, Findings, Obstacle } from '../../plan/draft.ts'
import { rowOf } from '../../plan/subject.ts'
import { type Claimed, type OtherVolume, otherDevice, otherMounted, otherStaged } from '../../plugins/same-volume.ts'
import type { PlanContext } from '../context/context.ts'

const SET_UP: ReadonlySet<Draft['kind']> = new Set(['MountVolume', 'MapVolume'])
const TAKEN_AWAY: ReadonlySet<Draft['kind']> = new Set(['UnmountDevice', 'UnmapDevice', 'DetachVolume'])

export function otherVolumeObstacle(
  context: PlanContext,
  { kind, subject }: Pick<Draft, 'kind' | 'subject'>,
): Obstacle | undefined {
  if (!SET_UP.has(kind) && !TAKEN_AWAY.has(kind)) return undefined
  const row = context.ledger.row(rowOf(subject) ?? '')
  const other = row && (ofNode(context, row) ?? (SET_UP.has(kind) ? undefined : ofPods(context, row)))
  return other && { code: 'OtherVolume', ...wordsFor(context, other) }
}

/** What is staged and belongs to no pod of this node that would say it. Rows are made only where something is wrong. */
export function reportOtherVolumes(context: PlanContext, findings: Findings): void {
  const { inputs, ledger, staged } = context
  for (const each of staged) {
    const other = otherStaged(inputs, each)
    const row = other && ledger.row(rowOf(ledger.staged(each)) ?? '')
    if (other === undefined || row === undefined || row.wanted.length > 0) continue
    const volume = row.persistentVolume?.metadata.name ?? row.identity?.handle ?? row.key
    const { message, hint } = wordsFor(context, other)
    findings.problem(
      'error',
      'OtherVolume',
      message,
      { volume, path: inputs.absolute(each.target), subject: { row: row.key } },
      hint,
    )
  }
}

function wordsFor(
  { inputs }: PlanContext,
  { path, name, expected }: OtherVolume,
): Pick<Obstacle, 'message'> & { hint: string } {
  const at = inputs.absolute(path)
  return {
    message: `${at} shows ${name} and not ${expected ?? 'the volume'}`.replace(',,', ','),
    hint: `Find out what is mounted there, and by whom (${commandLine('findmnt', at)}), and save what pods have written to it. volctl leaves the volume as it is until that is cleared.`,
  }
}

/** Of the node's part of the volume. */
function ofNode({ inputs }: PlanContext, { staged, globals }: VolumeRow): OtherVolume | undefined {
  const places = [...staged, ...globals.map(({ path }) => ({ dir: path, target: path }))]
  return first(places.map((each) => otherStaged(inputs, each)))
}

/** A dead mount is said to be dead, and goes. */
function ofPods({ inputs }: PlanContext, row: VolumeRow): OtherVolume | undefined {
  const { persistentVolume, identity } = row
  const claimed = (volume: Pick<Claimed, 'plugin' | 'podUid'>, name: string, mode: Claimed['mode']): Claimed => ({
    ...{ plugin: volume.plugin, podUid: volume.podUid, specName: name, mode },
    ...(persistentVolume !== undefined && { persistentVolume }),
    ...(identity !== undefined && { driver: identity.driver, handle: identity.handle }),
  })
  return first([
    ...row.onDisk.map((each) =>
      inputs.deadError(each.target) === undefined
        ? otherMounted(inputs, claimed(each, each.name, 'Filesystem'), each.target)
        : undefined,
    ),
    ...row.maps.flatMap(({ block, mappings }) =>
      mappings.map(({ podUid }) => otherDevice(inputs, claimed({ plugin: block.plugin, podUid }, block.name, 'Block'))),
    ),
  ])
}

function first(found: readonly (OtherVolume | undefined)[]): OtherVolume | undefined {
  return found.find((each) => each !== undefined)
}
