/**
 * Makes the tests' executable for this machine alone, as a release has it but for its bundle (build.ts): dist-executable/volctl, which
 * the tests with real mounts start where VOLCTL_PROGRAM says so (test/helpers/volctl-program.ts).
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { makeExecutable } from './package/executable.ts'

if (import.meta.main) {
  const { arch } = process
  if (arch !== 'x64' && arch !== 'arm64') throw new Error(`volctl has no executable for ${arch}`)
  const root = join(import.meta.dirname, '..')
  const folder = join(root, 'dist-executable')
  mkdirSync(folder, { recursive: true })
  const { path, lacks } = await makeExecutable(arch, join(root, 'dist-tests', 'dist'), join(folder, 'volctl'))
  console.error(`made ${path}`)
  for (const each of lacks) console.error(`note: ${each}`)
}
