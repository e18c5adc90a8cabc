import { nodeMay } from './node-authorizer.ts'
import type { RequestInfo } from './request-info.ts'
import type { Store } from './store.ts'

export interface PolicyRule {
  readonly apiGroups?: readonly string[]
  readonly resources?: readonly string[]
  readonly verbs: readonly string[]
  readonly resourceNames?: readonly string[]
}

export interface ClusterRole {
  readonly rules: readonly PolicyRule[]
}

export interface AuthenticatedUser {
  readonly name: string
  readonly groups: readonly string[]
}

export type Attributes = Pick<RequestInfo, 'verb' | 'group' | 'resource' | 'namespace' | 'name'> & {
  readonly fieldSelector?: string
}

/** Modes Node,RBAC: the first that allows wins (N29). Undefined: allowed; otherwise why not, in Kubernetes' words. */
export function refusal(
  store: Store,
  user: AuthenticatedUser,
  roles: readonly ClusterRole[],
  attributes: Attributes,
): string | undefined {
  if (roles.some((role) => role.rules.some((rule) => ruleAllows(rule, attributes)))) return undefined
  const isNode = user.name.startsWith('system:node:') && user.groups.includes('system:nodes')
  const node = isNode ? nodeMay(store, user.name.slice('system:node:'.length), attributes) : undefined
  if (node === true) return undefined
  const { verb, group, resource, namespace, name } = attributes
  const where = namespace === undefined ? 'at the cluster scope' : `in the namespace "${namespace}"`
  const object = name === undefined ? resource : `${resource} "${name}"`
  const text = `${object} is forbidden: User "${user.name}" cannot ${verb} resource "${resource}" in API group "${group}" ${where}`
  return node === undefined ? text : `${text}: ${node}`
}

function ruleAllows(rule: PolicyRule, { verb, group, resource, name }: Attributes): boolean {
  const has = (list: readonly string[] | undefined, value: string): boolean =>
    list !== undefined && (list.includes('*') || list.includes(value))
  if (!has(rule.verbs, verb) || !has(rule.apiGroups, group) || !has(rule.resources, resource)) return false
  return rule.resourceNames === undefined || (name !== undefined && rule.resourceNames.includes(name))
}
