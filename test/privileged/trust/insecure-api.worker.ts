/** Kubeconfigs that say that the server need not be shown to be the right one. */
import { readFileSync, writeFileSync } from 'node:fs'
import { load } from 'js-yaml'
import { startApiServer } from '../../helpers/api-server/start.ts'
import type { TestUser } from '../../helpers/api-server/users.ts'
import { startOddApi } from '../../helpers/hostile-server/start.ts'
import { runScenario } from '../../helpers/scenario.ts'
import { kubeconfigText } from './kubeconfigs.ts'
import { NODE, nodeObject, type TrustNode, withNode } from './node.ts'
import { codeOf } from './watched-run.ts'

export interface Report {
  readonly table: { readonly status: number | undefined; readonly header: string }
  /** What the plan says of the API. */
  readonly json: { readonly status: number | undefined; readonly text: string }
  readonly refused: { readonly status: number | undefined; readonly code: string | undefined; readonly stderr: string }
  readonly kept: boolean
  readonly accepted: { readonly status: number | undefined; readonly mounted: boolean }
  readonly journal: string
}

const TOKEN = 'of-an-administrator'
const ADMIN: TestUser = {
  name: 'token',
  user: 'kubernetes-admin',
  login: 'token',
  token: TOKEN,
  roles: [{ rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }] }],
}

async function report(node: TrustNode, text: string): Promise<Report> {
  const file = `${node.directory}/kubeconfig`
  writeFileSync(file, text, { mode: 0o600 })
  const given = ['--kubeconfig', file]
  const table = await node.volctl(['plan', ...given])
  const json = await node.volctl(['plan', '-o', 'json', ...given])
  const refused = await node.volctl(['apply', '--yes', '-o', 'json', ...given])
  const kept = node.isMounted()
  const accepted = await node.volctl(['apply', '--yes', '--accept-insecure-api', '-o', 'json', ...given])
  return {
    table: { status: table.status, header: `${table.stdout.split('\n\n')[0]}${table.stderr}` },
    // The server's URL says http all the same.
    json: { status: json.status, text: `${json.stdout}${json.stderr}`.replaceAll('http://', '') },
    refused: { status: refused.status, code: codeOf(refused), stderr: refused.stderr },
    kept,
    accepted: { status: accepted.status, mounted: node.isMounted() },
    journal: journalOf(),
  }
}

function journalOf(): string {
  try {
    return readFileSync('/var/lib/volctl/journal.jsonl', 'utf8')
  } catch {
    return ''
  }
}

await runScenario({
  unverified: (directory) =>
    withNode(directory, {}, async (node) => {
      await using api = await startApiServer({
        objects: [nodeObject()],
        nodeName: NODE,
        untrusted: true,
        users: [ADMIN],
      })
      const text = kubeconfigText({
        server: api.url,
        cluster: { 'insecure-skip-tls-verify': true },
        user: { token: TOKEN },
      })
      return await report(node, text)
    }),

  plain: (directory) =>
    withNode(directory, {}, async (node) => {
      await using api = await startApiServer({ objects: [nodeObject()], nodeName: NODE, users: [ADMIN] })
      const odd = await startOddApi(api, { plain: true })
      try {
        return await report(node, kubeconfigText({ server: odd.url, user: { token: TOKEN } }))
      } finally {
        await odd.stop()
      }
    }),

  /** The same credential over TLS that is verified. */
  control: (directory) =>
    withNode(directory, {}, async (node) => {
      await using api = await startApiServer({ objects: [nodeObject()], nodeName: NODE, users: [ADMIN] })
      return await report(node, JSON.stringify(load(readFileSync(api.kubeconfig('token'), 'utf8'))))
    }),
})
