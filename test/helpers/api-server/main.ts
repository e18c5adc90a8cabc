/**
 * A Kubernetes API server for tests and for the demo, as a separate program: objects from files, over HTTPS, with
 * the authentication, authorisation and failures that volctl meets. It prints one line of JSON when it is ready.
 *
 *   node test/helpers/api-server/main.ts --dir DIR [--data FILE]... [--users FILE] [--node NAME] [--host 127.0.0.1]
 *     [--port 0] [--certificate-host NAME]... [--untrusted] [--detach-delay MS] [--exit-with-parent]
 *
 * DIR receives ca.crt and a kubeconfig for each user; --exit-with-parent removes it when standard input ends.
 */
import { randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { AuthenticatedUser } from './authorize.ts'
import { createAuthority } from './certificates.ts'
import { loadData } from './load-data.ts'
import { typeOfKind } from './resource-types.ts'
import { serve } from './server.ts'
import { Store } from './store.ts'
import { defaultUsers, loadRole, type TestUser, writeKubeconfig } from './users.ts'

const { values: flags } = parseArgs({
  options: {
    dir: { type: 'string' },
    data: { type: 'string', multiple: true, default: [] },
    users: { type: 'string' },
    node: { type: 'string' },
    host: { type: 'string', default: '127.0.0.1' },
    port: { type: 'string', default: '0' },
    'certificate-host': { type: 'string', multiple: true, default: [] },
    untrusted: { type: 'boolean', default: false },
    'detach-delay': { type: 'string', default: '0' },
    'exit-with-parent': { type: 'boolean', default: false },
  },
})
if (flags.dir === undefined) throw new Error('--dir is required')
mkdirSync(flags.dir, { recursive: true })

const store = new Store()
for (const file of flags.data) for (const object of loadData(file)) store.put(object)

const nodes = typeOfKind('Node')
const nodeName = flags.node ?? (nodes && store.all(nodes)[0]?.metadata.name) ?? 'node'
const users: TestUser[] =
  flags.users === undefined ? defaultUsers(nodeName) : JSON.parse(readFileSync(flags.users, 'utf8'))
const roles = new Map(users.map((user) => [user.user, (user.roles ?? []).map(loadRole)]))
const tokens = new Map<string, AuthenticatedUser>()

const authority = createAuthority('volctl test CA')
const hosts =
  flags['certificate-host'].length > 0
    ? flags['certificate-host']
    : [...new Set([flags.host, '127.0.0.1', 'localhost'])]
const signer = flags.untrusted ? createAuthority('another CA') : authority

const { port, adminPort } = await serve({
  store,
  authority: authority.certificate,
  certificate: signer.server(hosts),
  tokens,
  rolesOf: (user) => roles.get(user.name) ?? [],
  settings: {
    detachDelayMs: Number(flags['detach-delay']),
    clockSkewMs: 0,
    attachesAtOnce: false,
    reportsDetached: true,
  },
  host: flags.host,
  port: Number(flags.port),
})

const url = `https://${flags.host}:${port}`
writeFileSync(join(flags.dir, 'ca.crt'), authority.certificate)
const kubeconfigs: Record<string, string> = {}
for (const user of users) {
  const token = user.token ?? randomUUID()
  if (user.login === 'token') tokens.set(token, { name: user.user, groups: user.groups ?? [] })
  kubeconfigs[user.name] = writeKubeconfig(flags.dir, url, authority, user, token)
}

// The starter may be killed; nothing may be left behind then.
const directory = flags.dir
if (flags['exit-with-parent']) {
  process.on('SIGINT', () => undefined)
  process.stdin.resume().on('end', () => {
    rmSync(directory, { recursive: true, force: true })
    process.exit(0)
  })
}
process.stdout.write(
  `${JSON.stringify({ url, adminUrl: `http://127.0.0.1:${adminPort}`, directory: flags.dir, kubeconfigs })}\n`,
)
