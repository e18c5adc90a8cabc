import type { Cluster } from '../../src/core/apply/ports.ts'

const nothing = async (): Promise<never> => {
  throw new Error('not asked in this test')
}

/** The part of the API that is asked for what is written into volumes, where nothing is. */
export const NOTHING_TO_WRITE = {
  getPod: nothing,
  getConfigMap: nothing,
  getSecret: nothing,
  requestToken: nothing,
  getClusterTrustBundle: nothing,
  listClusterTrustBundles: nothing,
} satisfies Partial<Cluster>
