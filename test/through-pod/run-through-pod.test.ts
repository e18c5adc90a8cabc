/** The flow of `volctl on`: against an API server whose kubelet does with the Pod what each row says. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createKubeClient, type PodClient } from '../../src/core/api/kube-client.ts'
import { discoverKubeConfig } from '../../src/core/api/kubeconfig/kube-config.ts'
import { VolctlError } from '../../src/core/errors/errors.ts'
import { type Errand, requireWay, runThroughPod } from '../../src/core/through-pod/run-through-pod.ts'
import type { PodFate } from '../helpers/api-server/kubelet.ts'
import { startApiServer, type TestApiServer } from '../helpers/api-server/start.ts'
import { frameLines } from '../helpers/frame-lines.ts'

const TEXT = 'a line\n'.repeat(200)
/** A container that prints what volctl would. */
const PRINTS = frameLines([
  ['start', '0.1.0'],
  ['err', 'a warning\n'],
  ...Array.from({ length: 40 }, (_, index) => ['out', `${index} ${TEXT}`] as const),
  ['end', '2'],
])
const RUNS: PodFate & { fate: 'runs' } = {
  fate: 'runs',
  program: '/bin/sh',
  replace: [[['plan'], ['-c', `cat <<'E'\n${PRINTS}E`]]],
}
const PRINTED = Array.from({ length: 40 }, (_, index) => `${index} ${TEXT}`).join('')

function node(name: string, ready?: object, labels = {}): object {
  const conditions =
    ready === undefined ? [] : [{ type: 'Ready', lastTransitionTime: '2026-11-22T20:00:00Z', ...ready }]
  return { apiVersion: 'v1', kind: 'Node', metadata: { name, labels }, status: { conditions } }
}

let server: TestApiServer
beforeAll(async () => {
  server = await startApiServer({
    objects: [
      node('node7', { status: 'True' }),
      node('silent', { status: 'Unknown', message: 'Kubelet stopped posting node status.' }),
      node('never-seen'),
      node('sick', { status: 'False', message: 'PLEG is not healthy' }),
      node('no-cni', { status: 'False', message: 'container runtime network not ready: cni plugin not initialized' }),
      node('windows', { status: 'True' }, { 'kubernetes.io/os': 'windows' }),
    ],
  })
})
afterAll(() => server.stop())

interface Outcome {
  readonly status?: number
  readonly error?: VolctlError
  readonly out: string
  readonly err: string
  readonly said: readonly string[]
  readonly requests: readonly string[]
}

interface Given {
  readonly node?: string
  readonly user?: string
  readonly fate?: PodFate
  readonly startMs?: number
  readonly stop?: AbortSignal
  readonly abandon?: AbortSignal
  readonly onOut?: () => void
}

async function run({
  node = 'node7',
  user = 'on',
  fate = RUNS,
  startMs = 20_000,
  stop,
  abandon,
  onOut,
}: Given): Promise<Outcome> {
  await server.setPods(fate)
  await server.clearRequests()
  const client: PodClient = createKubeClient(discoverKubeConfig({ kubeconfig: server.kubeconfig(user) }))
  const pieces = { out: '', err: '' }
  const said: string[] = []
  const errand: Errand = {
    node,
    args: ['plan'],
    command: 'plan',
    version: '0.1.0',
    pod: { namespace: 'kube-system', image: 'volctl:0.1.0', pullSecrets: [], limitSeconds: 60 },
    startMs,
    out: (bytes) => {
      pieces.out += bytes.toString()
      onOut?.()
    },
    err: (bytes) => {
      pieces.err += bytes.toString()
    },
    say: (line) => said.push(line),
    log: () => undefined,
    stop: stop ?? new AbortController().signal,
    ...(abandon && { abandon }),
  }
  const ended: { status?: number; error?: VolctlError } = {}
  try {
    await requireWay(client, errand)
    ended.status = await runThroughPod(client, errand)
  } catch (error) {
    if (!(error instanceof VolctlError)) throw error
    ended.error = error
  } finally {
    client.close()
  }
  const requests = (await server.requests()).flatMap(({ method, path, status }) =>
    path.includes('/pods') && method !== 'GET' ? `${method} ${status}` : [],
  )
  return { ...ended, ...pieces, said, requests }
}

const MADE_AND_DELETED = ['POST 200', 'DELETE 200']

it('both streams and the exit status come whole, and the Pod goes', async () => {
  expect(await run({})).toEqual({ status: 2, out: PRINTED, err: 'a warning\n', said: [], requests: MADE_AND_DELETED })
})

it('a connection that breaks in the middle of the log, twice: nothing is lost or comes twice', async () => {
  const fate = { ...RUNS, breakLogAfter: [300, 2000] }
  expect(await run({ fate })).toMatchObject({ status: 2, out: PRINTED, err: 'a warning\n', requests: MADE_AND_DELETED })
})

it('a node that lacks nothing but the network of pods will do', async () => {
  expect(await run({ node: 'no-cni' })).toMatchObject({ status: 2 })
})

interface Row extends Given {
  readonly name: string
  readonly code: string
  readonly says: RegExp
  readonly hints?: RegExp
  readonly made?: readonly string[]
}

const rows: readonly Row[] = [
  { name: 'no such node', node: 'node8', code: 'NotFound', says: /has no node "node8"/, made: [] },
  {
    name: 'a kubelet that does not report',
    node: 'silent',
    code: 'PodNotStarted',
    says: /^silent is not ready since 2026-11-22T20:00:00Z: its kubelet does not report\. No Pod would start there$/,
    hints: /ssh silent sudo volctl plan$/,
    made: [],
  },
  {
    name: 'a node that has no state yet',
    node: 'never-seen',
    code: 'PodNotStarted',
    says: /its kubelet does not report/,
    made: [],
  },
  {
    name: 'a kubelet that cannot start pods',
    node: 'sick',
    code: 'PodNotStarted',
    says: /not ready.*PLEG/,
    made: [],
  },
  { name: 'Windows', node: 'windows', code: 'PodNotStarted', says: /Windows/, made: [] },
  { name: 'no rights at all', user: 'nobody', code: 'Forbidden', says: /nodes|may not create/, made: [] },
  {
    name: 'rights to read alone',
    user: 'plan',
    code: 'Forbidden',
    says: /may not create pods, get pods, get pods\/log, delete pods in the namespace kube-system$/,
    hints: /^Bind deploy\/clusterrole-on\.yaml/,
    made: [],
  },
  {
    name: 'Pod Security',
    fate: { fate: 'denied', message: 'violates PodSecurity "baseline:latest": host namespaces (hostPID=true)' },
    code: 'PodNotStarted',
    says: /^the Pod is not admitted: .*violates PodSecurity "baseline:latest"/,
    hints: /^Choose a namespace that admits privileged Pods, such as kube-system: --pod-namespace/,
    made: ['POST 403'],
  },
  {
    name: 'a webhook',
    fate: { fate: 'denied', message: 'admission webhook "x.example.com" denied the request: no' },
    code: 'PodNotStarted',
    says: /admission webhook "x.example.com" denied/,
    hints: /^Choose another namespace/,
    made: ['POST 403'],
  },
  {
    name: 'an image that cannot be pulled',
    fate: { fate: 'waits', reason: 'ImagePullBackOff', message: 'Back-off pulling image "volctl:0.1.0"' },
    code: 'PodNotStarted',
    says: /^the Pod does not start on node7: ImagePullBackOff: Back-off pulling image "volctl:0\.1\.0"$/,
    hints: /^The node cannot get the image volctl:0\.1\.0: give another with --image/,
  },
  {
    name: 'a kubelet that says nothing in time',
    fate: { fate: 'waits' },
    startMs: 50,
    code: 'PodNotStarted',
    says: /not within 50ms: the kubelet has not said anything/,
  },
  {
    name: 'a pull that takes too long',
    fate: { fate: 'waits', reason: 'ErrImagePull', message: 'rpc error: i/o timeout' },
    startMs: 50,
    code: 'PodNotStarted',
    says: /not within 50ms: ErrImagePull: rpc error: i\/o timeout/,
    hints: /cannot get the image/,
  },
  {
    name: 'a Pod that the kubelet rejects',
    fate: { fate: 'rejected', reason: 'OutOfpods', message: "Node didn't have enough resource: pods" },
    code: 'AnswerCutOff',
    says: /ended before volctl did: OutOfpods: Node didn't have enough/,
  },
  {
    name: 'an image with something else in it',
    fate: { fate: 'runs', program: '/bin/echo', replace: [] },
    code: 'AnswerCutOff',
    says: /ended before volctl did: Completed: exit status 0; it printed: plan$/,
    hints: /^Check that the image volctl:0\.1\.0 has a volctl of this version/,
  },
  {
    name: 'a Pod that is ended by its deadline',
    fate: { ...RUNS, killAfter: 200 },
    code: 'AnswerCutOff',
    says: /ended before volctl did: DeadlineExceeded: /,
    hints: /^--time-limit .* \(now 1m\)\.$/,
  },
  {
    name: 'a log that lost lines',
    fate: { ...RUNS, loseLines: [3] },
    code: 'AnswerCutOff',
    says: /^the answer from node7 is not whole: lines of the log are missing$/,
  },
]

describe('where it fails: one clear line, and no Pod left', () => {
  it.each(rows)('$name', async ({ code, says, hints = /./, made = MADE_AND_DELETED, ...given }) => {
    const { error, status, said, requests } = await run(given)
    expect({ code: error?.code, status, said, requests }).toEqual({ code, status: undefined, said: [], requests: made })
    expect(error?.message).toMatch(says)
    expect(error?.hint ?? '-').toMatch(hints)
    expect(`${error?.message}${error?.hint}`).not.toContain('\n')
  })

  it('the answer to its creation is lost: a Pod that may be there is deleted', async () => {
    await server.setFaults({ method: 'POST', path: '/pods', action: { type: 'lose' } })
    const { error, requests } = await run({})
    await server.setFaults()
    expect(error?.code).toBe('ApiUnreachable')
    expect(requests).toContain('DELETE 200')
  })

  it('a Pod that cannot be deleted is named, with when it ends; the next run names it as well', async () => {
    await server.setFaults({ method: 'DELETE', action: { type: 'status', status: 500 } })
    const { status, said } = await run({})
    await server.setFaults()
    expect({ status, said }).toEqual({
      status: 2,
      said: [
        expect.stringMatching(/^The Pod volctl-on-node7-\w{5} could not be deleted: /),
        expect.stringMatching(
          /it ends 1m after its start; to delete it: kubectl -n kube-system delete pod volctl-on-node7-\w{5}$/,
        ),
      ],
    })
    const next = await run({})
    expect(next.said).toEqual([
      expect.stringMatching(
        /^note: the Pod (volctl-on-node7-\w{5}) of an earlier run is left, made at .*: kubectl -n kube-system delete pod \1$/,
      ),
    ])
    await server.remove('Pod', /volctl-on-node7-\w{5}/.exec(next.said[0] ?? '')?.[0] ?? '', 'kube-system')
  })
})

it('a Pod that is being deleted, as that of the run before, is none that is left', async () => {
  const labels = { 'app.kubernetes.io/name': 'volctl', 'app.kubernetes.io/managed-by': 'volctl-on' }
  const pod = (name: string, times: object): object => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'kube-system', uid: name, labels, finalizers: ['test/held'], ...times },
    spec: { nodeName: 'node7' },
    status: { phase: 'Succeeded' },
  })
  await server.put(
    pod('volctl-on-node7-gone1', { deletionTimestamp: '2026-11-22T20:00:00Z' }),
    pod('volctl-on-node7-left1', {}),
  )
  const { said } = await run({})
  expect(said).toEqual([expect.stringMatching(/^note: the Pod volctl-on-node7-left1 of an earlier run is left/)])
  for (const name of ['volctl-on-node7-gone1', 'volctl-on-node7-left1']) await server.remove('Pod', name, 'kube-system')
})

describe('interrupted', () => {
  /** It prints, and then goes on until it gets SIGTERM, as an apply does. */
  const lasting = frameLines([
    ['start', '0.1.0'],
    ['out', 'begun\n'],
  ])
  const last = frameLines(
    [
      ['out', 'finished\n'],
      ['end', '130'],
    ],
    2,
  )
  const LASTS: PodFate = {
    fate: 'runs',
    program: '/bin/sh',
    replace: [
      [
        ['plan'],
        ['-c', `trap 'printf "%s" "${last}"; exit 130' TERM; cat <<'E'\n${lasting}E\nwhile :; do sleep 0.05; done`],
      ],
    ],
  }

  it('what only reads is left at once, and the Pod goes', async () => {
    const stop = new AbortController()
    const { error, out, requests } = await run({ fate: LASTS, stop: stop.signal, onOut: () => stop.abort() })
    expect({ code: error?.code, exit: error?.exit, out, requests }).toEqual({
      code: 'Interrupted',
      exit: 130,
      out: 'begun\n',
      requests: MADE_AND_DELETED,
    })
  })

  it('before the Pod runs', async () => {
    await server.clearRequests()
    const stop = new AbortController()
    const outcome = run({ fate: { fate: 'waits' }, stop: stop.signal })
    await expect
      .poll(async () =>
        (await server.requests()).some(({ method, path }) => method === 'POST' && path.endsWith('/pods')),
      )
      .toBe(true)
    stop.abort()
    const { error, requests } = await outcome
    expect({ code: error?.code, requests }).toEqual({ code: 'Interrupted', requests: MADE_AND_DELETED })
  })

  it('an apply gets SIGTERM, and its answer is waited for', async () => {
    const [stop, abandon] = [new AbortController(), new AbortController()]
    const signals = { stop: stop.signal, abandon: abandon.signal }
    const outcome = await run({ fate: LASTS, ...signals, onOut: () => stop.abort() })
    expect(outcome).toEqual({ status: 130, out: 'begun\nfinished\n', err: '', said: [], requests: MADE_AND_DELETED })
  })

  it('an apply that ends before the API server has answered the deletion: the Pod is not called undeleted', async () => {
    await server.setFaults({ method: 'DELETE', path: '/pods/', action: { type: 'hold' } })
    const [stop, abandon] = [new AbortController(), new AbortController()]
    let pieces = 0
    const onOut = (): void => {
      pieces++
      stop.abort()
    }
    const outcome = run({ stop: stop.signal, abandon: abandon.signal, onOut })
    await expect.poll(() => pieces).toBe(40)
    await server.setFaults()
    expect(await outcome).toMatchObject({ status: 2, out: PRINTED, said: [], requests: MADE_AND_DELETED })
  })
})
