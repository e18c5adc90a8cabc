/** The trimmed client-node of scripts/esbuild-plugins.ts, in a bundle as it is shipped: every way to log in works. */
import { execFile } from 'node:child_process'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { build, type Metafile } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { clientNodePlugin } from '../../scripts/esbuild-plugins.ts'
import type { TestApiServer } from '../helpers/api-server/start.ts'
import { type Directory, robotServer, startProxy, temporaryDirectory, writeKubeconfig } from './connect.ts'

const ENTRY = `
import { whoAmI } from './access-reviews.ts'
import { discoverKubeConfig } from './kubeconfig/kube-config.ts'
import { createKubeClient } from './kube-client.ts'
const client = createKubeClient(discoverKubeConfig({ kubeconfig: process.argv[2] }))
client.get('/api/v1/nodes/node-1').then(() => undefined, (error) => error.code).then(async (code) => {
  console.log(JSON.stringify({ user: code === 'Forbidden' || code === 'NotFound' ? await whoAmI(client) : code }))
  client.close()
})`

/** A JSON Web Token that is only looked at for its end. */
const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const TOKEN = `${part({ alg: 'none' })}.${part({ exp: 4_000_000_000 })}.x`

let server: TestApiServer
let directory: Directory
let bundle: string
let metafile: Metafile

beforeAll(async () => {
  server = await robotServer(TOKEN)
  directory = temporaryDirectory()
  bundle = join(directory.path, 'bundle.cjs')
  const resolveDir = new URL('../../src/core/api/', import.meta.url).pathname
  const result = await build({
    stdin: { contents: ENTRY, resolveDir, loader: 'ts' },
    bundle: true,
    minify: true,
    keepNames: true,
    platform: 'node',
    format: 'cjs',
    target: 'node22',
    outfile: bundle,
    metafile: true,
    logLevel: 'silent',
    plugins: [clientNodePlugin()],
  })
  expect(result.warnings).toEqual([])
  metafile = result.metafile
})

afterAll(async () => {
  await server.stop()
  directory[Symbol.dispose]()
})

async function run(kubeconfig: string): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [bundle, kubeconfig])
  return (JSON.parse(stdout) as { user: string }).user
}

function kubeconfig(user: object, cluster?: object): string {
  return writeKubeconfig(directory, server, user, cluster)
}

it("leaves out the generated API, undici and client-node's ways to log in, and stays small", () => {
  const inputs = Object.keys(metafile.inputs)
  expect(inputs.filter((path) => /client-node\/dist\/\w+_auth\.js/.test(path))).toEqual([])
  expect(inputs.filter((path) => path.includes('/gen/models/') || path.includes('/gen/apis/'))).toEqual([])
  expect(inputs.filter((path) => /node_modules\/undici\//.test(path))).toEqual([])
  expect(statSync(bundle).size).toBeLessThan(350_000)
})

describe('in the bundle', () => {
  it.each([
    { name: 'token file', user: () => ({ tokenFile: directory.write('token', `${TOKEN}\n`) }) },
    { name: 'OpenID token that is still valid', user: () => oidc() },
  ])('a $name logs in', async ({ user }) => {
    expect(await run(kubeconfig(user()))).toBe('robot')
  })

  it('proxy-url is passed through', async () => {
    await using proxy = await startProxy()
    expect(await run(kubeconfig({ token: TOKEN }, { 'proxy-url': proxy.url }))).toBe('robot')
    expect(proxy.tunnels).toHaveLength(2)
  })
})

function oidc(): object {
  return { 'auth-provider': { name: 'oidc', config: { 'id-token': TOKEN } } }
}
