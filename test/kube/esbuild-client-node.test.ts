/** The trimmed client-node of scripts/esbuild-plugins.ts, in the bundle as it is shipped: every way to log in works. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import { expect, it } from 'vitest'
import { TEST_BUNDLE } from '../helpers/volctl-program.ts'
import { robotPlace, startProxy, startSocksProxy, writeKubeconfig } from './connect.ts'

/** A JSON Web Token that is only looked at for its end. */
const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const TOKEN = `${part({ alg: 'none' })}.${part({ exp: 4_000_000_000 })}.x`

const place = robotPlace(TOKEN)

it('has neither the generated API nor undici', () => {
  const bundle = readFileSync(join(TEST_BUNDLE, '..', '..', 'dist', 'volctl.cjs'), 'utf8')
  expect(bundle).not.toMatch(/ReplicationController|ObjectSerializer|MockAgent/)
})

const oidc = { 'auth-provider': { name: 'oidc', config: { 'id-token': TOKEN } } }

it.each<{ name: string; user: () => object; through?: typeof startProxy }>([
  { name: 'a token file', user: () => ({ tokenFile: place.directory.write('token', `${TOKEN}\n`) }) },
  { name: 'an OpenID token that is still valid', user: () => oidc },
  { name: 'a token, through a proxy of HTTP', user: () => ({ token: TOKEN }), through: startProxy },
  { name: 'a token, through a proxy of SOCKS', user: () => ({ token: TOKEN }), through: startSocksProxy },
])('logs in by $name', async ({ user, through }) => {
  await using proxy = await through?.()
  const kubeconfig = writeKubeconfig(place.directory, place.server, user(), proxy && { 'proxy-url': proxy.url })
  const { stderr } = await execa(TEST_BUNDLE, ['plan', '--cluster', '--kubeconfig', kubeconfig], { reject: false })
  expect(stderr).toContain('User "robot" cannot list')
  expect(proxy?.tunnels[0]).toBe(proxy && new URL(place.server.url).host)
})
