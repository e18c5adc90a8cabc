/** What an apply asks again right before it acts: of both credentials (S2). */
import { expect, it } from 'vitest'
import { applyContext } from '../../src/core/cli/apply-context.ts'
import { parseMountinfo } from '../../src/core/linux/parse-mountinfo.ts'
import { startApiServer, type TestApiServer } from '../helpers/api-server/start.ts'
import { connect } from '../kube/connect.ts'

const nodeName = 'node-1'
const pod = (name: string) => ({
  ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'n', uid: `uid-${name}` } },
  spec: { nodeName },
})

async function serverWith(...names: string[]): Promise<TestApiServer> {
  const server = await startApiServer({ nodeName })
  for (const name of names) server.put(pod(name))
  return server
}

it("S2: a detach is judged by the pods that volctl's credential is shown, and by those that the kubelet's is", async () => {
  await using mine = await serverWith('a')
  await using its = await serverWith('a', 'hidden')
  const [client, kubeletClient] = [connect(mine, 'apply'), connect(its, 'kubelet')]
  try {
    const listed = async (look: object) => {
      const { cluster } = applyContext(look as never, { options: {} } as never)
      return new Set((await cluster.listNodePods()).map(({ metadata }) => metadata.name))
    }
    expect(await listed({ client, kubeletClient, node: { nodeName } })).toEqual(new Set(['a', 'hidden']))
    expect(await listed({ client, node: { nodeName } })).toEqual(new Set(['a']))
    // Whether a pod is gone is asked of both before each operation, too.
    const runtime = async () => ({ source: 'cri', pods: [] })
    const snapshot = {
      apiVersion: 'volctl.io/v1',
      kind: 'NodeSnapshot',
      capturedAt: '2026-11-21T12:00:00Z',
      nodeName,
      rootDir: '/r',
      bootTime: '2026-11-21T11:00:00Z',
      tree: [{ path: 'pods/uid-old', type: 'dir', mtime: Date.parse('2026-11-20T11:00:00Z') / 1000 }],
    }
    const node = { nodeName, runtime, processes: () => ({ podUids: [], nestedUids: [] }) }
    const mounts = parseMountinfo('')
    const asked = async (of: object) => {
      const look = { client, kubeletClient, node: { ...node, ...of }, snapshot, mounts }
      return await applyContext(look as never, { options: {} } as never).witness()
    }
    expect((await asked({})).listed).toEqual(new Set(['uid-a', 'uid-hidden']))
    // S9: a runtime that does not answer shows of no pod that it does not run, but for what is older than this boot.
    const silent = await asked({ runtime: async () => ({ source: 'cri', error: 'refused', pods: [] }) })
    expect(['uid-a', 'uid-old'].map((uid) => silent.blindFor?.(uid) !== undefined)).toEqual([true, false])
  } finally {
    client.close()
    kubeletClient.close()
  }
})
