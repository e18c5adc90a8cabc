import { X509Certificate } from 'node:crypto'
import { VolctlError } from '../../base/errors.ts'
import { NODE_USER } from '../../facts/actual/volume-names.ts'
import { readKubeConfigFile } from './kube-config-file.ts'
import { dataOrFile } from './kube-credentials.ts'
import { type Fields, selectContext } from './normalize-kube-config.ts'

/**
 * The node name with which a kubelet's kubeconfig logs in (N29): from its client certificate, otherwise from its user name.
 * No server is asked and no program is started.
 *
 * @returns undefined if neither shows it, or the file may not be read
 */
export function nodeNameInKubeconfig(path: string): string | undefined {
  try {
    const config = readKubeConfigFile(path)
    const { user, contextName } = selectContext(config, path, undefined)
    const context = config.contexts.find(({ name }) => name === contextName)?.context as Fields | undefined
    return nodeOf(commonName(dataOrFile(user, 'client-certificate', path))) ?? nodeOf(String(context?.user ?? ''))
  } catch (error) {
    if (error instanceof VolctlError) return undefined
    throw error
  }
}

function nodeOf(user: string | undefined): string | undefined {
  return user?.startsWith(NODE_USER) ? user.slice(NODE_USER.length) || undefined : undefined
}

/** The certificate's common name; a kubelet's file has the key, too. */
function commonName(pem: Buffer | undefined): string | undefined {
  const text = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/.exec(pem?.toString('latin1') ?? '')?.[0]
  if (text === undefined) return undefined
  try {
    return /^CN=(.+)$/m.exec(new X509Certificate(text).subject)?.[1]
  } catch {
    return undefined
  }
}
