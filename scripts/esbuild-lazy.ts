/** Packages that are bundled, and evaluated only when first used. */
import type { PluginBuild } from 'esbuild'

/** Names that are imported, by package; `default` if the package itself is imported. */
export type LazyPackages = Readonly<Record<string, readonly string[]>>

/** For files whose path fits `importers`, each package becomes a module of getters, in a separate namespace. */
export function loadLazily(build: PluginBuild, namespace: string, importers: RegExp, lazy: LazyPackages): void {
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
