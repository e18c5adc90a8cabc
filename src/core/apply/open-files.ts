/** Which processes hold a path: working directories, roots and open files, at once and without a child. */
import { describeProcesses } from '../holders/describe-holders.ts'
import { Places } from '../holders/places.ts'
import { type Holder, processFiles } from '../holders/process-files.ts'
import type { MountTable } from '../mountinfo/mount-table.ts'
import type { OtherNamespace } from './host.ts'

export function holdersBelow(
  table: MountTable,
  path: string,
  others: readonly OtherNamespace[],
  proc = '/proc',
): readonly Holder[] {
  return processFiles(new Places(table, [path]), others, proc).holders
}

export function nameHolders(holders: readonly Holder[]): string {
  const names = describeProcesses(holders)
  return names.length > 4 ? `${names.slice(0, 4).join(', ')} and ${names.length - 4} more` : names.join(', ')
}
