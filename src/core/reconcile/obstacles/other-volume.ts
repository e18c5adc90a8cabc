/** S38: something else is in a volume's place. Then nothing of the volume is unstaged, unmapped, detached or set up. */
import { commandLine } from '../../lang/command.ts'
import { count } from '../../lang/count.ts'
import { defined } from '../../lang/defined.ts'
import { uniqueNameOfRow, type VolumeRow } from '../../ledger/row.ts'
import { Covers } from '../../mountinfo/covers.ts'
import { fileSystemText } from '../../mountinfo/file-systems.ts'
import { whoMounted } from '../../mountinfo/mount-words.ts'
import { CSI_PLUGIN } from '../../names/volume-names.ts'
import type { Draft, Findings, Obstacle } from '../../plan/draft.ts'
import { rowOf } from '../../plan/subject.ts'
import { pluginNamed } from '../../plugins/registry.ts'
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
  reportCovers(context, findings)
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

/** Also of a pod whose record names the volume, and whose mount is not the volume's. A dead mount is said to be dead, and goes. */
function ofPods({ inputs, onDisk }: PlanContext, row: VolumeRow): OtherVolume | undefined {
  const { persistentVolume, identity } = row
  const claimed = (plugin: string, podUid: string, specName: string, mode: Claimed['mode']): Claimed => ({
    ...{ plugin, podUid, specName, mode },
    ...defined({ persistentVolume, driver: identity?.driver, handle: identity?.handle }),
  })
  const recorded = onDisk.of(uniqueNameOfRow(row) ?? '').filter(({ path }) => path.startsWith('pods/'))
  const mounted = [
    ...recorded.map(({ path }) => ({ plugin: CSI_PLUGIN, target: `${path}/mount` })),
    ...row.onDisk.filter(({ plugin }) => plugin !== CSI_PLUGIN),
  ]
  return first([
    ...mounted.map(({ plugin, target }) =>
      inputs.deadError(target) === undefined
        ? otherMounted(inputs, claimed(plugin, '', row.key, 'Filesystem'), target)
        : undefined,
    ),
    ...row.maps.flatMap(({ block, mappings }) =>
      mappings.map(({ podUid }) => otherDevice(inputs, claimed(block.plugin, podUid, block.name, 'Block'))),
    ),
  ])
}

/** S18: what lies over directories of the kubelet hides volumes that pods have there. */
function reportCovers({ inputs, desired, classes }: PlanContext, findings: Findings): void {
  const hidden = desired.volumes.flatMap((volume) => {
    const path = pluginNamed(volume.plugin).podPath(volume)
    const [mount] = inputs.top(path) === undefined ? inputs.at(path) : []
    return mount === undefined || classes.of(volume.podUid)?.class !== 'Desired' ? [] : { volume, mount }
  })
  if (hidden.length === 0) return
  const covers = new Covers(inputs.mounts)
  for (const [cover, all] of Map.groupBy(hidden, ({ mount }) => covers.of(mount))) {
    if (cover === undefined) continue
    findings.problem(
      'error',
      'ForeignMount',
      `another mount (${fileSystemText(cover)} on ${cover.mountPoint}) hides ${count(all.length, 'volume')} of pods that have them there; nothing below it can be judged`,
      { path: cover.mountPoint, subject: { path: cover.mountPoint } },
      whoMounted(cover.mountPoint),
    )
  }
}

function first(found: readonly (OtherVolume | undefined)[]): OtherVolume | undefined {
  return found.find((each) => each !== undefined)
}
