/** S38: something else is in a volume's place. Then nothing of the volume is unstaged, unmapped, detached or set up. */

import { uniqueNameOfRow, type VolumeRow } from '../facts/row.ts'
import { advice, commandLine } from '../messages/command.ts'
import { said } from '../messages/findings.ts'
import { rowOf } from '../volumes/finding.ts'
import { type Claimed, type OtherVolume, otherMapped, otherMounted, otherStaged } from '../volumes/same-volume.ts'
import { CSI_PLUGIN } from '../volumes/volume-names.ts'
import type { PlanContext } from './context.ts'
import { isLiving } from './pods/pod-classes.ts'
import type { Judge } from './rule.ts'

export const otherVolume: Judge = ({ operation: { subject }, context }) => {
  const row = context.ledger.row(rowOf(subject) ?? '')
  const other = row && otherOf(context, row)
  return other && wordsFor(context, other)
}

/** Of volumes that no pod wants which would say it. */
export function reportOtherVolumes(context: PlanContext): void {
  const { inputs, ledger, staged, classes } = context
  const ended = classes.all.filter((pod) => !isLiving(pod)).flatMap(({ uid }) => ledger.podVolumes(uid))
  const keys = [
    ...staged.filter(({ target }) => otherStaged(inputs, target) !== undefined).map((each) => ledger.of(each)),
    ...ended.map((each) => ledger.of(each)),
  ].map((subject) => rowOf(subject) ?? '')
  for (const key of new Set(keys)) {
    const row = ledger.row(key)
    const other = row && row.wanted.length === 0 ? otherOf(context, row) : undefined
    if (row === undefined || other === undefined) continue
    const volume = row.persistentVolume?.metadata.name ?? row.identity?.handle ?? key
    const finding = wordsFor(context, other)
    const about = { volume, path: inputs.absolute(other.path), subject: { row: key } }
    context.findings.problem('error', finding, about, finding.hint)
  }
}

function wordsFor({ inputs }: PlanContext, { path, name, expected = 'the volume' }: OtherVolume) {
  const at = inputs.absolute(path)
  return {
    ...said('OtherVolume.shown', { path: at, name, expected }),
    hint: advice`Find out what is mounted there, and by whom (${commandLine('findmnt', at)}), and save what pods have written to it. volctl leaves the volume as it is until that is cleared.`,
  }
}

/** A dead mount is said to be dead, and goes. */
function otherOf(context: PlanContext, row: VolumeRow): OtherVolume | undefined {
  const { inputs } = context
  const { key, identity, persistentVolume, staged, globals, maps } = row
  const claimed = (plugin: string): Claimed => ({
    plugin,
    specName: persistentVolume?.metadata.name ?? key,
    persistentVolume,
    driver: identity?.driver,
    handle: identity?.handle,
  })
  const paths = globals.map(({ path }) => path)
  return [
    ...[...staged.map(({ target }) => target), ...paths].map((path) => otherStaged(inputs, path)),
    ...mountedForPods(context, row)
      .filter(({ target }) => inputs.deadError(target) === undefined)
      .map(({ plugin, target }) => otherMounted(inputs, claimed(plugin), { path: target, staged: paths })),
    ...maps.flatMap(({ plugin, mappings }) =>
      mappings.map(({ mapFile, publishPath }) =>
        mapFile === undefined ? undefined : otherMapped(inputs, claimed(plugin), mapFile, publishPath),
      ),
    ),
  ].find((each) => each !== undefined)
}

/** By its record, by the row, or, of a LUN, by the name of its PersistentVolume: its device may be another one's. */
function mountedForPods({ onDisk, ledger }: PlanContext, row: VolumeRow) {
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
