import type { Agent } from 'node:https'
import { defined } from '../../lang/defined.ts'
import type { ConnectionOptions } from '../transport/connection.ts'
import { endProxied } from '../transport/ending-agent.ts'
import type { Fields } from './normalize-kube-config.ts'

/**
 * Connections through the `proxy-url` of a kubeconfig (HTTP, HTTPS, SOCKS) or a SOCKS proxy of the environment, by client-node's libraries. client-node gets the
 * content of files, never their names, and no login, so that it opens no file and starts no program.
 */
export async function proxyAgent(cluster: Fields, proxyUrl: string, connection: ConnectionOptions): Promise<Agent> {
  // The package's index would load every API of Kubernetes; scripts/esbuild-client-node.ts trims this further.
  const { KubeConfig } = await import('@kubernetes/client-node/dist/config.js')
  const { ca, cert, key, servername, rejectUnauthorized } = connection
  const kubeConfig = new KubeConfig()
  kubeConfig.loadFromOptions({
    clusters: [
      {
        name: 'cluster',
        server: String(cluster.server),
        proxyUrl,
        skipTLSVerify: rejectUnauthorized === false,
        ...defined({ tlsServerName: servername, caData: ca === undefined ? undefined : base64(ca) }),
      },
    ],
    users: [
      {
        name: 'user',
        ...defined({
          certData: cert === undefined ? undefined : base64(cert),
          keyData: key === undefined ? undefined : base64(key),
        }),
      },
    ],
    contexts: [{ name: 'context', cluster: 'cluster', user: 'user' }],
    currentContext: 'context',
  })
  const options: { agent?: Agent } = {}
  await kubeConfig.applyToHTTPSOptions(options)
  if (options.agent === undefined) throw new Error('no agent')
  // Set explicitly; otherwise NODE_TLS_REJECT_UNAUTHORIZED would decide.
  options.agent.options.rejectUnauthorized = rejectUnauthorized ?? true
  return endProxied(options.agent)
}

function base64(data: Buffer | string): string {
  return Buffer.from(data).toString('base64')
}
