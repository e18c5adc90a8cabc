/** The look that `volctl doctor` judges: the one of plan, in which nothing that cannot be read hides anything else. */

import { discoverKubeConfig } from '../../kube/kubeconfig/kube-config.ts'
import { missingCapabilities } from '../../linux/capabilities.ts'
import { errorMessage, type Hint, VolctlError } from '../../messages/findings.ts'
import { type CollectOptions, lookAt, type Part } from '../../node/collect-node.ts'
import { locateNode } from '../../node/locate-node.ts'
import { WrongNamespace } from '../../node/read-mountinfo.ts'
import type { NodeState } from '../../volumes/snapshot.ts'

/** Why something could not be read, as an error of volctl says it. */
export interface Failure {
  readonly message: string
  readonly hint?: Hint
}

export interface DoctorLook {
  /** With every section that could be read. Absent: it is not known which node this is. */
  readonly state?: NodeState
  readonly failures: Readonly<Partial<Record<Part | 'node', Failure>>>
  /** Where the credential that was used is from. */
  readonly credential?: string
  /** What volctl may do here; absent of a snapshot, which does not show it. */
  readonly host?: {
    readonly uid: number
    readonly missingCapabilities: ReturnType<typeof missingCapabilities>
    /** Why volctl may only read here. */
    readonly standing: readonly Failure[]
  }
}

/** @throws WrongNamespace where root has to enter another mount namespace first (S6) */
export async function lookForDoctor(
  options: Omit<CollectOptions, 'attributes'> & { readonly log: (line: string) => void },
): Promise<DoctorLook> {
  const failures: Partial<Record<Part | 'node', Failure>> = {}
  const noting = async <T>(part: Part | 'node', read: () => T | Promise<T>): Promise<T | undefined> => {
    try {
      return await read()
    } catch (error) {
      if (error instanceof WrongNamespace && process.geteuid?.() === 0) throw error
      const hint = error instanceof VolctlError ? error.hint : undefined
      failures[part] = { message: errorMessage(error), hint }
      return undefined
    }
  }
  const { kubeconfig, context } = options
  const may = { uid: process.geteuid?.() ?? 0, missingCapabilities: missingCapabilities() }
  const located = await noting('node', () => locateNode(options))
  if (located === undefined) {
    // Of which node the API would be asked is not known; whether there is a credential is.
    await noting('api', () => discoverKubeConfig({ kubeconfig, context }))
    return { failures, host: { ...may, standing: [] } }
  }
  const looked = await lookAt(located, { ...options, attributes: 'plan' }, noting)
  const { snapshot, mounts, node, connections } = looked
  connections?.client.close()
  connections?.kubeletClient?.close()
  return {
    state: { snapshot, mounts },
    failures,
    credential: connections?.client.source,
    host: { ...may, standing: node.standing },
  }
}
