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
import type { OnLoadResult, Plugin } from 'esbuild'

/** Names that client-node's files import, by package. */
const LAZY: Readonly<Record<string, readonly string[]>> = {
  hpagent: ['HttpProxyAgent', 'HttpsProxyAgent'],
  'jsonpath-plus': ['JSONPath'],
  'openid-client': ['customFetch', 'discovery', 'refreshTokenGrant'],
  socks: ['SocksClient'],
  'socks-proxy-agent': ['SocksProxyAgent'],
  undici: ['Agent', 'ProxyAgent', 'fetch'],
}

const OUTSIDE = new Set(['undici'])

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

      const packages = new RegExp(`^(${Object.keys(LAZY).join('|')})$`)
      build.onResolve({ filter: packages }, ({ path, importer, resolveDir, namespace }) => {
        if (namespace === 'client-node-lazy') return OUTSIDE.has(path) ? { path, external: true } : null
        return CLIENT_NODE.test(importer) ? { path, namespace: 'client-node-lazy', pluginData: resolveDir } : null
      })
      build.onLoad({ filter: /.*/, namespace: 'client-node-lazy' }, ({ path, pluginData }) =>
        lazy(path, String(pluginData)),
      )
    },
  }
}

/** A CommonJS module whose exports are getters: an import of one of them compiles to a use at the place of use. */
function lazy(name: string, resolveDir: string): OnLoadResult {
  const getters = (LAZY[name] ?? []).map(
    (key) => `Object.defineProperty(exports, '${key}', { enumerable: true, get: () => require('${name}').${key} })`,
  )
  const marker = `Object.defineProperty(exports, '__esModule', { value: true })`
  return { contents: [marker, ...getters].join('\n'), resolveDir, loader: 'js' }
}
