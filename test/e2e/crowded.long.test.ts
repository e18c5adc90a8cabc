/**
 * The demo and the tests beside what others have on this machine: they know what was there before they began, and pass. What
 * is alone in a crowd is volctl's own business (S20, S21) and stands in the tests of devices.
 */
import { execFile, spawnSync } from 'node:child_process'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { crowdedRoot, noCrowd, ORDINARY } from '../helpers/crowded-root.ts'
import { MACHINES, ON_MACHINE } from '../helpers/own-machine.ts'
import { BUNDLES } from '../helpers/programs.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const NODE = relative(ROOT, process.execPath)
const DEMO = [NODE, '--no-warnings', 'scripts/demo.ts']
// The checkout is not the ordinary user's: no configuration is bundled into it.
const VITEST = [NODE, 'node_modules/vitest/vitest.mjs', 'run', '--configLoader', 'native']

/** As an ordinary user, all is in a user namespace. */
const noUserNamespace = spawnSync('setpriv', [...ORDINARY, 'unshare', '-U', '-r', '-m', 'true']).status !== 0

/** Each with a part of the tests that would fail there, chosen for the little time that it takes. */
const USERS = [
  { user: 'root', part: 'privileged/safety/hidden-file-system', cannot: false },
  { user: 'ordinary', part: 'e2e/waiting', cannot: noUserNamespace },
] as const

async function run(command: readonly string[]): Promise<{ status: unknown; text: string }> {
  const [file = '', ...args] = command
  // A run of its own has bundles and machines of its own, and knows anew what was there before it.
  const { [BUNDLES]: _, [MACHINES]: __, [ON_MACHINE]: ___, VITEST: ____, ...env } = process.env
  const child = promisify(execFile)(file, args, { cwd: ROOT, env, maxBuffer: 1 << 26 })
  child.child.stdin?.end()
  try {
    const { stdout, stderr } = await child
    return { status: 0, text: stdout + stderr }
  } catch (error) {
    const { code, stdout, stderr } = error as { code: unknown; stdout: string; stderr: string }
    return { status: code, text: stdout + stderr }
  }
}

describe.skipIf(noCrowd !== undefined)(
  `in a container-like root, beside others' disks${noCrowd === undefined ? '' : ` (${noCrowd})`}`,
  () => {
    it.for(USERS)('the demo repairs its node: $user user', async ({ user, cannot }, { skip }) => {
      skip(cannot, 'this machine allows no user namespaces')
      await using crowd = await crowdedRoot()
      const { status, text } = await run(crowd.enter(DEMO, user))
      expect(status, text).toBe(0)
      expect(text).toContain('The content of every volume is unchanged.')
    })

    it.for(USERS)('the tests $part pass: $user user', async ({ user, part, cannot }, { skip }) => {
      skip(cannot, 'this machine allows no user namespaces')
      await using crowd = await crowdedRoot()
      const { status, text } = await run(crowd.enter([...VITEST, `test/${part}.test.ts`], user))
      expect(status, text).toBe(0)
    })
  },
)
