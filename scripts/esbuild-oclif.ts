/**
 * Makes oclif cheap to load. Its modules require at once what only some commands need: templates for help, spinners,
 * file globs, performance hooks. Here each becomes a module of getters: the real one is bundled as well, but evaluated
 * when it is first touched. test/cli/volctl.test.ts runs all of what touches them.
 */
import type { Plugin } from 'esbuild'

/** Names that oclif's files import, by package; `default` where they take the package itself. */
const LAZY: Readonly<Record<string, readonly string[]>> = {
  ansis: ['default'],
  'clean-stack': ['default'],
  'cli-spinners': ['default'],
  ejs: ['default'],
  lilconfig: ['lilconfig'],
  minimatch: ['minimatch'],
  'node:perf_hooks': ['performance', 'PerformanceObserver'],
  'node:readline': ['createInterface'],
  'string-width': ['default'],
  tinyglobby: ['glob'],
  'widest-line': ['default'],
  'wrap-ansi': ['default'],
}

const OCLIF = /[\\/]@oclif[\\/]core[\\/]/

export function oclifPlugin(): Plugin {
  return {
    name: 'oclif',
    setup(build) {
      const packages = new RegExp(`^(${Object.keys(LAZY).join('|')})$`)
      build.onResolve({ filter: packages }, ({ path, importer, resolveDir }) =>
        OCLIF.test(importer) ? { path, namespace: 'oclif-lazy', pluginData: resolveDir } : null,
      )
      build.onLoad({ filter: /.*/, namespace: 'oclif-lazy' }, ({ path, pluginData }) => ({
        contents: gettersOf(path, LAZY[path] ?? []),
        resolveDir: String(pluginData),
        loader: 'js',
      }))
    },
  }
}

function gettersOf(name: string, keys: readonly string[]): string {
  const real = `require('${name}')`
  const getters = keys.map((key) => {
    // As oclif's __importDefault reads it.
    const value = key === 'default' ? `${real}.__esModule ? ${real}.default : ${real}` : `${real}.${key}`
    return `Object.defineProperty(exports, '${key}', { enumerable: true, get: () => ${value} })`
  })
  return [`Object.defineProperty(exports, '__esModule', { value: true })`, ...getters].join('\n')
}
