/** A caller whose PATH and whose variables for Node lead to another user's programs. */
import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { runScenario, sh } from '../../helpers/scenario.ts'
import { TEST_BUNDLE, VOLCTL } from '../../helpers/volctl-program.ts'
import { podUid } from '../workers/real-node.ts'
import { execKubeconfig, kubeconfigText } from './kubeconfigs.ts'
import { essence, makeVolume, NODE, type TrustNode, withNode } from './node.ts'
import { foreignDirectory, givenAway } from './strangers.ts'
import { codeOf } from './watched-run.ts'

/** Whatever volctl, its launcher or its children may start. */
const PROGRAMS = [
  ...['systemctl', 'nsenter', 'stat', 'readlink', 'sh', 'bash', 'env', 'node', 'id', 'uname', 'dirname', 'find', 'ls'],
  ...['mount', 'umount', 'losetup', 'blkid', 'findmnt', 'fsck', 'mkdir', 'cat', 'getent', 'setpriv', 'unshare', 'rm'],
]

const FIXED_PATH = '/usr/sbin:/usr/bin:/sbin:/bin'

export interface Report {
  /** Of a plain caller, and of one who is lied to. */
  readonly plain: unknown
  readonly lied: unknown
  readonly ran: string
  /** What Node wrote where the environment said. */
  readonly written: readonly string[]
}

/** The launcher has a link to resolve, systemd runs, and a path is to be looked at. */
async function prepare(node: TrustNode): Promise<void> {
  symlinkSync(VOLCTL, `${node.directory}/volctl`)
  mkdirSync('/run/systemd/system', { recursive: true })
  mkdirSync(`${node.directory}/shared`)
  await node.api.put({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'idle', namespace: 'default', uid: podUid(7) },
    spec: {
      nodeName: NODE,
      containers: [{ name: 'main', volumeMounts: [{ name: 'shared', mountPath: '/shared' }] }],
      volumes: [{ name: 'shared', hostPath: { path: `${node.directory}/shared`, type: 'Directory' } }],
    },
    status: { phase: 'Pending' },
  })
}

async function planAndApply(node: TrustNode, env: NodeJS.ProcessEnv): Promise<unknown> {
  makeVolume(node.root, 1)
  const run = (...args: readonly string[]) =>
    node.volctl([...args, '-o', 'json', '--kubeconfig', node.api.kubeconfig('admin')], {
      env,
      script: `shift; exec ${node.directory}/volctl "$@"`,
    })
  const plan = await run('plan')
  const apply = await run('apply', '--yes')
  const [mounted, there] = [node.isMounted(), `${node.root}/pods/${podUid(7)}`]
  if (mounted) sh('umount', node.volume)
  rmSync(there, { recursive: true, force: true })
  return { plan: essence(plan), status: [plan.status, apply.status], code: codeOf(apply), mounted }
}

function lies(node: TrustNode): { readonly env: NodeJS.ProcessEnv; readonly places: readonly string[] } {
  const own = foreignDirectory(`${node.directory}/stranger`)
  // They do what they should besides, so that none hides another.
  for (const name of PROGRAMS) {
    const real = name === 'node' ? process.execPath : name
    givenAway(node.marker.program(`${own}/bin/${name}`, `PATH=${FIXED_PATH}; exec ${real} "$@"`))
  }
  const code = `require('node:fs').appendFileSync(${JSON.stringify(node.marker.path)}, 'loaded\\n')\n`
  writeFileSync(`${own}/evil.cjs`, code)
  const places = ['cache', 'coverage', 'warnings'].map((name) => `${own}/${name}`)
  for (const place of places) foreignDirectory(place)
  const [cache, coverage, warnings] = places
  return {
    places,
    env: {
      PATH: `${own}/bin:${process.env.PATH}`,
      NODE_OPTIONS: `--require=${own}/evil.cjs`,
      NODE_PATH: own,
      NODE_COMPILE_CACHE: cache,
      NODE_V8_COVERAGE: coverage,
      NODE_REDIRECT_WARNINGS: `${warnings}/warnings`,
      NODE_PENDING_DEPRECATION: '1',
      BASH_ENV: `${own}/bin/sh`,
      ENV: `${own}/bin/sh`,
    },
  }
}

async function compare(node: TrustNode): Promise<Report> {
  await prepare(node)
  const { env, places } = lies(node)
  const plain = await planAndApply(node, {})
  const lied = await planAndApply(node, env)
  return { plain, lied, ran: node.marker.read(), written: places.flatMap(writtenIn) }
}

/**
 * Node.js makes an empty directory where NODE_COMPILE_CACHE says, before anything of volctl runs. The launcher takes the variable
 * away; in the executable there is nothing before Node.js.
 */
function writtenIn(place: string): string[] {
  const entries = readdirSync(place, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => VOLCTL === TEST_BUNDLE || !entry.isDirectory()).map(({ name }) => name)
}

await runScenario({
  stopped: (directory) => withNode(directory, {}, compare),

  /** volctl has to go into its mount namespace. */
  elsewhere: (directory) =>
    withNode(directory, { kubelet: 'none' }, async (node) => {
      await node.start({
        name: 'kubelet',
        flags: node.flags(),
        through: ['unshare', '-m', '--propagation', 'unchanged'],
      })
      return compare(node)
    }),

  /** What makes Node believe any server, or another authority. */
  authorities: (directory) =>
    // A kubelet's own credential would be asked with, too (S2), and that is in order.
    withNode(directory, { kubelet: 'none' }, async (node) => {
      const file = `${directory}/kubeconfig`
      writeFileSync(file, kubeconfigText({ server: node.api.url, user: { token: 'secret' } }), { mode: 0o600 })
      const plan = async (env: NodeJS.ProcessEnv) => {
        const run = await node.volctl(['plan', '-o', 'json', '--kubeconfig', file], { env })
        return { status: run.status, code: codeOf(run) }
      }
      const authority = `${node.api.directory}/ca.crt`
      return {
        plain: await plan({}),
        any: await plan({ NODE_TLS_REJECT_UNAUTHORIZED: '0' }),
        another: await plan({ NODE_EXTRA_CA_CERTS: authority }),
        openssl: await plan({ SSL_CERT_FILE: authority, NODE_USE_SYSTEM_CA: '1', NODE_OPTIONS: '--use-openssl-ca' }),
        // The kubelet's own credential asks as well (S2), and knows its authority.
        asked: (await node.api.requests()).filter(({ user }) => user !== `system:node:${NODE}`).length,
      }
    }),

  /** A credential plugin that is named without its directory. */
  plugin: (directory) =>
    withNode(directory, {}, async (node) => {
      const own = foreignDirectory(`${directory}/stranger`)
      givenAway(node.marker.program(`${own}/credential-of-test`))
      const file = `${directory}/kubeconfig`
      writeFileSync(file, execKubeconfig(node.api.url, 'credential-of-test'), { mode: 0o600 })
      const env = { PATH: `${own}:${process.env.PATH}` }
      const run = await node.volctl(['plan', '-o', 'json', '--kubeconfig', file], { env })
      return { status: run.status, code: codeOf(run), ran: node.marker.read() }
    }),
})
