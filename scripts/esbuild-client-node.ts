/**
 * Makes the one part of @kubernetes/client-node that volctl uses, KubeConfig, cheap to bundle and to load.
 *
 * Its config.js pulls in every generated API and model, undici, OpenID and proxy libraries, 1.4 MB evaluated at each
 * start. volctl needs credentials and TLS options, so here
 *   - the generated index, as config.js imports it, becomes the two small files whose names it uses;
 *   - heavy packages become modules of getters: the real one is bundled as well, but evaluated when first touched;
 *   - undici, which only client-node's own requests use and volctl never makes, is left outside the bundle.
 * This depends on client-node's internals: test/api/esbuild-client-node.test.ts bundles it and tries each way to log in.
 */
import type { Plugin } from 'esbuild'
import { type LazyPackages, loadLazily } from './esbuild-lazy.ts'

/** What client-node's files import. */
const LAZY: LazyPackages = {
  hpagent: ['HttpProxyAgent', 'HttpsProxyAgent'],
  'jsonpath-plus': ['JSONPath'],
  'openid-client': ['customFetch', 'discovery', 'refreshTokenGrant'],
  socks: ['SocksClient'],
  'socks-proxy-agent': ['SocksProxyAgent'],
  undici: ['Agent', 'ProxyAgent', 'fetch'],
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

      loadLazily(build, 'client-node-lazy', CLIENT_NODE, LAZY)
      build.onResolve({ filter: /^undici$/, namespace: 'client-node-lazy' }, ({ path }) => ({ path, external: true }))
    },
  }
}
