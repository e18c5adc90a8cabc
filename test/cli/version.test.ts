import { afterAll, beforeAll, expect, it } from 'vitest'
import pjson from '../../package.json' with { type: 'json' }
import { startApiServer, type TestApiServer } from '../helpers/api-server/start.ts'
import { CAPTURES } from '../helpers/captures.ts'
import { volctl } from '../helpers/run-main.ts'

const CLIENT =
  /^volctl: {6}\d+\.\d+\.\d+ \(commit (?:[0-9a-f]{40}(?:-dirty)?|unknown)\)\nNode\.js: {5}\d+\.\d+\.\d+\nPlatform: {4}linux-\S+\nTested with: kubelets 1\.\d+ to 1\.\d+\n/

let server: TestApiServer
beforeAll(async () => {
  server = await startApiServer({ data: [`${CAPTURES}healthy/node.json`], nodeName: 'pg-node' })
})
afterAll(() => server.stop())

// A machine that is busy may not answer within the second that there is.
it('the API server and the kubelet of this node, where they can be read', { retry: 9 }, async () => {
  const where = ['--kubeconfig', server.kubeconfig('admin'), '--node', 'pg-node']
  const [text, json] = await Promise.all([volctl(['version', ...where]), volctl(['version', '-o', 'json', ...where])])
  expect({ status: text.status, stderr: text.stderr }).toEqual({ status: 0, stderr: '' })
  expect(text.stdout).toMatch(CLIENT)
  expect(text.stdout).toMatch(/^API server: {2}v1\.36\.2 \(https:\S+\)\nKubelet: {5}v1\.\d+\.\d+ \(node pg-node\)\n$/m)
  const version = JSON.parse(json.stdout)
  expect(version).toMatchObject({ kind: 'Version', volctl: pjson.version })
  expect(version).toMatchObject({ server: { version: 'v1.36.2' }, kubelet: { node: 'pg-node' } })
})

it('without them volctl version does not fail', async () => {
  const where = ['--kubeconfig', '/nonexistent', '--node', 'x']
  const [text, json] = await Promise.all([
    volctl(['version', '-v', ...where]),
    volctl(['version', '-o', 'json', ...where]),
  ])
  expect(text.status).toBe(0)
  expect(text.stdout).toMatch(/^API server: {2}not read .*\nKubelet: {5}not read .*\n$/m)
  expect(text.stderr).toContain('/nonexistent')
  expect(json).toMatchObject({ status: 0, stderr: '' })
  server.setFaults({ action: { type: 'hang' } })
  const silent = await volctl(['version', '--kubeconfig', server.kubeconfig('admin'), '--node', 'x'])
  server.setFaults()
  expect(silent).toMatchObject({ status: 0, stdout: expect.stringMatching(/^API server: {2}not read /m) })
})
