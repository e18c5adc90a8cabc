import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { load } from 'js-yaml'
import { type ClusterRole, type RequestInfo, requestInfo } from './access.ts'

/** A user of the server, with the kubeconfig that is made for them. */
export interface TestUser {
  /** Name of the kubeconfig. */
  readonly name: string
  readonly user: string
  readonly groups?: readonly string[]
  /** `certificate`: the one of this name; `file`: beside the kubeconfig, with its key in the same file, as a kubelet's (N42). */
  readonly login: 'token' | 'certificate' | 'file'
  /** Instead of one of the user's name. */
  readonly token?: string
  /** Files with ClusterRoles, or the rules themselves. */
  readonly roles?: readonly (string | ClusterRole)[]
}

const DEPLOY = new URL('../../../deploy/', import.meta.url).pathname
export const PLAN_ROLE = join(DEPLOY, 'clusterrole-plan.yaml')
export const APPLY_ROLE = join(DEPLOY, 'clusterrole-apply.yaml')
export const EVERYTHING: ClusterRole = { rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }] }

/** An administrator, the node's kubelet, volctl's two roles, and a user without any right. */
export function defaultUsers(nodeName: string): TestUser[] {
  const groups = ['kubeadm:cluster-admins']
  return [
    { name: 'admin', user: 'kubernetes-admin', groups, login: 'certificate', roles: [EVERYTHING] },
    { name: 'kubelet', user: `system:node:${nodeName}`, groups: ['system:nodes'], login: 'file' },
    { name: 'plan', user: 'volctl-plan', login: 'token', roles: [PLAN_ROLE] },
    { name: 'apply', user: 'volctl-apply', login: 'token', roles: [PLAN_ROLE, APPLY_ROLE] },
    { name: 'nobody', user: 'nobody', login: 'token' },
  ]
}

export function loadRole(role: string | ClusterRole): ClusterRole {
  return typeof role === 'string' ? (load(readFileSync(role, 'utf8')) as ClusterRole) : role
}

/** All rights that roles give, in words, as often as they give them, sorted: `get pods`, `get csinodes.storage.k8s.io`. */
export function rightsOf(...roles: readonly string[]): string[] {
  const rules = roles.flatMap((role) => loadRole(role).rules)
  return inWords(
    rules.flatMap(({ apiGroups = [], resources = [], verbs }) =>
      apiGroups.flatMap((group) => resources.flatMap((resource) => verbs.map((verb) => ({ verb, resource, group })))),
    ),
  )
}

/** The same of what requests need, each once, but for what everybody may who logs in: to review himself. */
export function rightsFor(requests: readonly { readonly method: string; readonly path: string }[]): string[] {
  const asked = requests.filter(({ path }) => !path.includes('reviews'))
  const rights = asked.map(({ method, path }) =>
    // The server of the tests has no namespaces.
    path === '/api/v1/namespaces/kube-system'
      ? { verb: 'get', resource: 'namespaces', group: '' }
      : requestInfo(method, new URL(path, 'https://server')),
  )
  return [...new Set(inWords(rights))]
}

function inWords(rights: readonly Pick<RequestInfo, 'verb' | 'resource' | 'group'>[]): string[] {
  return rights.map(({ verb, resource, group }) => `${verb} ${resource}${group && `.${group}`}`).toSorted()
}

/**
 * A key and its certificate, which is its own authority and valid from 2020 to 2120: `server` for localhost, `stranger` for the same,
 * `admin` and `kubelet` for users.
 */
export function pem(name: string): string {
  return readFileSync(join(import.meta.dirname, 'certificates', `${name}.pem`), 'utf8')
}

export function certificateOf(name: string): string {
  return pem(name).slice(pem(name).indexOf('-----BEGIN CERTIFICATE'))
}

export function tokenOf({ user, token = `token-of-${user}` }: TestUser): string {
  return token
}

/** Writes a user's kubeconfig. @returns its path */
export function writeKubeconfig(directory: string, server: string, user: TestUser): string {
  const base64 = (text: string): string => Buffer.from(text).toString('base64')
  const path = join(directory, `${user.name}.kubeconfig`)
  const logins: Record<TestUser['login'], () => object> = {
    token: () => ({ token: tokenOf(user) }),
    certificate: () => ({
      'client-certificate-data': base64(certificateOf(user.name)),
      'client-key-data': base64(pem(user.name)),
    }),
    file: () => {
      const file = `${user.name}-current.pem`
      writeFileSync(join(directory, file), pem(user.name), { mode: 0o600 })
      return { 'client-certificate': file, 'client-key': file }
    },
  }
  const cluster = { server, 'certificate-authority-data': base64(certificateOf('server')) }
  writeFileSync(path, kubeconfigText(cluster, logins[user.login](), user.user), { mode: 0o600 })
  return path
}

/** A kubeconfig of one cluster and one user, as its file has it. */
export function kubeconfigText(cluster: object, user: object = { token: 'x' }, name = 'u'): string {
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster }],
    users: [{ name, user }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: name } }],
    'current-context': 'x',
  }
  return `${JSON.stringify(config, undefined, 1)}\n`
}
