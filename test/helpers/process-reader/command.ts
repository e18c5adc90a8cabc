import { nodeProgram } from '../programs.ts'

/** Command line of the process reader, for tests that do not run the built volctl. */
export const PROCESS_READER: readonly string[] = nodeProgram(new URL('./main.ts', import.meta.url)).flat()
