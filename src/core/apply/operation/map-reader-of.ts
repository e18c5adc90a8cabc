/** The child that reads the memory maps of processes; a test brings its own. */
import type { MapReader } from '../../holders/mapped-files.ts'
import { ownCommand } from '../../processes/own-child.ts'
import type { ApplyContext } from './ports.ts'

/** @param deadlineMs for all processes together */
export function mapReaderOf({ mapReader }: ApplyContext, deadlineMs: number): MapReader {
  return { command: mapReader ?? ownCommand('map-reader'), deadlineMs }
}
