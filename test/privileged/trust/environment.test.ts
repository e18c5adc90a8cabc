/** S33, S34: programs are found on a fixed path, and no variable of the caller's reaches Node or what is started. */
import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { expect } from 'vitest'
import { kubeconfigText } from '../../helpers/api-server/users.ts'
import { it } from '../../helpers/machine.ts'
import { noRoot } from '../../helpers/namespace.ts'
import { sh } from '../../helpers/scenario.ts'
import { TEST_BUNDLE, VOLCTL } from '../../helpers/volctl-program.ts'
import { describeUnless } from '../describe-unless.ts'
import { podUid } from '../workers/real-node.ts'
import { essence, makeVolume, NODE, startNode, type TrustNode } from './node.ts'
import { foreignDirectory, givenAway } from './strangers.ts'
import { codeOf } from './watched-run.ts'

/** Whatever volctl, its launcher or its children may start. */
const PROGRAMS = [
  ...['systemctl', 'nsenter', 'stat', 'readlink', 'sh', 'bash', 'env', 'node', 'id', 'uname', 'dirname', 'find', 'ls'],
  ...['mount', 'umount', 'losetup', 'blkid', 'findmnt', 'fsck', 'mkdir', 'cat', 'getent', 'setpriv', 'unshare', 'rm'],
]

/** The launcher has a link to resolve, systemd runs, and a path is to be looked at. */
function prepare({ directory, api }: TrustNode): void {
  symlinkSync(VOLCTL, `${directory}/volctl`)
  mkdirSync('/run/systemd/system', { recursive: true })
  mkdirSync(`${directory}/shared`)
  api.put({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'idle', namespace: 'default', uid: podUid(7) },
    spec: {
      nodeName: NODE,
      containers: [{ name: 'main', volumeMounts: [{ name: 'shared', mountPath: '/shared' }] }],
      volumes: [{ name: 'shared', hostPath: { path: `${directory}/shared`, type: 'Directory' } }],
    },
    status: { phase: 'Pending' },
  })
}

async function planAndApply(node: TrustNode, env: NodeJS.ProcessEnv): Promise<object> {
  makeVolume(node.root, 1)
  const run = (...args: readonly string[]) =>
    node.volctl([...args, '-o', 'json', '--kubeconfig', node.api.kubeconfig('admin')], {
      env,
      script: `shift; exec ${node.directory}/volctl "$@"`,
    })
  const plan = await run('plan')
  const apply = await run('apply', '--yes')
  const mounted = node.isMounted()
  if (mounted) sh('umount', node.volume)
  rmSync(`${node.root}/pods/${podUid(7)}`, { recursive: true, force: true })
  return { plan: essence(plan), status: [plan.status, apply.status], code: codeOf(apply), mounted }
}

function lies(node: TrustNode): { readonly env: NodeJS.ProcessEnv; readonly places: readonly string[] } {
  const own = foreignDirectory(`${node.directory}/stranger`)
  // They do what they should besides, so that none hides another.
  for (const name of PROGRAMS) {
    const real = name === 'node' ? process.execPath : name
    givenAway(node.marker.program(`${own}/bin/${name}`, `PATH=/usr/sbin:/usr/bin:/sbin:/bin; exec ${real} "$@"`))
  }
  const code = `require('node:fs').appendFileSync(${JSON.stringify(node.marker.path)}, 'loaded\\n')\n`
  writeFileSync(`${own}/evil.cjs`, code)
  sh('mkfifo', `${own}/zone`)
  const places = ['cache', 'coverage', 'warnings'].map((name) => `${own}/${name}`)
  for (const place of places) foreignDirectory(place)
  const [cache, coverage, warnings] = places
  return {
    places,
    env: {
      PATH: `${own}/bin:${process.env.PATH}`,
      // Whoever reads it waits for a writer.
      TZ: `${own}/zone`,
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

/**
 * Node.js makes an empty directory where NODE_COMPILE_CACHE says, before anything of volctl runs. The launcher takes the variable
 * away; in the executable there is nothing before Node.js.
 */
function writtenIn(place: string): string[] {
  const entries = readdirSync(place, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => VOLCTL === TEST_BUNDLE || !entry.isDirectory()).map(({ name }) => name)
}

describeUnless(noRoot, "the caller's environment", () => {
  it.for(['stopped', 'none'] as const)(
    'S33: runs nothing and loads nothing; kubelet on the node itself: %s',
    async (kubelet, { directory }) => {
      await using node = await startNode(directory, kubelet)
      // Elsewhere, so that volctl has to go into its mount namespace.
      const through = ['unshare', '-m', '--propagation', 'unchanged']
      if (kubelet === 'none') await node.start({ name: 'kubelet', flags: node.flags(), through })
      prepare(node)
      const { env, places } = lies(node)
      const plain = await planAndApply(node, {})
      expect(plain).toMatchObject({ plan: { node: NODE }, mounted: false })
      expect(await planAndApply(node, env)).toEqual(plain)
      expect({ ran: node.marker.read(), written: places.flatMap(writtenIn) }).toEqual({ ran: '', written: [] })
    },
  )

  it('S34: makes no server believed that the kubeconfig does not vouch for', async ({ directory }) => {
    // A kubelet's own credential would be asked with, too (S2), and that is in order.
    await using node = await startNode(directory, 'none')
    const file = `${directory}/kubeconfig`
    writeFileSync(file, kubeconfigText({ server: node.api.url }, { token: 'secret' }), { mode: 0o600 })
    const plan = async (env: NodeJS.ProcessEnv) => {
      const run = await node.volctl(['plan', '-o', 'json', '--kubeconfig', file], { env })
      return { status: run.status, code: codeOf(run) }
    }
    const authority = `${node.api.directory}/ca.crt`
    const plain = await plan({})
    expect(plain).toEqual({ status: 1, code: expect.stringMatching(/./) })
    expect(await plan({ NODE_TLS_REJECT_UNAUTHORIZED: '0', NODE_EXTRA_CA_CERTS: authority })).toEqual(plain)
    const openssl = { SSL_CERT_FILE: authority, NODE_USE_SYSTEM_CA: '1', NODE_OPTIONS: '--use-openssl-ca' }
    expect(await plan(openssl)).toEqual(plain)
    expect(node.api.requests()).toEqual([])
  })
})
