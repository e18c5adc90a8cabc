import { nodeProgram } from '../programs.ts'

/** Command line of the map reader, for tests that do not run the built volctl. */
export const MAP_READER: readonly string[] = nodeProgram(new URL('./main.ts', import.meta.url)).flat()
