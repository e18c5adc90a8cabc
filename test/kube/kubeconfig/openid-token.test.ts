/** The legacy auth-provider oidc: an id token that is still good, or a clear word. */
import { expect, it } from 'vitest'
import { openIdToken } from '../../../src/core/kube/kubeconfig/kube-credentials.ts'
import { thrownBy } from '../connect.ts'

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const tokenUntil = (exp: number): string => `${part({ alg: 'none' })}.${part({ exp })}.x`
const GOOD = tokenUntil(4_000_000_000)

it('one that is still good is taken as it is', () => {
  expect(openIdToken({ 'id-token': GOOD }, 'config')).toBe(GOOD)
})

it.each([
  { name: 'one that has expired', token: tokenUntil(1) },
  { name: 'one that expires in a moment', token: tokenUntil(Date.now() / 1000 + 5) },
  { name: 'none at all', token: undefined },
  { name: 'a token that is none', token: 'x.y' },
])('one that is not: is one clear line, and nobody is asked: $name', ({ token }) => {
  const settings = { 'id-token': token, 'refresh-token': 'again', 'idp-issuer-url': 'https://127.0.0.1:1' }
  expect(thrownBy(() => openIdToken(settings, 'config'))).toMatchObject({
    ...{ code: 'CredentialFailed', exit: 1, message: 'The OpenID token in config has expired.' },
    hint: expect.stringContaining('Log in again'),
  })
})
