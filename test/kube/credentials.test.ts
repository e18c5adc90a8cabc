import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { whoAmI } from '../../src/core/kube/access-reviews.ts'
import { PODS } from '../../src/core/kube/api/objects.ts'
import { errorFromTransport } from '../../src/core/kube/api-error.ts'
import { createKubeClient, type KubeClient } from '../../src/core/kube/kube-client.ts'
import { discoverKubeConfig } from '../../src/core/kube/kubeconfig/kube-config.ts'
import { anything } from '../../src/core/trust/shape.ts'
import { failureOf, robotPlace, startProxy, writeKubeconfig } from './connect.ts'

const TOKEN = 'token-of-robot'

const place = robotPlace(TOKEN)

interface Variant {
  readonly user?: object
  readonly cluster?: object
}

/** A kubeconfig for the test server with this login. */
function kubeconfig({ user = { token: TOKEN }, cluster }: Variant): string {
  return writeKubeconfig(place.directory, place.server, user, cluster)
}

async function ask(client: KubeClient): Promise<string | undefined> {
  try {
    return await whoAmI(client)
  } finally {
    client.close()
  }
}

function connectWith(variant: Variant): KubeClient {
  return createKubeClient(discoverKubeConfig({ kubeconfig: kubeconfig(variant) }))
}

function plugin(name: string, script: string): string {
  return place.directory.write(name, `#!${process.execPath}\n${script}\n`, 0o700)
}

describe('ways to log in', () => {
  it('by a token file relative to the kubeconfig, before the token, and without its newline (N44)', async () => {
    place.directory.write('token', `${TOKEN}\n`)
    expect(await ask(connectWith({ user: { tokenFile: 'token', token: 'stale' } }))).toBe('robot')
  })

  it('runs a plugin anew when its token is no longer accepted', async () => {
    const counter = place.directory.write('count', '')
    plugin(
      'expiring',
      `const fs = require('fs'); fs.appendFileSync(${JSON.stringify(counter)}, 'x')
const token = fs.readFileSync(${JSON.stringify(counter)}, 'utf8').length > 1 ? ${JSON.stringify(TOKEN)} : 'expired'
console.log(JSON.stringify({ status: { token } }))`,
    )
    expect(await ask(connectWith({ user: { exec: { command: './expiring' } } }))).toBe('robot')
    expect(readFileSync(counter, 'utf8')).toBe('xx')
  })

  it('with impersonation of user and groups', async () => {
    const { user } = JSON.parse(readFileSync(place.server.kubeconfig('admin'), 'utf8')).users[0] as { user: object }
    const client = connectWith({ user: { ...user, as: 'system:node:node-1', 'as-groups': ['system:nodes', 'other'] } })
    const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
    const userInfo = { username: 'system:node:node-1', groups: ['system:nodes', 'other', 'system:authenticated'] }
    expect(await client.send('review', { path, body: {}, shape: anything })).toMatchObject({ status: { userInfo } })
    client.close()
  })

  it.each([
    {
      name: 'CA data before a CA file',
      cluster: () => ({ 'certificate-authority': '/nonexistent', 'certificate-authority-data': caData() }),
    },
    { name: 'tls-server-name', cluster: () => ({ 'tls-server-name': 'localhost' }) },
  ])('over TLS with $name', async ({ cluster }) => {
    expect(await ask(connectWith({ cluster: cluster() }))).toBe('robot')
  })

  it.each(['socks4', 'ftp', 'unix'])(
    'with a proxy of the environment that volctl has no way to (%s), never past it',
    async (scheme) => {
      vi.stubEnv('HTTPS_PROXY', `${scheme}://bob:secret@127.0.0.1:1`)
      const client = connectWith({ cluster: { server: 'https://192.0.2.1' } })
      const { code, message, hint } = await failureOf(client.list(PODS))
      vi.unstubAllEnvs()
      expect([code, hint]).toEqual(['KubeconfigInvalid', expect.stringContaining('HTTPS_PROXY')])
      expect(`${message} ${hint}`).not.toContain('secret')
    },
  )

  it.each([
    { name: 'as it is', written: (url: string) => url },
    { name: 'in another spelling', written: (url: string) => `${url.replace('http', 'HTTP')}\n` },
  ])('through the proxy of proxy-url, $name', async ({ written }) => {
    await using proxy = await startProxy()
    expect(await ask(connectWith({ cluster: { 'proxy-url': written(proxy.url) } }))).toBe('robot')
    expect(proxy.tunnels).toEqual([new URL(place.server.url).host])
  })

  it('with proxy-url and a Node.js that knows no proxies, never past it', async () => {
    const flags = vi.spyOn(process, 'allowedNodeEnvironmentFlags', 'get').mockReturnValue(new Set())
    const client = connectWith({
      cluster: { server: 'https://192.0.2.1', 'proxy-url': 'http://bob:secret@127.0.0.1:1' },
    })
    const { code, message, hint } = await failureOf(client.list(PODS))
    flags.mockRestore()
    expect([code, hint]).toEqual(['KubeconfigInvalid', expect.stringContaining('22.21')])
    expect(`${message} ${hint}`).not.toContain('secret')
  })
})

it('what an older Node.js says of a proxy is without its password', () => {
  const error = new Error('Failed to establish tunnel to a:443 via http://bob:secret@proxy:3128: HTTP/1.1 407 no')
  expect(errorFromTransport(error, 'https://a').message).toContain('via http://proxy:3128: HTTP/1.1 407 no')
})

function caData(): string {
  return readFileSync(join(place.server.directory, 'ca.crt')).toString('base64')
}

it.each([
  {
    name: 'a token that is not accepted',
    user: { token: 'wrong-secret' },
    code: 'Unauthorized',
    says: /Unauthorized/,
  },
  {
    name: 'a missing certificate file',
    user: { 'client-certificate': 'gone.pem', 'client-key': 'gone.pem' },
    code: 'CredentialFailed',
    says: /gone\.pem, which .* names, cannot be read \(ENOENT\)/,
  },
  {
    name: 'a damaged certificate',
    user: { 'client-certificate-data': 'd3Jvbmctc2VjcmV0', 'client-key-data': 'd3Jvbmctc2VjcmV0' },
    code: 'TlsMismatch',
    says: /PEM/,
  },
])('a login that fails is one clear line without a secret: $name', async ({ user, code, says }) => {
  const client = connectWith({ user })
  const error = await failureOf(client.list(PODS))
  client.close()
  expect(error).toMatchObject({ code, exit: 1, hint: expect.stringMatching(/\w/) })
  expect(error.message).toMatch(says)
  expect(`${error.message}${error.hint}`).not.toMatch(/wrong-secret|\n/)
})
