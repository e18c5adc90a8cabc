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
import { type Claimed, type OtherVolume, otherMapped, otherMounted, otherStaged } from '../../plugins/same-volume.ts'
import type { PlanContext } from '../context/context.ts'
import { isLiving } from '../pods/volume-users.ts'

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

/** Of volumes that no pod wants which would say it. Rows are made only where something is wrong, or a pod has ended. */
export function reportOtherVolumes(context: PlanContext, findings: Findings): void {
  reportCovers(context, findings)
  const { inputs, ledger, staged, classes } = context
  const ended = classes.all.filter((pod) => !isLiving(pod)).flatMap(({ uid }) => ledger.podVolumes(uid))
  const keys = [
    ...staged.filter((each) => otherStaged(inputs, each) !== undefined).map((each) => ledger.staged(each)),
    ...ended.map((each) => ledger.podVolume(each)),
  ].map((subject) => rowOf(subject) ?? '')
  for (const key of new Set(keys)) {
    const row = ledger.row(key)
    const other = row && row.wanted.length === 0 ? (ofNode(context, row) ?? ofPods(context, row)) : undefined
    if (row === undefined || other === undefined) continue
    const volume = row.persistentVolume?.metadata.name ?? row.identity?.handle ?? key
    const { message, hint } = wordsFor(context, other)
    const about = { volume, path: inputs.absolute(other.path), subject: { row: key } }
    findings.problem('error', 'OtherVolume', message, about, hint)
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
function ofPods(context: PlanContext, row: VolumeRow): OtherVolume | undefined {
  const { inputs } = context
  const { key, identity, persistentVolume, globals, maps } = row
  const claimed = (plugin: string): Claimed => ({
    ...{ plugin, specName: persistentVolume?.metadata.name ?? key },
    ...defined({ persistentVolume, driver: identity?.driver, handle: identity?.handle }),
  })
  const staged = globals.map(({ path }) => path)
  return first([
    ...mountedForPods(context, row).map(({ plugin, target }) =>
      inputs.deadError(target) === undefined
        ? otherMounted(inputs, claimed(plugin), { path: target, staged })
        : undefined,
    ),
    ...maps.flatMap(({ block, mappings }) =>
      mappings.map(({ mapFile, publishPath }) =>
        mapFile === undefined ? undefined : otherMapped(inputs, claimed(block.plugin), mapFile, publishPath),
      ),
    ),
  ])
}

/** By its record, by the row, or, of a LUN, by the name of its PersistentVolume: its device may be another one's. */
function mountedForPods(
  { onDisk, ledger }: PlanContext,
  row: VolumeRow,
): readonly { readonly plugin: string; readonly target: string }[] {
  const [global] = row.globals
  const name = row.persistentVolume?.metadata.name
  const found = global === undefined ? row.onDisk : ledger.all.flatMap((each) => each.onDisk)
  return [
    ...onDisk
      .of(uniqueNameOfRow(row) ?? '')
      .flatMap(({ path }) => (path.startsWith('pods/') ? { plugin: CSI_PLUGIN, target: `${path}/mount` } : [])),
    ...found.filter(
      (each) =>
        each.plugin !== CSI_PLUGIN &&
        (row.onDisk.includes(each) || (each.plugin === global?.plugin && each.name === name)),
    ),
  ]
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
