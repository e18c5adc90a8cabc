import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { load } from 'js-yaml'
import type { ClusterRole } from './authorize.ts'
import type { Authority } from './certificates.ts'

/** A user of the server, with the kubeconfig that is made for them. */
export interface TestUser {
  /** Name of the kubeconfig. */
  readonly name: string
  readonly user: string
  readonly groups?: readonly string[]
  /** `file`: certificate and key in one PEM beside the kubeconfig, as a kubelet's (N42). */
  readonly login: 'token' | 'certificate' | 'file'
  /** Instead of a random one. */
  readonly token?: string
  /** Files with ClusterRoles, or the rules themselves. */
  readonly roles?: readonly (string | ClusterRole)[]
}

const EVERYTHING: ClusterRole = { rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }] }

const DEPLOY = new URL('../../../deploy/', import.meta.url).pathname

const PLAN_ROLE = join(DEPLOY, 'clusterrole-plan.yaml')
const APPLY_ROLE = join(DEPLOY, 'clusterrole-apply.yaml')

/** An administrator, the node's kubelet, volctl's two roles, and a user without any right. */
export function defaultUsers(nodeName: string): TestUser[] {
  return [
    {
      name: 'admin',
      user: 'kubernetes-admin',
      groups: ['kubeadm:cluster-admins'],
      login: 'certificate',
      roles: [EVERYTHING],
    },
    { name: 'kubelet', user: `system:node:${nodeName}`, groups: ['system:nodes'], login: 'file' },
    { name: 'plan', user: 'volctl-plan', login: 'token', roles: [PLAN_ROLE] },
    { name: 'apply', user: 'volctl-apply', login: 'token', roles: [PLAN_ROLE, APPLY_ROLE] },
    { name: 'nobody', user: 'nobody', login: 'token' },
  ]
}

export function loadRole(role: string | ClusterRole): ClusterRole {
  return typeof role === 'string' ? (load(readFileSync(role, 'utf8')) as ClusterRole) : role
}

/** Writes a user's kubeconfig and returns its path. */
export function writeKubeconfig(
  directory: string,
  server: string,
  authority: Authority,
  user: TestUser,
  token: string,
): string {
  const base64 = (text: string): string => Buffer.from(text).toString('base64')
  const path = join(directory, `${user.name}.kubeconfig`)
  let login: object = { token }
  if (user.login !== 'token') {
    const { key, certificate } = authority.client(user.user, user.groups ?? [])
    const pem = `${user.name}-current.pem`
    if (user.login === 'file') writeFileSync(join(directory, pem), key + certificate, { mode: 0o600 })
    login =
      user.login === 'file'
        ? { 'client-certificate': pem, 'client-key': pem }
        : { 'client-certificate-data': base64(certificate), 'client-key-data': base64(key) }
  }
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'test', cluster: { server, 'certificate-authority-data': base64(authority.certificate) } }],
    users: [{ name: user.name, user: login }],
    contexts: [{ name: user.name, context: { cluster: 'test', user: user.name } }],
    'current-context': user.name,
  }
  writeFileSync(path, `${JSON.stringify(config, null, 2)}\n`, { mode: 0o600 })
  return path
}

/** A kubeconfig of one cluster and one user, as its file has it. */
export function kubeconfigText(cluster: object, user: object = { token: 'x' }): string {
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  }
  return `${JSON.stringify(config, undefined, 1)}\n`
}
