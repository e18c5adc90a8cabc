import { fileURLToPath } from 'node:url'

/** Command line of the map reader, for tests that are not the built volctl. */
export const MAP_READER: readonly string[] = [
  process.execPath,
  '--no-warnings',
  fileURLToPath(new URL('./main.ts', import.meta.url)),
]
