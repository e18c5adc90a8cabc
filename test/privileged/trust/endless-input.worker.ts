/** What never ends, or becomes far more than it looks, given to volctl as an API's answer, a snapshot, or a plugin's output. */
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, constants, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { startApiServer } from '../../helpers/api-server/start.ts'
import type { TestUser } from '../../helpers/api-server/users.ts'
import { gzipBomb } from '../../helpers/hostile-server/gzip-bomb.ts'
import { startOddApi } from '../../helpers/hostile-server/start.ts'
import type { TrickName } from '../../helpers/hostile-server/tricks.ts'
import { runScenario, sh } from '../../helpers/scenario.ts'
import { execKubeconfig, kubeconfigText } from './kubeconfigs.ts'
import { NODE, nodeObject, type TrustNode, withNode } from './node.ts'
import { end } from './strangers.ts'
import { codeOf, oneLine, type RunOptions, runWatched, type WatchedRun } from './watched-run.ts'

export interface Bounded {
  readonly status: number | undefined
  readonly ended: WatchedRun['ended']
  readonly said: string
  readonly code: string | undefined
  readonly seconds: number
  readonly peakMiB: number
}

function bounded(run: WatchedRun): Bounded {
  const { status, ended, seconds, peakMiB } = run
  return { status, ended, said: oneLine(run), code: codeOf(run), seconds, peakMiB }
}

const TOKEN = 'of-an-administrator'
const ADMIN: TestUser = {
  name: 'token',
  user: 'kubernetes-admin',
  login: 'token',
  token: TOKEN,
  roles: [{ rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }] }],
}

async function planOf(node: TrustNode, mode: TrickName, path: string, command: readonly string[] = ['plan']) {
  await using api = await startApiServer({ objects: [nodeObject()], nodeName: NODE, users: [ADMIN] })
  const odd = await startOddApi(api, { mode, path })
  try {
    const file = `${node.directory}/${mode.replaceAll(' ', '-')}${path.replaceAll('/', '-')}-${command[0]}`
    const cluster = { 'certificate-authority-data': odd.authority }
    writeFileSync(file, kubeconfigText({ server: odd.url, cluster, user: { token: TOKEN } }), { mode: 0o600 })
    return bounded(await node.volctl([...command, '-o', 'json', '--kubeconfig', file]))
  } finally {
    await odd.stop()
  }
}

/** One after another, but for those that wait: a machine has few cores. */
async function inTurn(runs: Readonly<Record<string, () => Promise<Bounded>>>): Promise<Record<string, Bounded>> {
  const found: Record<string, Bounded> = {}
  for (const [name, run] of Object.entries(runs)) found[name] = await run()
  return found
}

const DEPTH = 1_000_000
const SNAPSHOT = '"apiVersion":"volctl.io/v1","kind":"NodeSnapshot"'

/** @returns the file to be named, and what to do in the end */
const SNAPSHOTS: Readonly<
  Record<string, (directory: string) => { file: string; stdin?: number; script?: string; writer?: ChildProcess }>
> = {
  '/dev/zero': () => ({ file: '/dev/zero' }),
  'a FIFO without a writer': (directory) => ({ file: fifo(directory) }),
  'a FIFO with a writer that does not end': (directory) => {
    const file = fifo(directory)
    return { file, writer: writerTo(file, 'exec cat /dev/zero') }
  },
  'a FIFO with a writer that writes JSON for ever': (directory) => {
    const file = fifo(directory)
    return { file, writer: writerTo(file, `printf '{${SNAPSHOT},"x":['; exec yes '{"a":1},'`) }
  },
  'standard input that does not end': () => ({ file: '-', stdin: openSync('/dev/zero', 'r') }),
  'a pipe that does not end': () => ({ file: '-', script: `yes '{"a":1},' | "$@"` }),
  'a gzip of 4 MB that unpacks to 4 GB': (directory) => plain(directory, gzipBomb(`{${SNAPSHOT},"x":1`, 4096)),
  'a million brackets': (directory) => plain(directory, '['.repeat(DEPTH)),
  'a million brackets in a snapshot': (directory) =>
    plain(directory, `{${SNAPSHOT},"nodeName":${'['.repeat(DEPTH)}${']'.repeat(DEPTH)}}`),
  'a million objects in a snapshot': (directory) =>
    plain(directory, `{${SNAPSHOT},"api":${'{"a":'.repeat(DEPTH)}1${'}'.repeat(DEPTH)}}`),
  'a file of 10 GB': (directory) => {
    const file = `${directory}/snapshot`
    sh('truncate', '-s', '10G', file)
    return { file }
  },
  'a directory': (directory) => ({ file: directory }),
}

function plain(directory: string, content: string | Buffer): { file: string } {
  const file = `${directory}/snapshot`
  writeFileSync(file, content)
  return { file }
}

function fifo(directory: string): string {
  const file = `${directory}/snapshot`
  sh('mkfifo', file)
  return file
}

/** Opened for both here, so that neither side waits for the other to be there. */
function writerTo(file: string, script: string): ChildProcess {
  const fd = openSync(file, constants.O_RDWR)
  const child = spawn('sh', ['-c', script], { stdio: ['ignore', fd, 'ignore'] })
  closeSync(fd)
  return child
}

/** A credential plugin, and what it does. */
const PLUGINS: Readonly<Record<string, string>> = {
  'output that does not end': 'exec yes',
  'errors that do not end': 'exec yes >&2',
  'a credential that is followed by blanks without an end': `printf '{}'; exec cat /dev/zero`,
  'a credential of a million brackets': `head -c ${DEPTH} /dev/zero | tr '\\0' '['`,
}

await runScenario({
  answers: (directory) =>
    withNode(directory, {}, async (node) => {
      const pods = '/pods'
      // A byte a second only waits; the others want a core.
      const drip = planOf(node, 'a byte now and then', pods)
      const found = await inTurn({
        endless: () => planOf(node, 'a list without end', pods),
        'endless, of the Node': () => planOf(node, 'a list without end', '/nodes/'),
        'endless, to apply': () => planOf(node, 'a list without end', pods, ['apply', '--yes']),
        'endless failure': () => planOf(node, 'a failure without end', pods),
        bomb: () => planOf(node, 'a few bytes that unpack without end', pods),
        deep: () => planOf(node, 'brackets without end', pods),
        pages: () => planOf(node, 'ever new pages, each large', pods),
      })
      return { ...found, drip: await drip }
    }),

  snapshots: async (directory) => {
    const found: Record<string, Bounded> = {}
    for (const [name, make] of Object.entries(SNAPSHOTS)) {
      const own = `${directory}/${Object.keys(found).length}`
      mkdirSync(own)
      const { file, stdin, script, writer } = make(own)
      const options: RunOptions = { ...(stdin !== undefined && { stdin }), ...(script !== undefined && { script }) }
      found[name] = bounded(await runWatched(['plan', '-o', 'json', '--snapshot', file], options))
      if (stdin !== undefined) closeSync(stdin)
      if (writer !== undefined) await end(writer)
    }
    return found
  },

  plugins: (directory) =>
    withNode(directory, {}, (node) =>
      inTurn(
        Object.fromEntries(
          Object.entries(PLUGINS).map(([name, does]) => [
            name,
            async () => {
              const plugin = node.marker.program(`${directory}/plugin`, does)
              const file = `${directory}/kubeconfig`
              writeFileSync(file, execKubeconfig(node.api.url, plugin), { mode: 0o600 })
              return bounded(await node.volctl(['plan', '-o', 'json', '--kubeconfig', file]))
            },
          ]),
        ),
      ),
    ),

  /** What a plugin is told, and what not. */
  pluginEnvironment: (directory) =>
    withNode(directory, {}, async (node) => {
      const told = `${directory}/told`
      const plugin = node.marker.program(`${directory}/plugin`, `env > ${told}; exit 1`)
      const file = `${directory}/kubeconfig`
      const own = [{ name: 'OWN', value: 'of the kubeconfig' }]
      writeFileSync(file, execKubeconfig(node.api.url, plugin, {}, { env: own }), { mode: 0o600 })
      const env = {
        SECRET: 'of the caller',
        AWS_SECRET_ACCESS_KEY: 'of the caller',
        NODE_OPTIONS: '--no-warnings',
        LD_LIBRARY_PATH: directory,
        VOLCTL_SOMETHING: 'of the caller',
        PATH: `${directory}/bin-of-the-caller:${process.env.PATH}`,
      }
      const run = await node.volctl(['plan', '-o', 'json', '--kubeconfig', file], { env })
      return { code: codeOf(run), told: existsSync(told) ? readFileSync(told, 'utf8') : '' }
    }),
})
