/**
 * Makes the one part of @kubernetes/client-node that volctl uses, KubeConfig's proxy support, cheap to bundle and to load.
 *
 * Its config.js pulls in every generated API and model, undici, OpenID and proxy libraries, 1.4 MB evaluated at each start.
 * So here
 *   - the generated index, as config.js imports it, becomes the two small files whose names it uses;
 *   - its ways to log in are left out, since some start programs and open files: volctl has its own (S33);
 *   - heavy packages become modules of getters: the real one is bundled as well, but evaluated when first touched;
 *   - undici, which only client-node's own requests use and volctl never makes, is left outside the bundle. This
 *     depends on client-node's internals: test/api/esbuild-client-node.test.ts bundles it and tries each way to log in.
 */
import type { Plugin } from 'esbuild'
import { type LazyPackages, loadLazily } from './esbuild-lazy.ts'

/** What client-node's files import. */
const LAZY: LazyPackages = {
  hpagent: ['HttpProxyAgent', 'HttpsProxyAgent'],
  socks: ['SocksClient'],
  'socks-proxy-agent': ['SocksProxyAgent'],
  undici: ['Agent', 'ProxyAgent', 'fetch'],
}

/** File and class of each way to log in. */
const LOGINS: Readonly<Record<string, string>> = {
  azure_auth: 'AzureAuth',
  exec_auth: 'ExecAuth',
  file_auth: 'FileAuth',
  gcp_auth: 'GoogleCloudPlatformAuth',
  oidc_auth: 'OpenIDConnectAuth',
}

const CLIENT_NODE = /[\\/]@kubernetes[\\/]client-node[\\/]dist[\\/]/

export function clientNodePlugin(): Plugin {
  return {
    name: 'client-node',
    setup(build) {
      build.onResolve({ filter: /^\.\/gen\/index\.js$/ }, ({ importer, resolveDir }) =>
        CLIENT_NODE.test(importer) ? { path: 'gen', namespace: 'client-node-gen', pluginData: resolveDir } : null,
      )
      build.onLoad({ filter: /.*/, namespace: 'client-node-gen' }, ({ pluginData }) => ({
        contents: `export { createConfiguration } from './gen/configuration.js'\nexport { ServerConfiguration } from './gen/servers.js'\n`,
        resolveDir: String(pluginData),
      }))

      build.onResolve({ filter: /^\.\/[a-z]+_auth\.js$/ }, ({ path, importer }) =>
        CLIENT_NODE.test(importer) ? { path: path.slice(2, -3), namespace: 'client-node-login' } : null,
      )
      build.onLoad({ filter: /.*/, namespace: 'client-node-login' }, ({ path }) => ({
        contents: `export class ${LOGINS[path]} { isAuthProvider() { return false } }`,
      }))

      loadLazily(build, 'client-node-lazy', CLIENT_NODE, LAZY)
      build.onResolve({ filter: /^undici$/, namespace: 'client-node-lazy' }, ({ path }) => ({ path, external: true }))
    },
  }
}
