import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { parseMountinfo } from '../../src/core/linux/parse-mountinfo.ts'
import { type Attempt, collectNode, lookAt, type Part } from '../../src/core/node/collect-node.ts'
import { locateNode } from '../../src/core/node/locate-node.ts'
import { readSnapshot, writeSnapshot } from '../../src/core/plan/documents/snapshot-file.ts'
import { decideNode } from '../../src/core/reconcile/plan-node.ts'
import type { NodeSnapshot } from '../../src/core/volumes/snapshot.ts'
import { startApiServer, type TestApiServer } from '../helpers/api-server/start.ts'
import { planOptions } from '../helpers/plan-options.ts'
import { takeTestHost } from '../helpers/test-host.ts'
import { fixture } from './helpers/fixture.ts'

const CAPTURE = new URL('../fixtures/captures/healthy/node.json', import.meta.url).pathname
const GONE = '11111111-2222-3333-4444-555555555555'

describe('collectNode', () => {
  let server: TestApiServer
  beforeAll(async () => {
    server = await startApiServer({ data: [CAPTURE] })
  })
  afterAll(() => server.stop())
  afterEach(() => vi.unstubAllEnvs())

  /** A fake host on a directory of its own, beside the capture's API objects. */
  async function host(extra: object = {}) {
    const { snapshot } = await readSnapshot(CAPTURE)
    const living = snapshot.api?.pods.find((pod) => pod.metadata.name === 'p-ro')?.metadata.uid ?? ''
    const dir = fixture({
      [`root/pods/${living}/volumes/kubernetes.io~csi/pv/vol_data.json`]: '{}',
      [`root/pods/${living}/etc-hosts`]: '',
      [`root/pods/${GONE}/etc-hosts`]: 'x',
      'manifests/s.yaml': 'kind: Pod\nmetadata: {name: s}\n',
      'exec/v~d/d': '',
    })
    writeFileSync(
      join(dir.path, 'host.json'),
      JSON.stringify({
        machineID: 'm',
        systemUUID: 'S',
        bootID: 'b',
        bootTime: '2026-11-21T01:28:20Z',
        nodeName: 'pg-node',
        rootDir: join(dir.path, 'root'),
        kubelet: { running: false, mayReturn: false },
        staticPodPath: join(dir.path, 'manifests'),
        volumePluginDir: join(dir.path, 'exec'),
        runtimeEndpoints: [],
        runtimeExpected: false,
        processes: [living],
        kubeconfig: server.kubeconfig('admin'),
        ...extra,
      }),
    )
    takeTestHost()
    vi.stubEnv('VOLCTL_TEST_HOST', join(dir.path, 'host.json'))
    return { dir, living }
  }

  it('gathers every section of a snapshot, that reads back as the same', async () => {
    const { dir, living } = await host()
    using _ = dir
    const lines: string[] = []
    const state = await collectNode({ attributes: 'all', log: (line) => lines.push(line) })
    state.client.close()
    expect(state.node.standing).toEqual([])
    expect(state.snapshot).toMatchObject({
      nodeName: 'pg-node',
      rootDir: join(dir.path, 'root'),
      machineID: 'm',
      systemUUID: 'S',
      bootID: 'b',
      bootTime: '2026-11-21T01:28:20Z',
      runtime: { source: 'none', pods: [] },
      kubelet: { running: false, mayReturn: false },
      staticPods: { readable: true, manifests: [{ name: 's', namespace: 'default' }] },
      deadMounts: [],
      csiSockets: [],
      flexDrivers: [{ name: 'v/d', executable: join(dir.path, 'exec/v~d/d'), error: 'EACCES' }],
    })
    expect(state.snapshot.processes).toContain(living)
    expect(state.snapshot.api?.pods.length).toBeGreaterThan(10)
    expect(state.snapshot.tree?.find((entry) => entry.path === `pods/${living}/etc-hosts`)?.mtime).toBeGreaterThan(0)
    expect(lines.join('\n')).toMatch(/mount table: \d+ mounts \(\d+ ms\)[\s\S]*pods, \d+ errors/)

    const file = join(dir.path, 'snapshot.json.gz')
    writeSnapshot(state.snapshot, file)
    expect((await readSnapshot(file)).snapshot).toEqual(JSON.parse(JSON.stringify(state.snapshot)))
  })

  it.each<{ part: Part; section: keyof NodeSnapshot }>([
    { part: 'mountinfo', section: 'tree' },
    { part: 'tree', section: 'tree' },
    { part: 'runtime', section: 'runtime' },
    { part: 'csiSockets', section: 'csiSockets' },
    { part: 'kubelet', section: 'kubelet' },
  ])('S3: without $part, a look that goes on has no section $section, and never an empty one', async (row) => {
    const { dir } = await host()
    using _ = dir
    const without: Attempt = async (part, read) => (part === row.part || part === 'api' ? undefined : await read())
    const node = await locateNode({})
    const { snapshot } = await lookAt(node, { attributes: 'plan', log: () => {} }, without)
    expect(snapshot).toMatchObject({ [row.section]: undefined })
    expect(snapshot.api).toBeUndefined()
    const { plan } = decideNode({ snapshot, mounts: parseMountinfo('') }, planOptions())
    expect(plan.complete).toBe(false)
    expect(plan.operations.filter(({ blocked }) => blocked === undefined)).toEqual([])
  })

  it('looks again with the same connection, and sees a kubelet come back', async () => {
    const { dir } = await host()
    using _ = dir
    const first = await collectNode({ attributes: 'plan' })
    mkdirSync(join(dir.path, 'root/pods/later'))
    const connections = server.connections()
    const second = await collectNode({ attributes: 'plan', before: first })
    expect(server.connections()).toBe(connections)
    expect(second.snapshot.tree?.some((entry) => entry.path === 'pods/later')).toBe(true)
    const now = JSON.parse(
      JSON.stringify({ rootDir: join(dir.path, 'root'), kubelet: { running: true, mayReturn: true } }),
    )
    writeFileSync(join(dir.path, 'host.json'), JSON.stringify(now))
    expect(await second.node.kubeletState()).toEqual({ running: true, mayReturn: true })
    first.client.close()
  })
})
