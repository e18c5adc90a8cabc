/** What makes packages cheap to bundle and to load. */
import type { Plugin } from 'esbuild'

const CLIENT_NODE = /[\\/]@kubernetes[\\/]client-node[\\/]dist[\\/]/

/** What a way to log in becomes. */
const noLogin = (name: string): string => `export class ${name} { isAuthProvider() { return false } }`

/**
 * Makes the one part of @kubernetes/client-node that volctl uses, KubeConfig's support of SOCKS proxies, cheap to bundle and to load.
 *
 * Its config.js pulls in every generated API and model, undici, OpenID and proxy libraries, 1.4 MB.
 * So here
 *   - the generated index, as config.js imports it, becomes the two small files whose names it uses;
 *   - its ways to log in are left out, since some start programs and open files: volctl has its own (S33);
 *   - undici, which only client-node's own requests use and volctl never makes, and hpagent, for proxies of HTTP, which
 *     Node.js knows itself, are left out. This depends on client-node's internals:
 *     test/kube/esbuild-client-node.test.ts connects with the bundle through a proxy of SOCKS.
 */
const INSTEAD_IN_CLIENT_NODE = {
  './gen/index.js': `export { createConfiguration } from './gen/configuration.js'\nexport { ServerConfiguration } from './gen/servers.js'`,
  './azure_auth.js': noLogin('AzureAuth'),
  './exec_auth.js': noLogin('ExecAuth'),
  './file_auth.js': noLogin('FileAuth'),
  './gcp_auth.js': noLogin('GoogleCloudPlatformAuth'),
  './oidc_auth.js': noLogin('OpenIDConnectAuth'),
  hpagent: '',
  undici: '',
}

const OCLIF = /[\\/]@oclif[\\/]core[\\/]/

/** Names that oclif's files import, by package; `default` if the package itself is imported. */
const OCLIF_LAZY = {
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
const OCLIF_LEFT_OUT = {
  'cli-spinners': `module.exports = { dots2: { frames: [''] } }`,
  debug: 'module.exports = () => () => undefined',
  lilconfig: '',
  minimatch: '',
  semver: 'exports.satisfies = () => true',
  tinyglobby: '',
  'wsl-utils': 'exports.isWsl = false',
}

/**
 * Makes oclif cheap to load. Its modules immediately require packages that only some commands need: templates for help, performance
 * hooks. Here each becomes a module of getters: the real one is bundled as well, but evaluated when first used. What it never needs here
 * is left out. test/cli/volctl.test.ts runs all code that uses them.
 */
const INSTEAD_IN_OCLIF = {
  ...Object.fromEntries(Object.entries(OCLIF_LAZY).map(([name, keys]) => [name, gettersOf(name, keys)])),
  ...OCLIF_LEFT_OUT,
}

/** Packages as volctl needs them. */
export const PACKAGES: readonly Plugin[] = [
  replacing('client-node', CLIENT_NODE, INSTEAD_IN_CLIENT_NODE),
  replacing('oclif', OCLIF, INSTEAD_IN_OCLIF),
]

/** @param importers files for which a module of this name has that text */
function replacing(name: string, importers: RegExp, modules: Readonly<Record<string, string>>): Plugin {
  const names = new RegExp(`^(${Object.keys(modules).map(RegExp.escape).join('|')})$`)
  return {
    name,
    setup(build) {
      build.onResolve({ filter: names }, ({ path, importer, resolveDir }) =>
        importers.test(importer) ? { path, namespace: name, pluginData: resolveDir } : null,
      )
      build.onLoad({ filter: /.*/, namespace: name }, ({ path, pluginData }) => ({
        contents: modules[path] ?? '',
        resolveDir: String(pluginData),
      }))
    },
  }
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
