/** Finds processes that have a device mapped into their memory, perhaps without an open descriptor (S21). */

import type { BlockNode } from '../../block/block-tree.ts'
import type { Mapper } from '../../holders/mapped-blocks.ts'
import type { MountTable } from '../../mountinfo/mount-table.ts'
import { mapReaderOf } from '../operation/map-reader-of.ts'
import type { StepContext } from '../operation/step-context.ts'

/** Limit for reading the memory maps of processes; reached only if a process hangs; then the rest is left out. */
const DEADLINE_MS = 3000

/** Types of file systems that contain device files. */
const WITH_DEVICES = new Set(['devtmpfs', 'tmpfs'])

export async function mappersOf(nodes: readonly BlockNode[], run: StepContext): Promise<readonly Mapper[]> {
  if (nodes.length === 0) return []
  const { around, host, context, waiting } = run
  const tables = [around.table, ...around.others.map(({ table }) => table)]
  const question = {
    numbers: nodes.map(({ dev }) => dev),
    names: nodes.map(({ name }) => name),
    on: [...new Set(tables.flatMap(numbersIn))],
  }
  return waiting.spend((ms) => host.mappedBlocks(question, mapReaderOf(context, Math.min(ms, DEADLINE_MS))))
}

function numbersIn(table: MountTable): string[] {
  return table.under('/').flatMap(({ fsType, dev }) => (WITH_DEVICES.has(fsType) ? [dev] : []))
}
