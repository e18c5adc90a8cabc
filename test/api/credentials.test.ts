import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { whoAmI } from '../../src/core/api/access-reviews.ts'
import { createKubeClient, type KubeClient } from '../../src/core/api/kube-client.ts'
import { discoverKubeConfig } from '../../src/core/api/kubeconfig/kube-config.ts'
import type { TestApiServer } from '../helpers/api-server/start.ts'
import { type Directory, failureOf, robotServer, startProxy, temporaryDirectory, writeKubeconfig } from './connect.ts'

const TOKEN = 'token-of-robot'
const AUTHENTICATED = {
  kind: 'ExecCredential',
  apiVersion: 'client.authentication.k8s.io/v1',
  status: { token: TOKEN },
}

let server: TestApiServer
let directory: Directory

beforeAll(async () => {
  server = await robotServer(TOKEN)
  directory = temporaryDirectory()
})

afterAll(async () => {
  await server.stop()
  directory[Symbol.dispose]()
})

interface Variant {
  readonly user?: object
  readonly cluster?: object
}

/** A kubeconfig for the test server with this login. */
function kubeconfig({ user = { token: TOKEN }, cluster }: Variant): string {
  return writeKubeconfig(directory, server, user, cluster)
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
  return directory.write(name, `#!${process.execPath}\n${script}\n`, 0o700)
}

describe('ways to log in', () => {
  it.each([
    { user: 'admin', name: 'kubernetes-admin' },
    { user: 'kubelet', name: 'system:node:node-1' },
    { user: 'plan', name: 'volctl-plan' },
  ])('as $user: client certificate, one-PEM kubelet certificate, token', async ({ user, name }) => {
    expect(await ask(createKubeClient(discoverKubeConfig({ kubeconfig: server.kubeconfig(user) })))).toBe(name)
  })

  it('by a token file relative to the kubeconfig, before the token, and without its newline (N44)', async () => {
    directory.write('token', `${TOKEN}\n`)
    expect(await ask(connectWith({ user: { tokenFile: 'token', token: 'stale' } }))).toBe('robot')
  })

  it('by an exec plugin, relative to the kubeconfig, told what is asked of it (N43)', async () => {
    plugin(
      'plugin',
      `const info = JSON.parse(process.env.KUBERNETES_EXEC_INFO)
if (info.spec.interactive || info.spec.cluster.server !== ${JSON.stringify(server.url)} || process.env.EXTRA !== 'yes') process.exit(1)
console.log(${JSON.stringify(JSON.stringify(AUTHENTICATED))})`,
    )
    const exec = {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: './plugin',
      provideClusterInfo: true,
      env: [{ name: 'EXTRA', value: 'yes' }],
      interactiveMode: 'IfAvailable',
    }
    expect(await ask(connectWith({ user: { exec } }))).toBe('robot')
  })

  it('runs a plugin anew when its token is no longer accepted', async () => {
    const counter = directory.write('count', '')
    plugin(
      'expiring',
      `const fs = require('fs'); fs.appendFileSync(${JSON.stringify(counter)}, 'x')
const token = fs.readFileSync(${JSON.stringify(counter)}, 'utf8').length > 1 ? ${JSON.stringify(TOKEN)} : 'expired'
console.log(JSON.stringify({ status: { token } }))`,
    )
    expect(await ask(connectWith({ user: { exec: { command: './expiring' } } }))).toBe('robot')
    expect(readFileSync(counter, 'utf8')).toBe('xx')
  })

  it('by a token file that was replaced meanwhile', async () => {
    const file = directory.write('rotating', 'expired')
    const client = connectWith({ user: { tokenFile: file } })
    expect(await whoAmI(client)).toBeUndefined()
    directory.write('rotating', TOKEN)
    expect(await ask(client)).toBe('robot')
  })

  it('with impersonation of user and groups', async () => {
    const { user } = JSON.parse(readFileSync(server.kubeconfig('admin'), 'utf8')).users[0] as { user: object }
    const client = connectWith({ user: { ...user, as: 'system:node:node-1', 'as-groups': ['system:nodes', 'other'] } })
    const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
    const review = await client.review<{ status: { userInfo: unknown } }>(path, {})
    client.close()
    expect(review.status.userInfo).toEqual({
      username: 'system:node:node-1',
      groups: ['system:nodes', 'other', 'system:authenticated'],
    })
  })

  it("by a pod's service account", async () => {
    using root = temporaryDirectory()
    const account = 'var/run/secrets/kubernetes.io/serviceaccount'
    root.write(`${account}/token`, TOKEN)
    root.write(`${account}/ca.crt`, readFileSync(join(server.directory, 'ca.crt'), 'utf8'))
    const { hostname, port } = new URL(server.url)
    const env = { HOME: '/nonexistent', KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port }
    expect(await ask(createKubeClient(discoverKubeConfig({ env, hostRoot: root.path })))).toBe('robot')
  })

  it.each([
    {
      name: 'CA data before a CA file',
      cluster: () => ({ 'certificate-authority': '/nonexistent', 'certificate-authority-data': caData() }),
    },
    { name: 'tls-server-name', cluster: () => ({ 'tls-server-name': 'localhost' }) },
    {
      name: 'insecure-skip-tls-verify',
      cluster: () => ({ 'certificate-authority': undefined, 'insecure-skip-tls-verify': true }),
    },
  ])('over TLS with $name', async ({ cluster }) => {
    expect(await ask(connectWith({ cluster: cluster() }))).toBe('robot')
  })

  it('by a login in the address of the server, which is told to nobody else', async () => {
    const logins: (string | undefined)[] = []
    const listener = createServer(({ headers }, response) => {
      logins.push(headers.authorization)
      response.writeHead(403).end()
    })
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
    const host = `127.0.0.1:${(listener.address() as AddressInfo).port}`
    const client = connectWith({ user: {}, cluster: { server: `http://bob:pass%40word@${host}/` } })
    expect(client.server).toBe(`http://${host}`)
    const { message } = await failureOf(client.get('/api/v1/pods'))
    expect(message).toContain(host)
    expect(message).not.toContain('word')
    expect(logins).toEqual([`Basic ${Buffer.from('bob:pass@word').toString('base64')}`])
    client.close()
    listener.close()
  })

  it('with a proxy-url that no proxy has is one clear line', async () => {
    const client = connectWith({ cluster: { 'proxy-url': 'ftp://bob:secret@127.0.0.1:1' } })
    const { code, message, hint } = await failureOf(client.get('/api/v1/pods'))
    expect([code, hint]).toEqual(['KubeconfigInvalid', expect.stringContaining('Check its proxy-url')])
    expect(`${message} ${hint}`).not.toContain('secret')
  })

  it.each(['socks4', 'ftp', 'unix'])(
    'with a proxy of the environment that volctl has no way to (%s), never past it',
    async (scheme) => {
      vi.stubEnv('HTTPS_PROXY', `${scheme}://bob:secret@127.0.0.1:1`)
      const client = connectWith({ cluster: { server: 'https://192.0.2.1' } })
      const { code, message, hint } = await failureOf(client.get('/api/v1/pods'))
      vi.unstubAllEnvs()
      expect([code, hint]).toEqual(['KubeconfigInvalid', expect.stringContaining('HTTPS_PROXY')])
      expect(`${message} ${hint}`).not.toContain('secret')
    },
  )

  it('through the proxy of proxy-url', async () => {
    await using proxy = await startProxy()
    expect(await ask(connectWith({ cluster: { 'proxy-url': proxy.url } }))).toBe('robot')
    expect(proxy.tunnels).toEqual([new URL(server.url).host])
  })
})

function caData(): string {
  return readFileSync(join(server.directory, 'ca.crt')).toString('base64')
}

describe('a login that fails is one clear line without a secret', () => {
  it.each([
    {
      name: 'a token that is not accepted',
      user: { token: 'wrong-secret' },
      code: 'Unauthorized',
      says: /Unauthorized/,
    },
    { name: 'no login at all', user: {}, code: 'Unauthorized', says: /Unauthorized/ },
    {
      name: 'a missing certificate file',
      user: { 'client-certificate': 'gone.pem', 'client-key': 'gone.pem' },
      code: 'CredentialFailed',
      says: /gone\.pem, which .* names, cannot be read \(ENOENT\)/,
    },
    {
      name: 'a missing token file',
      user: { tokenFile: 'gone' },
      code: 'CredentialFailed',
      says: /gone, which .* cannot be read/,
    },
    {
      name: 'a missing plugin',
      user: { exec: { command: 'no-such-plugin', installHint: 'Install it.\nThen log in.' } },
      code: 'CredentialFailed',
      says: /no-such-plugin gave no credential: not found/,
    },
    {
      name: 'a plugin that prints nonsense',
      user: { exec: { command: process.execPath, args: ['-e', 'console.log("wrong-secret")'] } },
      code: 'CredentialFailed',
      says: /not an ExecCredential/,
    },
    {
      name: 'a plugin that prints something else',
      user: { exec: { command: process.execPath, args: ['-e', 'console.log("{}")'] } },
      code: 'CredentialFailed',
      says: /not an ExecCredential/,
    },
    {
      name: 'a plugin that fails',
      user: {
        exec: {
          command: process.execPath,
          args: ['-e', 'console.error("log in first\\nwrong-secret"); process.exit(1)'],
        },
      },
      code: 'CredentialFailed',
      says: /log in first\.$/,
    },
    {
      name: 'a damaged certificate',
      user: { 'client-certificate-data': 'd3Jvbmctc2VjcmV0', 'client-key-data': 'd3Jvbmctc2VjcmV0' },
      code: 'TlsMismatch',
      says: /PEM/,
    },
  ])('$name', async ({ user, code, says }) => {
    const client = connectWith({ user })
    const error = await failureOf(client.get('/api/v1/pods'))
    client.close()
    expect(error).toMatchObject({ code, exit: 1, hint: expect.stringMatching(/\w/) })
    expect(error.message).toMatch(says)
    expect(`${error.message}${error.hint}`).not.toMatch(/wrong-secret|\n/)
  })

  it('a plugin that insists on a terminal', () => {
    const exec = { command: 'x', interactiveMode: 'Always' }
    expect(() => connectWith({ user: { exec } })).toThrow(/requires a terminal/)
  })
})
