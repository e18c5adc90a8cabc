/** How an API server is reached, and with which identity. */
import type { Agent as HttpAgent } from 'node:https'
import type { Insecure } from '../../model/snapshot.ts'

/** Where a credential came from, as in `api.credential`, unless it is a node's identity. */
export type CredentialKind = 'kubeconfig' | 'admin' | 'kubelet' | 'in-cluster'

/** What node:https needs to connect and to authenticate. */
export interface ConnectionOptions {
  readonly ca?: Buffer
  readonly cert?: Buffer | string
  readonly key?: Buffer | string
  readonly servername?: string
  readonly rejectUnauthorized?: boolean
  readonly auth?: string
  readonly headers: Readonly<Record<string, string | string[]>>
  /** Only if the kubeconfig names a proxy: connects through it. */
  readonly agent?: HttpAgent
  /** False: the kubeconfig disables compression. */
  readonly compression: boolean
}

/** A credential for one API server. Holds no secret before `load`. */
export interface KubeCredentials {
  /** File, files or "in-cluster", for messages. */
  readonly source: string
  readonly kind: CredentialKind
  readonly context: string
  readonly server: string
  /** Why anyone on the network path could answer in the server's place (S34); absent: nobody could. */
  readonly insecure?: Insecure
  /** Reads files and runs plugins again, since certificates rotate and tokens expire (N42, N43, N44). */
  load(signal?: AbortSignal): Promise<ConnectionOptions>
  /** Checks that the files named by the credential can be read. @throws VolctlError KubeconfigUnsafe, CredentialFailed */
  checkFiles(): void
}
