/** Bad input and bad company, live: every case on the same broken node, which must not change. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createAuthority } from '../../helpers/api-server/certificates.ts'
import { startApiServer, type TestApiServer } from '../../helpers/api-server/start.ts'
import { clusterObjects, NODE, node, pod } from '../../helpers/scene/api-objects.ts'
import type { Scene } from '../../helpers/scene/scene.ts'
import { type Run, runVolctl } from '../../helpers/scene/volctl.ts'
import { fingerprint } from './fingerprint.ts'
import { withScene, writeReport } from './scenario.ts'

export interface Refusal {
  readonly plan: Run
  readonly apply: Run
  readonly unchanged: boolean
}

export type RefusalsReport = Readonly<Record<string, Refusal>>

type Case = (scene: Scene) => Promise<readonly string[]> | readonly string[]

const CASES: Readonly<Record<string, Case>> = {
  'a kubeconfig that is not there': () => ['--kubeconfig', '/nonexistent'],
  'a kubeconfig that is none': (scene) => ['--kubeconfig', write(scene, 'broken.kubeconfig', ': : :')],
  'an unknown context': (scene) => ['--kubeconfig', scene.api.kubeconfig('admin'), '--context', 'elsewhere'],
  'an API server that is down': (scene) => edited(scene, (text) => text.replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:1')),
  'a certificate of another authority': (scene) =>
    edited(scene, (text) => {
      const config = JSON.parse(text)
      config.clusters[0].cluster['certificate-authority-data'] = Buffer.from(
        createAuthority('another CA').certificate,
      ).toString('base64')
      return JSON.stringify(config)
    }),
  'a token that is not known': (scene) =>
    edited(scene, (text) => JSON.stringify({ ...JSON.parse(text), users: [{ name: 'admin', user: { token: 'x' } }] })),
  'S3: a user without rights': (scene) => ['--kubeconfig', scene.api.kubeconfig('nobody')],
  'S1: no such node': () => ['--node', 'worker-9'],
  'no such root directory': () => ['--root-dir', '/nonexistent'],
  'S1: another machine': (scene) => hostSays(scene, { machineID: 'other', systemUUID: 'other' }),
  'S1: another machine ID beside the same system UUID': (scene) =>
    hostSays(scene, { machineID: 'a'.repeat(31).concat('b') }),
  'S1: another system UUID beside the same machine ID': (scene) =>
    hostSays(scene, { systemUUID: '7d0b1a52-9c3e-4f61-8a77-2b5e6c1d9f04' }),
  'S1: another boot beside a kubelet that runs': (scene) =>
    hostSays(scene, { bootID: 'another', kubelet: { running: true, mayReturn: true } }),
  'S3: a server that answers with something else': async (scene) => {
    await scene.api.setFaults({ path: '/pods', action: { type: 'body', body: '<html>login</html>' } })
    return []
  },
  'S3: an API server that fails': async (scene) => {
    await scene.api.setFaults({ path: '/pods', action: { type: 'status', status: 500 } })
    return []
  },
  'S1: another cluster with a node of the same name': async (scene) => [
    '--kubeconfig',
    (await otherCluster(scene)).kubeconfig('admin'),
  ],
  'S29: no pod in the API, though processes of pods run': async (scene) => {
    for (const { name } of Object.values(scene.pods)) await scene.api.remove('Pod', name, 'shop').catch(() => undefined)
    return []
  },
}

function write(scene: Scene, name: string, text: string): string {
  const path = join(scene.directory, name)
  writeFileSync(path, text)
  return path
}

/** The administrator's kubeconfig, changed. */
function edited(scene: Scene, edit: (text: string) => string): readonly string[] {
  const text = readFileSync(scene.api.kubeconfig('admin'), 'utf8')
  return ['--kubeconfig', write(scene, 'edited.kubeconfig', edit(text))]
}

function hostSays(scene: Scene, fields: object): readonly string[] {
  writeFileSync(scene.hostFile, JSON.stringify({ ...JSON.parse(readFileSync(scene.hostFile, 'utf8')), ...fields }))
  return []
}

let other: TestApiServer | undefined

/** It has a node of this name, on another machine, and other pods. Nothing of what is here is known to it. */
async function otherCluster(scene: Scene): Promise<TestApiServer> {
  const mine = node([]) as { metadata: object; status: object }
  const nodeInfo = { machineID: 'f'.repeat(32), systemUUID: 'another', bootID: 'another' }
  const theirs = { ...mine, metadata: { ...mine.metadata, uid: 'another' }, status: { ...mine.status, nodeInfo } }
  const strange = pod({ ...scene.pods.web, name: 'strange', uid: 'strange', volumes: [] }, '')
  other = await startApiServer({ objects: [...clusterObjects(), theirs, strange], nodeName: NODE })
  return other
}

async function tryAll(scene: Scene): Promise<RefusalsReport> {
  await scene.breakIt()
  const host = readFileSync(scene.hostFile, 'utf8')
  const before = JSON.stringify(await fingerprint(scene))
  const report: Record<string, Refusal> = {}
  for (const [name, prepare] of Object.entries(CASES)) {
    const flags = await prepare(scene)
    const plan = await runVolctl(scene, ['plan', ...flags])
    const apply = await runVolctl(scene, ['apply', '--orphans', '--yes', ...flags])
    report[name] = { plan, apply, unchanged: JSON.stringify(await fingerprint(scene)) === before }
    await scene.api.setFaults()
    writeFileSync(scene.hostFile, host)
  }
  await other?.stop()
  return report
}

writeReport(await withScene(tryAll, { small: true }))
