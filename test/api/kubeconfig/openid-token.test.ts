/** The legacy auth-provider oidc: an id token that is still good, or one that the issuer renews. */
import type { IncomingMessage } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openIdToken } from '../../../src/core/api/kubeconfig/openid-token.ts'
import { createAuthority } from '../../helpers/api-server/certificates.ts'
import { failureOf } from '../connect.ts'

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const tokenUntil = (exp: number): string => `${part({ alg: 'none' })}.${part({ exp })}.x`
const GOOD = tokenUntil(4_000_000_000)
const EXPIRED = tokenUntil(1)

const authority = createAuthority('volctl test CA')
const ca = Buffer.from(authority.certificate).toString('base64')

type Answer = (issuer: string) => { readonly status?: number; readonly body: string }

let server: Server
let issuer: string
let asked: { readonly path: string; readonly form: string; readonly type: string | undefined }[]
let discovery: Answer
let renewal: Answer

beforeAll(async () => {
  const { key, certificate } = authority.server(['127.0.0.1'])
  server = createServer({ key, cert: certificate }, (request: IncomingMessage, response) => {
    text(request).then((form) => {
      asked.push({ path: request.url ?? '', form, type: request.headers['content-type'] })
      const answer = (request.method === 'GET' ? discovery : renewal)(issuer)
      response.writeHead(answer.status ?? 200, { 'Content-Type': 'application/json' }).end(answer.body)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  issuer = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
})

afterAll(() => {
  server.closeAllConnections()
  server.close()
})

beforeEach(() => {
  asked = []
  discovery = (from) => ({ body: JSON.stringify({ token_endpoint: `${from}/token` }) })
  renewal = () => ({ body: JSON.stringify({ id_token: GOOD, refresh_token: 'next' }) })
})

const settings = (fields: object = {}): Record<string, unknown> => ({
  ...{ 'id-token': EXPIRED, 'client-id': 'me', 'refresh-token': 'again', 'idp-issuer-url': issuer },
  'idp-certificate-authority-data': ca,
  ...fields,
})

it('one that is still good is taken as it is, and nobody is asked', async () => {
  expect(await openIdToken(settings({ 'id-token': GOOD }), 'config')).toBe(GOOD)
  expect(asked).toEqual([])
})

describe('one that has expired', () => {
  it.each([
    { name: 'a public client', fields: {}, secret: {} },
    { name: 'a client with a secret', fields: { 'client-secret': 's&t' }, secret: { client_secret: 's&t' } },
    { name: 'no token at all', fields: { 'id-token': undefined }, secret: {} },
    { name: 'a token that is none', fields: { 'id-token': 'x.y' }, secret: {} },
  ])('is renewed by its issuer: $name', async ({ fields, secret }) => {
    expect(await openIdToken(settings(fields), 'config')).toBe(GOOD)
    expect(asked.map(({ path }) => path)).toEqual(['/.well-known/openid-configuration', '/token'])
    expect(asked[1]?.type).toBe('application/x-www-form-urlencoded')
    expect(Object.fromEntries(new URLSearchParams(asked[1]?.form))).toEqual({
      ...{ grant_type: 'refresh_token', refresh_token: 'again', client_id: 'me' },
      ...secret,
    })
  })

  it.each<{ name: string; says: RegExp; fields?: object; discovery?: Answer; renewal?: Answer }>([
    { name: 'nothing to renew it with', fields: { 'refresh-token': '' }, says: /the token has no refresh-token/ },
    { name: 'an issuer of plain http', fields: { 'idp-issuer-url': 'http://127.0.0.1:1' }, says: /over https only/ },
    { name: 'an issuer that is not there', fields: { 'idp-issuer-url': 'https://127.0.0.1:1' }, says: /ECONNREFUSED/ },
    { name: 'an issuer of another authority', fields: { 'idp-certificate-authority-data': '' }, says: /certificate/ },
    { name: 'an issuer that sends it elsewhere', discovery: () => ({ status: 302, body: '' }), says: /status 302/ },
    { name: 'no endpoint', discovery: () => ({ body: '{}' }), says: /names no token_endpoint/ },
    {
      name: 'an endpoint of plain http',
      discovery: () => ({ body: '{"token_endpoint":"http://127.0.0.1:1/"}' }),
      says: /over https only/,
    },
    { name: 'a refusal', renewal: () => ({ status: 400, body: '{"error":"wrong-secret"}' }), says: /HTTP status 400/ },
    { name: 'no token in the answer', renewal: () => ({ body: '{}' }), says: /gave no id_token/ },
    { name: 'no JSON', renewal: () => ({ body: 'wrong-secret' }), says: /is not JSON/ },
    {
      name: 'an answer without end',
      renewal: () => ({ body: ' '.repeat(2_000_000) }),
      says: /larger than 1048576 bytes/,
    },
  ])('and is not renewed is one clear line: $name', async ({ says, fields = {}, ...answers }) => {
    discovery = answers.discovery ?? discovery
    renewal = answers.renewal ?? renewal
    const error = await failureOf(openIdToken(settings(fields), 'config'))
    expect(error).toMatchObject({ code: 'CredentialFailed', exit: 1, hint: expect.stringContaining('Log in again') })
    expect(error.message).toMatch(/^The OpenID token in config has expired and could not be renewed: /)
    expect(error.message).toMatch(says)
    expect(error.message).not.toMatch(/wrong-secret|again|\n/)
  })

  it('ends when the person interrupts', async () => {
    const controller = new AbortController()
    controller.abort(new Error('interrupted'))
    await expect(openIdToken(settings(), 'config', controller.signal)).rejects.toThrow('interrupted')
  })
})
