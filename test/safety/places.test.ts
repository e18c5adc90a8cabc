/** The seam by which tests show volctl a node of theirs (src/core/node/places.ts) is open in their own bundle alone. */
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it, vi } from 'vitest'
import { givePlaces, places } from '../../src/core/node/places.ts'
import { startVolctl } from '../cli/run-volctl.ts'
import { volctl } from '../helpers/run-main.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { takeTestHost } from '../helpers/test-host.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

/** Names are kept in the bundles: esbuild's keepNames. */
const SEAM = /VOLCTL_TEST_HOST|testHost/g
const found = (path: string): string[] => [...new Set(read(path).match(SEAM) ?? [])].toSorted()

afterEach(() => {
  vi.unstubAllEnvs()
  givePlaces(() => undefined)
})

it('S34: no shipped volctl can be given another host to look at', () => {
  const shipped = ['dist/volctl.cjs', 'dist/child.cjs', 'dist/launch.cjs', 'dist/kept-environment.cjs', 'bin/volctl']
  expect(shipped.flatMap(found)).toEqual([])
  expect(found('dist-tests/dist/volctl.cjs')).toEqual(['VOLCTL_TEST_HOST', 'testHost'])
})

it('S34: nothing in src gives places but what the entry has given', () => {
  const files = globSync('{src,scripts/executable}/**/*.ts', { cwd: ROOT })
  expect(files.filter((file) => /givePlaces|TEST_HOST/.test(read(file))).toSorted()).toEqual([
    'src/core/node/places.ts',
    'src/main.ts',
  ])
})

it('S34: a shipped volctl reads its own journal, whatever VOLCTL_TEST_HOST names', async () => {
  const directory = temporaryDirectory()
  const journalDir = join(directory, 'journal')
  mkdirSync(journalDir)
  writeFileSync(join(journalDir, 'journal.jsonl'), 'no journal\n')
  const host = join(directory, 'host.json')
  writeFileSync(host, JSON.stringify({ journalDir }))
  const shipped = await startVolctl(['journal', '-o', 'json'], { env: { VOLCTL_TEST_HOST: host } })
  expect(shipped).toEqual(await startVolctl(['journal', '-o', 'json']))
  const ofTests = await volctl(['journal', '-o', 'json'], { env: { VOLCTL_TEST_HOST: host } })
  expect(ofTests).not.toEqual(shipped)
})

it("the tests' own node is never the machine's", () => {
  const host = join(temporaryDirectory(), 'host.json')
  vi.stubEnv('VOLCTL_TEST_HOST', host)
  takeTestHost()
  const at = (rootDir: string) => () => {
    writeFileSync(host, JSON.stringify({ rootDir }))
    return places()
  }
  vi.spyOn(process, 'geteuid').mockReturnValue(0)
  expect(at('/tmp/x/kubelet')()).toEqual({ rootDir: '/tmp/x/kubelet' })
  for (const path of ['/var/lib/kubelet', '/srv/k', '/tmp/x/../../var/lib/kubelet'])
    expect(at(path)).toThrow(/temporary/)
  vi.stubEnv('VOLCTL_TEST_HOST', '')
  expect(places()).toBeUndefined()
})
