/** Bad input and bad company on a live node: one clear line, the right status, nothing changed. One id that contradicts: safety/standing. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Fault } from '../helpers/api-server/faults.ts'
import { startApiServer } from '../helpers/api-server/start.ts'
import { clusterObjects, NAMESPACE, NODE, node, pod } from '../helpers/scene/api-objects.ts'
import type { Scene } from '../helpers/scene/scene.ts'
import { runVolctl } from '../helpers/scene/volctl.ts'
import { it, journalOf, planOf, stateOf } from './story.ts'

/** What makes it happen. @returns flags */
type Cause = (scene: Scene) => readonly string[]

/** The administrator's kubeconfig, changed. */
function edited(scene: Scene, edit: (text: string) => string): readonly string[] {
  const path = join(scene.directory, 'edited.kubeconfig')
  writeFileSync(path, edit(readFileSync(scene.api.kubeconfig('admin'), 'utf8')), { mode: 0o600 })
  return ['--kubeconfig', path]
}

const answering =
  (action: Fault['action']): Cause =>
  ({ api }) => {
    api.setFaults({ path: '/pods', action })
    return []
  }

/** Plan refuses, and so does apply, which changes nothing. */
async function expectRefused(
  scene: Scene,
  flags: readonly string[],
  status: unknown = 4,
  says = 'refused: ',
): Promise<void> {
  const before = stateOf(scene)
  const runs = await Promise.all([
    runVolctl(scene, ['plan', ...flags]),
    runVolctl(scene, ['apply', '--orphans', '--yes', ...flags]),
  ])
  for (const run of runs) {
    expect(run.status).toBe(status)
    expect(run.stderr).toContain(says)
    // One line that says what, one that says what to do.
    expect(run.stderr.split(/^(?=volctl: )/m).at(-1)).toMatch(/^volctl: .+\n {8}.+\n$/)
    expect(run.stderr.match(/^volctl: /gm)).toHaveLength(1)
  }
  expect(stateOf(scene)).toBe(before)
}

it.for<[string, Cause, status?: 1, says?: string]>([
  [
    'an API server that is down',
    (scene) => edited(scene, (text) => text.replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:1')),
    1,
    'cannot be reached: connect ECONNREFUSED',
  ],
  [
    'S3: a user without rights',
    ({ api }) => ['--kubeconfig', api.kubeconfig('nobody')],
    1,
    'pods is forbidden: User "nobody"',
  ],
  [
    'S3: a server that answers with something else',
    answering({ type: 'body', body: '<html>login</html>' }),
    1,
    'is not JSON',
  ],
  ['S3: an API server that fails', answering({ type: 'status', status: 500 }), 1, '500'],
  ['S1: no such node', () => ['--node', 'worker-9']],
])('%s', ([, cause, ...says], { broken }) => expectRefused(broken, cause(broken), ...says))

it('S1: another cluster with a node of the same name', async ({ broken }) => {
  // On another machine, and with other pods. Nothing of what is here is known to it.
  const mine = node([]) as { metadata: object; status: object }
  const nodeInfo = { machineID: 'f'.repeat(32), systemUUID: 'another', bootID: 'another' }
  const theirs = { ...mine, metadata: { ...mine.metadata, uid: 'another' }, status: { ...mine.status, nodeInfo } }
  const strange = pod({ ...broken.pods.web, name: 'strange', uid: 'strange', volumes: [] }, '')
  const other = await startApiServer({ objects: [...clusterObjects(), theirs, strange], nodeName: NODE })
  await expectRefused(broken, ['--kubeconfig', other.kubeconfig('admin')])
  await other.stop()
})

it('S29: no pod in the API, though processes of pods run', async ({ broken }) => {
  const { web } = broken.pods
  broken.api.remove('Pod', web.name, NAMESPACE)
  await expectRefused(broken, [])
  broken.api.put(pod(web, broken.sources.hostPath))
})

/** A kubeconfig that does not verify the API server. */
function insecure(scene: Scene): readonly string[] {
  return edited(scene, (text) => {
    const config = JSON.parse(text)
    const { server } = config.clusters[0].cluster
    config.clusters[0].cluster = { server, 'insecure-skip-tls-verify': true }
    return JSON.stringify(config)
  })
}

it('S34: an API server that the kubeconfig does not verify: a plan says so; an apply wants its flag, which a saved plan keeps', async ({
  broken,
}) => {
  const kubeconfig = insecure(broken)
  const { plan } = await planOf(broken, '--orphans', ...kubeconfig)
  expect([plan.inputs.api?.insecure, plan.refused, plan.operations.length > 0]).toEqual([
    'TlsNotVerified',
    undefined,
    true,
  ])
  const before = stateOf(broken)
  const [without, accepting] = [join(broken.directory, 'without.plan'), join(broken.directory, 'accepting.plan')]
  await runVolctl(broken, ['plan', '--orphans', ...kubeconfig, '--out', without])
  for (const how of [['--orphans', '--yes'], [without]]) {
    const { status, stderr } = await runVolctl(broken, ['apply', ...how, ...kubeconfig])
    expect(status).toBe(4)
    expect(stderr).toMatch(/^volctl: refused: .*https:.* verif.*\n {8}.*--accept-insecure-api\.\n$/m)
  }
  expect(stateOf(broken)).toBe(before)
  await runVolctl(broken, ['plan', '--orphans', '--accept-insecure-api', ...kubeconfig, '--out', accepting])
  const accepted = await runVolctl(broken, ['apply', accepting, ...kubeconfig])
  expect(accepted.status).toBe(0)
  expect(accepted.stderr).toMatch(/^API: .* \(its certificate is not verified/m)
  expect((await journalOf(broken)).applies.at(-1)).toMatchObject({
    insecureApi: 'TlsNotVerified',
    guards: { acceptInsecureApi: true },
  })
})
