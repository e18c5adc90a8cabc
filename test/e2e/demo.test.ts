import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { moveInto, noCgroups } from '../helpers/cgroup.ts'
import { loopDevicesWork } from '../helpers/csi-driver/start.ts'
import { sweep, temporary } from '../helpers/left-behind.ts'
import { noMounts } from '../helpers/namespace.ts'
import type { Layout } from '../helpers/scene/layouts.ts'

const DEMO = join(import.meta.dirname, '..', '..', 'scripts', 'demo.ts')

let directory: string
beforeEach(() => {
  directory = temporary('volctl-demo-test-')
})
afterEach(() => sweep(directory))

interface Shown {
  readonly status: number | null
  readonly text: string
}

interface Settings {
  /** Hears all that was printed so far. */
  readonly onText?: (text: string, child: ChildProcess) => void
  readonly path?: string
  /** The command that starts it. */
  readonly by?: readonly string[]
  /** How the mounts around the root directory hang together. */
  readonly layout?: Layout
}

/** Runs the demo with a temporary directory of its own. */
async function demo({ onText, path = process.env.PATH, by = [], layout }: Settings = {}): Promise<Shown> {
  const [file = '', ...args] = [
    ...by,
    process.execPath,
    '--no-warnings',
    DEMO,
    ...(layout === undefined ? [] : ['--layout', layout]),
  ]
  const child = spawn(file, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, PATH: path, TMPDIR: directory },
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (more: string) => {
      text += more
      onText?.(text, child)
    })
  }
  // Not before everything that it started has let go of its output, too.
  const [status] = (await once(child, 'close')) as [number | null]
  return { status, text }
}

function expectNothingLeft(): void {
  expect(readdirSync(directory)).toEqual([])
  expect(readFileSync('/proc/self/mountinfo', 'utf8')).not.toContain(directory)
  if (loopDevicesWork()) expect(execFileSync('losetup', ['--list'], { encoding: 'utf8' })).not.toContain(directory)
}

/** Of its root directory; the others stand in the tests of repair and set-up. */
const LAYOUTS: readonly Layout[] = ['shared-self-bind', 'nested']

/** Root of a user namespace, as a plain user's demo is in the one that it makes for itself. */
const USER_NAMESPACE = ['unshare', '-U', '-r']
const noUserNamespace = spawnSync('unshare', ['-U', '-r', '-m', 'true']).status !== 0

const commands = (text: string): string[] => text.split('\n').filter((line) => line.startsWith('$ '))

describe.skipIf(noMounts !== undefined)(`the demo${noMounts === undefined ? '' : `: ${noMounts}`}`, () => {
  it.for([
    { where: 'here', by: [], cannot: false, layout: undefined },
    { where: 'in a user namespace', by: USER_NAMESPACE, cannot: noUserNamespace, layout: undefined },
    ...LAYOUTS.map((layout) => ({ where: `on the layout ${layout}`, by: [], cannot: false, layout })),
  ])(
    'shows the main job $where, ends with nothing left to do, and leaves nothing behind',
    async ({ by, cannot, layout }, { skip }) => {
      skip(cannot, 'this machine allows no user namespaces')
      const { status, text } = await demo({ by, ...(layout !== undefined && { layout }) })
      expect(status, text).toBe(0)
      expect(commands(text)).toEqual([
        expect.stringMatching(
          /^\$ volctl explain 'orphaned pod "\S+" found, but volume paths are still present on disk'$/,
        ),
        '$ volctl status',
        '$ volctl plan',
        '$ volctl apply --orphans',
        '$ volctl plan',
        '$ volctl plan',
        '$ volctl apply',
        '$ volctl wait --for=mounted shop/web-0',
        '$ volctl plan',
      ])
      for (const reason of ['PodGone', 'LeakedSubPath', 'StagedWithoutPod', 'NotWanted']) expect(text).toContain(reason)
      expect(text).toMatch(
        /(?:Nothing is left to do|No operation is left: [^.]*)\..*Nothing to do(?: yet)?: .*The content of every volume is unchanged\./s,
      )
      expectNothingLeft()
    },
  )

  it.skipIf(noCgroups !== undefined)(
    `takes no pod of a kubelet on this machine for one of its own${noCgroups === undefined ? '' : ` (${noCgroups})`}`,
    async () => {
      const podProcess = spawn('sleep', ['infinity'])
      await once(podProcess, 'spawn')
      const podUid = '5b0f6f0e-9d0c-4f0e-8a55-0123456789ab'
      const cgroup = moveInto(`/kubepods/burstable/pod${podUid}/container`, podProcess.pid ?? 0)
      try {
        const { status, text } = await demo()
        expect(status, text).toBe(0)
        expect(text).not.toContain(podUid)
        expectNothingLeft()
      } finally {
        podProcess.kill()
        await once(podProcess, 'exit')
        cgroup[Symbol.dispose]()
      }
    },
  )

  it.each([
    { when: 'while the node is made', mark: 'Set up a node', signal: 'SIGINT' },
    { when: 'while the node breaks', mark: 'Break the node', signal: 'SIGTERM' },
    { when: 'while volctl repairs it', mark: '$ volctl apply', signal: 'SIGINT' },
  ] as const)('interrupted $when, it leaves nothing behind', async ({ mark, signal }) => {
    let sent = false
    const { status, text } = await demo({
      onText(shown, child) {
        if (sent || !shown.includes(mark)) return
        sent = true
        child.kill(signal)
      },
    })
    expect(status, text).toBe(130)
    expect(text).toContain('Interrupted: cleaning up.')
    expectNothingLeft()
  })
})

describe('the demo where mounts are forbidden', () => {
  it('says so, and shows the plan of a recorded node', async () => {
    const bin = join(directory, 'bin')
    mkdirSync(bin)
    writeFileSync(join(bin, 'unshare'), '#!/bin/sh\necho "unshare: Operation not permitted" >&2\nexit 1\n')
    chmodSync(join(bin, 'unshare'), 0o755)
    const { status, text } = await demo({ path: `${bin}:${process.env.PATH}` })
    expect(status, text).toBe(0)
    expect(text).toContain('This user cannot create real mounts here')
    expect(commands(text)).toEqual([
      '$ volctl plan --snapshot test/fixtures/captures/forcedel-killed/before.json',
      '$ volctl plan --orphans --snapshot test/fixtures/captures/forcedel-killed/before.json',
    ])
    expect(text).toContain('RemoveOrphanPodDir')
  })
})
