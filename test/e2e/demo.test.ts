import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { moveInto, noCgroups } from '../helpers/cgroup.ts'
import { loopDevicesWork } from '../helpers/csi-driver/start.ts'
import { sweep, temporary } from '../helpers/left-behind.ts'
import { noMounts } from '../helpers/namespace.ts'
import { VOLCTL } from '../helpers/volctl-program.ts'

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
  /** Started from a terminal, on which nobody types; default: without one. */
  readonly terminal?: boolean
  /** Of its standard input, and whether it waits for Enter. */
  readonly step?: boolean
  /** Of the demo; default: what the tests use. */
  readonly program?: string
}

/** Runs the demo with a temporary directory of its own, in a process group of its own. */
async function demo(settings: Settings = {}): Promise<Shown> {
  const { onText, path = process.env.PATH, by = [], terminal = false, step = false, program } = settings
  const line = [...by, process.execPath, '--no-warnings', DEMO, ...(step ? ['--step'] : [])]
  const [file = '', ...args] = terminal ? onTerminal(line) : line
  const child = spawn(file, args, {
    // The terminal's keyboard stays silent, and is not at its end.
    stdio: [terminal || step ? 'pipe' : 'ignore', 'pipe', 'pipe'],
    env: { ...process.env, PATH: path, TMPDIR: directory, TERM: 'xterm', ...(program && { VOLCTL_PROGRAM: program }) },
    detached: true,
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (more: string) => {
      text += more
      onText?.(text, child)
    })
  }
  // Not before everything that it started has let go of its output, too.
  const [status] = (await once(child, 'close')) as [number | null]
  return { status, text }
}

/** Wide enough that no reason is wrapped, and so low that any answer would be paged. */
function onTerminal(line: readonly string[]): string[] {
  const words = line.map((word) => `'${word}'`).join(' ')
  return ['script', '-qec', `stty rows 10 cols 250; exec ${words}`, '/dev/null']
}

function expectNothingLeft(): void {
  expect(readdirSync(directory)).toEqual([])
  expect(readFileSync('/proc/self/mountinfo', 'utf8')).not.toContain(directory)
  if (loopDevicesWork()) expect(execFileSync('losetup', ['--list'], { encoding: 'utf8' })).not.toContain(directory)
}

const KILLS = ['A node is set up', '$ volctl apply', '$ volctl status']

/** Root of a user namespace, as a plain user's demo is in the one that it makes for itself. */
const USER_NAMESPACE = ['unshare', '-U', '-r']
const noUserNamespace = spawnSync('unshare', ['-U', '-r', '-m', 'true']).status !== 0

/** Does something to the demo as soon as that text is shown. */
function onceShown(mark: string, act: (pid: number) => void): NonNullable<Settings['onText']> {
  let done = false
  return (shown, { pid }) => {
    if (done || pid === undefined || !shown.includes(mark)) return
    done = true
    act(pid)
  }
}

const START = 'Next: systemctl start kubelet.service  #'

const commands = (text: string): string[] => text.split(/\r?\n/).filter((line) => line.startsWith('$ '))

describe.skipIf(noMounts !== undefined)(`the demo${noMounts === undefined ? '' : `: ${noMounts}`}`, () => {
  it.for([
    { where: 'on a terminal', settings: { terminal: true }, cannot: false },
    { where: 'without a terminal, in a user namespace', settings: { by: USER_NAMESPACE }, cannot: noUserNamespace },
  ])(
    'shows the main job $where, ends with nothing left to do, and leaves nothing behind',
    async ({ settings, cannot }, { skip }) => {
      skip(cannot, 'this machine allows no user namespaces')
      const { status, text } = await demo(settings)
      expect(status, text).toBe(0)
      expect(commands(text)).toEqual([
        '$ volctl plan',
        expect.stringMatching(
          /^\$ volctl explain 'orphaned pod "\S+" found, but volume paths are still present on disk'$/,
        ),
        expect.stringMatching(/^\$ volctl apply --orphans --yes /),
        '$ volctl status',
      ])
      for (const words of ['2 deleted pods left something here', 'pv-old   unstage and detach', 'pv-idle   detach'])
        expect(text.replaceAll(/ {4,}/g, '   ')).toContain(words)
      expect(text).toMatch(
        /Nothing is left to do\..*The content of every volume is unchanged\..*everything that it created\..*volctl plan .*volctl apply --stop-kubelet .*volctl explain [^\n]*\s*$/s,
      )
      expect(text.match(/Next: (.*?) {2}#/g)).toEqual(['Next: volctl apply  #', ...Array(2).fill(START)])
      expect(text.split('\n').length).toBeLessThanOrEqual(120)
      // As wide as the least terminal.
      expect(text.match(/^done .{76,}$/gm)).toBe(null)
      expectNothingLeft()
    },
  )

  it('with --step it waits for Enter before each command', async () => {
    const { status, text } = await demo({
      step: true,
      onText: (shown, { stdin }) => {
        if (!shown.endsWith('\n') || !/^Enter: .*\n$/m.test(shown.slice(shown.lastIndexOf('Enter:')))) return
        stdin?.write('\n')
      },
    })
    expect(status, text).toBe(0)
    expect(text.match(/^Enter: volctl \w+/gm)).toEqual(
      commands(text)
        .map((line) => /volctl \w+/.exec(line)?.[0])
        .map((line) => `Enter: ${line}`),
    )
    expectNothingLeft()
  })

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
    { when: 'while the node is made', mark: 'A node is set up', signal: 'SIGINT' },
    { when: 'while the node breaks', mark: 'The kubelet goes down', signal: 'SIGTERM' },
    { when: 'while volctl repairs it', mark: '$ volctl apply', signal: 'SIGINT' },
  ] as const)('interrupted $when, it leaves nothing behind', async ({ mark, signal }) => {
    const { status, text } = await demo({ onText: onceShown(mark, (pid) => process.kill(pid, signal)) })
    expect(status, text).toBe(130)
    expect(text).toContain('Interrupted: cleaning up.')
    expectNothingLeft()
  })

  it('stops at the first command that fails, and says so', async () => {
    const program = join(directory, 'failing')
    writeFileSync(program, `#!/bin/sh\n[ "$1" != status ] || exit 5\nexec '${VOLCTL}' "$@"\n`, { mode: 0o755 })
    const { status, text } = await demo({ program })
    expect(status, text).toBe(1)
    expect(commands(text).at(-1)).toBe('$ volctl status')
    expect(text).toContain('The demo stops: volctl status --no-pager ended with exit status 5\n')
    rmSync(program)
    expectNothingLeft()
  })

  it('killed with all its processes, it leaves nothing that the next one does not sweep', async () => {
    let left: string | undefined
    const expectSwept = (text: string): void => {
      if (left !== undefined)
        expect(text).toContain(`An earlier demo was killed: what it left in ${left} is removed.\n`)
    }
    for (const mark of KILLS) {
      const { status, text } = await demo({ onText: onceShown(mark, (pid) => process.kill(-pid, 'SIGKILL')) })
      expect(status, text).toBe(null)
      expectSwept(text)
      const directories = readdirSync(directory)
      expect(directories).toHaveLength(1)
      left = join(directory, directories[0] ?? '')
    }
    const { text } = await demo({ onText: onceShown('A node is set up', (pid) => process.kill(pid, 'SIGINT')) })
    expectSwept(text)
    expectNothingLeft()
  })
})

describe('the demo where mounts are forbidden', () => {
  it.each([false, true])('says so, and shows the plan of a recorded node; on a terminal: %s', async (terminal) => {
    const bin = join(directory, 'bin')
    mkdirSync(bin)
    writeFileSync(join(bin, 'unshare'), '#!/bin/sh\necho "unshare: Operation not permitted" >&2\nexit 1\n')
    chmodSync(join(bin, 'unshare'), 0o755)
    const { status, text } = await demo({ path: `${bin}:${process.env.PATH}`, terminal })
    expect(status, text).toBe(0)
    expect(text).toContain('This user cannot create real mounts here')
    expect(commands(text)).toEqual([
      '$ volctl plan --snapshot test/fixtures/captures/forcedel-killed/before.json',
      '$ volctl plan --orphans --snapshot test/fixtures/captures/forcedel-killed/before.json',
    ])
    expect(text).toContain('remove 3 directories')
  })
})
