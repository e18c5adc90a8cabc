/** S34: where the kubeconfig says that TLS is not to be verified, or asks without it, a person says yes to that. */
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { load } from 'js-yaml'
import { expect } from 'vitest'
import { startApiServer } from '../../helpers/api-server/start.ts'
import { kubeconfigText, type TestUser } from '../../helpers/api-server/users.ts'
import { it } from '../../helpers/machine.ts'
import { noRoot } from '../../helpers/namespace.ts'
import { describeUnless } from '../describe-unless.ts'
import { NODE, nodeObject, startNode, type TrustNode } from './node.ts'
import { codeOf } from './watched-run.ts'

/** However it is put. */
const SAID = /insecure|not verified|unverified|without tls|plain.?http|unencrypted|not encrypted|clear ?text/i

const TOKEN = 'of-an-administrator'
const ADMIN: TestUser = {
  name: 'token',
  user: 'kubernetes-admin',
  login: 'token',
  token: TOKEN,
  roles: [{ rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }] }],
}
const server = { objects: [nodeObject()], nodeName: NODE, users: [ADMIN] }

/** With this kubeconfig: what a plan says, an apply, and one that is told to do it all the same. */
async function report(node: TrustNode, text: string): Promise<object> {
  const file = `${node.directory}/kubeconfig`
  writeFileSync(file, text, { mode: 0o600 })
  const table = await node.volctl(['plan', '--kubeconfig', file])
  const apply = ['apply', '--yes', '-o', 'json', '--kubeconfig', file]
  const refused = await node.volctl(apply)
  const kept = node.isMounted()
  const accepted = await node.volctl([...apply, '--accept-insecure-api'])
  const journal = readFileSync('/var/lib/volctl/journal.jsonl', 'utf8')
  return {
    plan: { status: table.status, said: SAID.test(`${table.stdout.split('\n\n')[0]}${table.stderr}`) },
    refused: { status: refused.status, code: codeOf(refused) },
    kept,
    accepted: { status: accepted.status, mounted: node.isMounted(), written: SAID.test(journal) },
  }
}

const ASKED = {
  plan: { status: 0, said: true },
  refused: { status: 4, code: 'InsecureApi' },
  kept: true,
  accepted: { status: 0, mounted: false, written: true },
}

describeUnless(noRoot, 'an API server that may be another', () => {
  it('S34: unverified: plan, journal and refusal say so, and apply wants a flag', async ({ directory }) => {
    await using node = await startNode(directory)
    await using api = await startApiServer({ ...server, untrusted: true })
    const cluster = { 'insecure-skip-tls-verify': true }
    const text = kubeconfigText({ server: api.url, ...cluster }, { token: TOKEN })
    expect(await report(node, text)).toEqual(ASKED)
  })

  it('S34: plain: plan, journal and refusal say so, and apply wants a flag', async ({ directory }) => {
    await using node = await startNode(directory)
    await using api = await startApiServer(server)
    const ca = readFileSync(`${api.directory}/ca.crt`)
    const plain = createServer((incoming, response) => {
      const { method, headers, url } = incoming
      const outgoing = request(`${api.url}${url}`, { method, headers, ca }, (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers)
        answer.pipe(response)
      })
      outgoing.on('error', () => response.destroy())
      incoming.pipe(outgoing)
    }).listen(0, '127.0.0.1')
    await once(plain, 'listening')
    const url = `http://127.0.0.1:${(plain.address() as AddressInfo).port}`
    expect(await report(node, kubeconfigText({ server: url }, { token: TOKEN }))).toEqual(ASKED)
    plain.close()
  })

  it('control: of one that is shown to be the right one nothing is said', async ({ directory }) => {
    await using node = await startNode(directory)
    await using api = await startApiServer(server)
    const text = JSON.stringify(load(readFileSync(api.kubeconfig('token'), 'utf8')))
    expect(await report(node, text)).toMatchObject({
      plan: { status: 0, said: false },
      refused: { status: 0 },
      kept: false,
    })
  })
})
