/** S33, S34: programs are found on a fixed path, and no variable of the caller's reaches Node or what is started. */
import { execFile, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import { kubeconfigText } from '../../helpers/api-server/users.ts'
import { it } from '../../helpers/machine.ts'
import { noMounts, noRoot } from '../../helpers/namespace.ts'
import { sh } from '../../helpers/scenario.ts'
import { makeScene } from '../../helpers/scene/scene.ts'
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
async function prepare({ directory, api }: TrustNode): Promise<void> {
  symlinkSync(VOLCTL, `${directory}/volctl`)
  mkdirSync('/run/systemd/system', { recursive: true })
  mkdirSync(`${directory}/shared`)
  await api.put({
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
  it.for(['stopped', 'elsewhere'])(
    'S33: runs nothing and loads nothing; kubelet: %s',
    async (kubelet, { directory }) => {
      await using node = await startNode(directory, { kubelet: kubelet === 'stopped' ? kubelet : 'none' })
      // volctl has to go into its mount namespace.
      const through = ['unshare', '-m', '--propagation', 'unchanged']
      if (kubelet === 'elsewhere') await node.start({ name: 'kubelet', flags: node.flags(), through })
      await prepare(node)
      const { env, places } = lies(node)
      const plain = await planAndApply(node, {})
      expect(plain).toMatchObject({ plan: { node: NODE }, mounted: false })
      expect(await planAndApply(node, env)).toEqual(plain)
      expect({ ran: node.marker.read(), written: places.flatMap(writtenIn) }).toEqual({ ran: '', written: [] })
    },
  )

  it('S34: makes no server believed that the kubeconfig does not vouch for', async ({ directory }) => {
    // A kubelet's own credential would be asked with, too (S2), and that is in order.
    await using node = await startNode(directory, { kubelet: 'none' })
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
    expect(await node.api.requests()).toEqual([])
  })

  it('S34: VOLCTL_REENTERED and VOLCTL_CALLER change nothing', async ({ directory }) => {
    await using node = await startNode(directory)
    const [own, here, there] = ['container', 'here', 'there'].map((name) => `${directory}/${name}`) as [
      string,
      string,
      string,
    ]
    for (const each of [here, there]) mkdirSync(each)
    const other = await node.start({ name: 'other', cwd: there })
    const given = ['plan', '-o', 'json', '--kubeconfig', node.api.kubeconfig('admin')]
    const look = async (env: NodeJS.ProcessEnv): Promise<object> => {
      // As a container has it: the node's root file system below a directory, and the kubelet's directory hidden.
      const inside = await node.volctl([...given, '--host-root', `${own}/host`], {
        script: `exec unshare -m --propagation slave sh -c '${CONTAINER}' sh "$@"`,
        env: { HOST_ROOT_IN_TEST: own, ROOT_IN_TEST: node.root, ...env },
      })
      const saved = await node.volctl([...given, '--out', 'saved.plan'], { cwd: here, env })
      const runs = [inside, saved].map((run) => ({ status: run.status, stderr: run.stderr, says: essence(run) }))
      const files = [here, there].map((place) => existsSync(`${place}/saved.plan`))
      rmSync(`${here}/saved.plan`, { force: true })
      return { runs, files }
    }
    const truth = await look({})
    const says = { node: NODE, pods: { gone: 1 } }
    expect(truth).toMatchObject({
      runs: [
        { status: 0, stderr: '', says },
        { status: 0, says },
      ],
      files: [true, false],
    })
    const caller = `/proc/${other.pid}`
    expect(await look({ VOLCTL_REENTERED: '1' })).toEqual(truth)
    expect(await look({ VOLCTL_CALLER: caller, VOLCTL_REENTERED: '2' })).toEqual(truth)
  })
})

const CONTAINER = `
own=$HOST_ROOT_IN_TEST; mkdir -p "$own/host" && mount --rbind / "$own/host" && mount -t tmpfs hidden "$ROOT_IN_TEST" && exec "$@"`

const noTrace =
  noMounts ??
  (spawnSync('strace', ['-f', '-o', '/dev/null', 'true']).status === 0 ? undefined : 'strace(1) does not work here')

/** Each would be noticed: it names a program of the caller's, or something that Node, OpenSSL or the loader obeys. */
const LEFT_BEHIND = {
  NODE_OPTIONS: '--no-such-option',
  NODE_PATH: '/nowhere',
  NODE_EXTRA_CA_CERTS: '/nowhere',
  NODE_TLS_REJECT_UNAUTHORIZED: '0',
  OPENSSL_CONF: '/nowhere',
  SSL_CERT_FILE: '/nowhere',
  VOLCTL_REENTERED: '1',
  VOLCTL_CALLER: '/proc/1',
  BASH_ENV: '/nowhere',
  ENV: '/nowhere',
  SECRET: 'of the caller',
}

/** SECURITY.md lists the programs, src/core/trust/environment.ts the variables. */
const KEPT =
  /^(HOME|LANG|LC_ALL|LC_CTYPE|LC_MESSAGES|TERM|COLORTERM|NO_COLOR|FORCE_COLOR|COLUMNS|LINES|TZ|PATH|PWD|KUBECONFIG|(HTTPS?|NO|ALL)_PROXY|https?_proxy|no_proxy|all_proxy|KUBERNETES_SERVICE_(HOST|PORT)|CONTAINER_RUNTIME_ENDPOINT|SUDO_(UID|USER)|VOLCTL_TEST_HOST)$/

interface Started {
  readonly path: string
  /** Names of the variables that it got, sorted. */
  readonly variables: readonly string[]
  readonly programPath: string | undefined
}

/** `812 execve("/usr/bin/stat", ["stat", "-f"], ["LC_ALL=C", "PATH=/usr/bin"]) = 0` */
function startedOf(trace: string): Started[] {
  return trace.split('\n').flatMap((line) => {
    const [, path, , env] = /execve\("((?:[^"\\]|\\.)*)", (\[.*?\]), \[(.*)\]\) += /.exec(line) ?? []
    if (path === undefined || env === undefined) return []
    const variables = [...env.matchAll(/"([^"=\\]+)=((?:[^"\\]|\\.)*)"/g)]
    const programPath = variables.find(([, name]) => name === 'PATH')?.[2]
    return [{ path, variables: variables.map(([, name = '']) => name).sort(), programPath }]
  })
}

describeUnless(noTrace, 'strace of a plan', () => {
  it('S33: each program has an absolute path and nothing of the environment of the caller', async ({ directory }) => {
    const callers = `${directory}/callers-bin`
    mkdirSync(callers)
    for (const name of ['readlink', 'find', 'env', 'node', 'stat', 'systemctl', 'nsenter', 'lsns'])
      writeFileSync(`${callers}/${name}`, `#!/bin/sh\necho ${name} >>${directory}/ran\nexit 1\n`, { mode: 0o755 })
    // So that it is asked for: systemd runs, and no kubelet does.
    sh('mount', '-t', 'tmpfs', 'tmpfs', '/run')
    mkdirSync('/run/systemd/system', { recursive: true })
    const scene = await makeScene({ directory: `${directory}/scene`, small: true })
    try {
      await scene.breakIt()
      const trace = `${directory}/trace`
      const traced = ['-f', '-v', '-s', '65536', '-e', 'trace=execve', '-o', trace]
      // The launcher is what is looked at.
      await promisify(execFile)('strace', [...traced, TEST_BUNDLE, 'plan', '--orphans', '-o', 'json'], {
        env: { ...scene.env, ...LEFT_BEHIND, PATH: `${callers}:/usr/bin:/bin`, HOME: '/root' },
        maxBuffer: 1 << 26,
      })
      // The launcher itself is started by the caller; find(1) alone gets what is left of his.
      const [launcher, ...later] = startedOf(readFileSync(trace, 'utf8'))
      const fromNode = later.slice(later.findIndex(({ path }) => path.endsWith('/bin/node')))
      const [node, ...programs] = fromNode
      expect(launcher?.path).toMatch(/\/bin\/volctl$/)
      expect(node?.path).toMatch(/\/bin\/node$/)
      expect(node?.variables.filter((name) => !KEPT.test(name))).toEqual([])
      expect(node?.programPath).not.toContain('callers-bin')
      expect(later.filter(({ path }) => !path.startsWith('/'))).toEqual([])
      expect(programs.length).toBeGreaterThan(0)
      for (const { path, variables } of programs)
        expect({ path, variables }).toEqual({ path, variables: ['LC_ALL', 'PATH', 'TZ'] })
      expect(existsSync(`${directory}/ran`)).toBe(false)
    } finally {
      await scene.dispose()
      sh('umount', '-l', '/run')
    }
  })
})
