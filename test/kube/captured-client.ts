import type { ApiObject, Resource } from '../../src/core/kube/api/objects.ts'
import { listPath, type ObjectKey, objectPath } from '../../src/core/kube/api/resources.ts'
import { ApiError, received, unlessAbsent } from '../../src/core/kube/api-error.ts'
import {
  type KubeClient,
  type ListEnd,
  type ListVisitor,
  type ObjectList,
  WRITES,
  type Write,
} from '../../src/core/kube/kube-client.ts'
import type { Shape } from '../../src/core/trust/shape.ts'
import type { ApiSnapshot } from '../../src/core/volumes/snapshot.ts'

/** An API server's answers, by path; for a list, its items. */
export type Answers = Readonly<Record<string, unknown>>

/** An API server's answers, without the server, for tests that need many. */
export class CapturedClient implements KubeClient {
  readonly server = 'https://api.test:6443'
  readonly source = 'test'
  readonly credentialKind = 'admin'
  readonly clockSkewMs = undefined
  readonly insecure = undefined
  readonly #answers: Answers

  constructor(answers: Answers) {
    this.#answers = answers
  }

  /** As far as the capture contains them: digests become values. */
  static answersOf(api: ApiSnapshot, nodeName: string): Record<string, unknown> {
    const storage = '/apis/storage.k8s.io/v1'
    const contents = (plural: string, list: readonly (ApiObject & { readonly digests?: object | undefined })[]) =>
      Object.fromEntries(
        list.map(({ digests = {}, ...rest }) => {
          const data = Object.fromEntries(Object.keys(digests).map((key) => [key, 'eA==']))
          return [`/api/v1/namespaces/${rest.metadata.namespace}/${plural}/${rest.metadata.name}`, { data, ...rest }]
        }),
      )
    return {
      '/api/v1/pods': api.pods,
      [`/api/v1/nodes/${nodeName}`]: api.node,
      '/api/v1/persistentvolumeclaims': api.persistentVolumeClaims,
      '/api/v1/persistentvolumes': api.persistentVolumes,
      [`${storage}/volumeattachments`]: api.volumeAttachments,
      [`${storage}/csidrivers`]: api.csiDrivers,
      [`${storage}/csinodes/${nodeName}`]: api.csiNode,
      ...contents('configmaps', api.configMaps),
      ...contents('secrets', api.secrets),
      [`/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/${nodeName}`]: {
        metadata: { name: nodeName },
        spec: { renewTime: '2026-11-21T02:00:00.000000Z' },
      },
      '/apis/authentication.k8s.io/v1/selfsubjectreviews': { status: { userInfo: { username: 'admin' } } },
      '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews': { status: { allowed: true } },
    }
  }

  /** An object that was captured by its name, or as one of a list. */
  async get<T extends ApiObject>(resource: Resource<T>, key: ObjectKey): Promise<T> {
    const path = objectPath(resource, key)
    const items = this.#answers[path] === undefined ? this.#answers[listPath(resource)] : undefined
    const isAsked = ({ metadata }: T): boolean => metadata?.name === key.name && metadata?.namespace === key.namespace
    const found = Array.isArray(items) ? items.find(isAsked) : this.#answer(path)
    if (found === undefined) throw failure('NotFound', 404)
    return received(resource.shape, found, { ...this, request: `GET ${path}` })
  }

  find<T extends ApiObject>(resource: Resource<T>, key: ObjectKey): Promise<T | undefined> {
    return unlessAbsent(this.get(resource, key))
  }

  async list<T extends ApiObject>(resource: Resource<T>): Promise<ObjectList<T>> {
    const path = listPath(resource)
    const items = this.#answer(path)
    // The client itself refuses what is no list of objects.
    if (!Array.isArray(items) || !items.every(isObject)) throw failure('ApiFailed')
    for (const [index, item] of items.entries())
      received(resource.shape, item, { ...this, request: `GET ${path}`, at: `items[${index}]` })
    return { items, resourceVersion: '7' }
  }

  async walk<T extends ApiObject>(resource: Resource<T>, visitor: ListVisitor<T>): Promise<ListEnd> {
    const visit = visitor()
    const { items, ...end } = await this.list(resource)
    visit(items)
    return end
  }

  async send<T>(write: Write, { path, shape }: { readonly path: string; readonly shape: Shape<T> }): Promise<T> {
    if (write !== 'review' && write !== 'patch') throw new Error('nothing is changed')
    return received(shape, this.#answer(path), { ...this, request: `${WRITES[write].method} ${path}` })
  }

  close(): void {}

  #answer(path: string): unknown {
    const answer = this.#answers[path]
    if (answer === undefined) throw failure('NotFound', 404)
    return answer
  }
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}

function failure(code: 'NotFound' | 'ApiFailed', status = 0): ApiError {
  const reason = code === 'NotFound' ? code : 'BadAnswer'
  return new ApiError({ code, message: `${reason} in this test` }, { status, reason })
}
