/** What makes packages cheap to bundle and to load. */
import type { Plugin, PluginBuild } from 'esbuild'

/** Names that are imported, by package; `default` if the package itself is imported. */
type LazyPackages = Readonly<Record<string, readonly string[]>>

/** What client-node's files import. */
const CLIENT_NODE_LAZY: LazyPackages = {
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

/**
 * Makes the one part of @kubernetes/client-node that volctl uses, KubeConfig's support of SOCKS proxies, cheap to bundle and to load.
 *
 * Its config.js pulls in every generated API and model, undici, OpenID and proxy libraries, 1.4 MB evaluated at each start.
 * So here
 *   - the generated index, as config.js imports it, becomes the two small files whose names it uses;
 *   - its ways to log in are left out, since some start programs and open files: volctl has its own (S33);
 *   - heavy packages become modules of getters: the real one is bundled as well, but evaluated when first touched;
 *   - undici, which only client-node's own requests use and volctl never makes, and hpagent, for proxies of HTTP, which
 *     Node.js knows itself, are left outside the bundle. This depends on client-node's internals:
 *     test/kube/esbuild-client-node.test.ts connects with the bundle through a proxy of SOCKS.
 */
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

      loadLazily(build, 'client-node-lazy', CLIENT_NODE, CLIENT_NODE_LAZY)
      build.onResolve({ filter: /^(hpagent|undici)$/, namespace: 'client-node-lazy' }, ({ path }) => ({
        path,
        external: true,
      }))
    },
  }
}

/** What oclif's files import. */
const OCLIF_LAZY: LazyPackages = {
  ansis: ['default'],
  'clean-stack': ['default'],
  ejs: ['default'],
  'node:perf_hooks': ['performance', 'PerformanceObserver'],
  'node:readline': ['createInterface'],
  'string-width': ['default'],
  'widest-line': ['default'],
  'wrap-ansi': ['default'],
}

/**
 * Modules that only oclif itself needs, and never on a node: its traces for DEBUG=oclif, a check for Windows' subsystem for Linux, which
 * would only rename the platform, its spinner, the search for plugins, commands and their settings on the disk (src/main.ts), and the
 * comparison of Node.js' version, which the launcher switches off.
 */
const LEFT_OUT: Readonly<Record<string, string>> = {
  'cli-spinners': `module.exports = { dots2: { frames: [''] } }`,
  debug: 'module.exports = () => () => undefined',
  lilconfig: '',
  minimatch: '',
  semver: 'exports.satisfies = () => true',
  tinyglobby: '',
  'wsl-utils': 'exports.isWsl = false',
}

const OCLIF = /[\\/]@oclif[\\/]core[\\/]/

/**
 * Makes oclif cheap to load. Its modules immediately require packages that only some commands need: templates for help, performance
 * hooks. Here each becomes a module of getters: the real one is bundled as well, but evaluated when first used. What it never needs here
 * is left out. test/cli/volctl.test.ts runs all code that uses them.
 */
export function oclifPlugin(): Plugin {
  return {
    name: 'oclif',
    setup(build) {
      loadLazily(build, 'oclif-lazy', OCLIF, OCLIF_LAZY)
      build.onResolve({ filter: new RegExp(`^(${Object.keys(LEFT_OUT).join('|')})$`) }, ({ path, importer }) =>
        OCLIF.test(importer) ? { path, namespace: 'oclif-left-out' } : null,
      )
      build.onLoad({ filter: /.*/, namespace: 'oclif-left-out' }, ({ path }) => ({ contents: LEFT_OUT[path] ?? '' }))
    },
  }
}

/** For volctl's own children: what is to be done about a code its parent says, so that no child loads the catalogue. */
export function childPlugin(): Plugin {
  return {
    name: 'child',
    setup: (build) =>
      build.onLoad({ filter: /[\\/]src[\\/]core[\\/]messages[\\/]codes\.ts$/ }, () => ({
        contents: 'export const remedyOf = () => undefined',
      })),
  }
}

/** For files whose path fits `importers`, each package becomes a module of getters, in a separate namespace. */
function loadLazily(build: PluginBuild, namespace: string, importers: RegExp, lazy: LazyPackages): void {
  const packages = new RegExp(`^(${Object.keys(lazy).join('|')})$`)
  build.onResolve({ filter: packages }, ({ path, importer, resolveDir }) =>
    importers.test(importer) ? { path, namespace, pluginData: resolveDir } : null,
  )
  build.onLoad({ filter: /.*/, namespace }, ({ path, pluginData }) => ({
    contents: gettersOf(path, lazy[path] ?? []),
    resolveDir: String(pluginData),
    loader: 'js',
  }))
}

/** A CommonJS module whose exports are getters: an import of one of them compiles to an access at the place of use. */
function gettersOf(name: string, keys: readonly string[]): string {
  const real = `require('${name}')`
  const getters = keys.map((key) => {
    // As TypeScript's __importDefault reads it.
    const value = key === 'default' ? `${real}.__esModule ? ${real}.default : ${real}` : `${real}.${key}`
    return `Object.defineProperty(exports, '${key}', { enumerable: true, get: () => ${value} })`
  })
  return [`Object.defineProperty(exports, '__esModule', { value: true })`, ...getters].join('\n')
}
