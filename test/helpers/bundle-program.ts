/** Bundles one of the tests' programs: `node bundle-program.ts SOURCE BUNDLE`, by programs.ts. */
import { existsSync, readFileSync, renameSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build, type Plugin } from 'esbuild'

/** CommonJS packages load Node's modules this way. */
const REQUIRE = `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);`

/** A bundle is in another directory: each module keeps its source's path, by which it finds files beside it. */
const ownPlaces: Plugin = {
  name: 'own-places',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const places: Readonly<Record<string, string>> = {
        url: pathToFileURL(path).href,
        filename: path,
        dirname: dirname(path),
      }
      const source = readFileSync(path, 'utf8')
      const contents = source.replaceAll(/\bimport\.meta\.(url|filename|dirname)\b/g, (_, name) =>
        JSON.stringify(places[name]),
      )
      return { contents, loader: 'ts' }
    })
  },
}

const [source = '', bundle = ''] = process.argv.slice(2)
// Another process may have made it while this one waited for the lock.
if (!existsSync(bundle)) {
  const made = `${bundle}.new`
  await build({
    entryPoints: [source],
    outfile: made,
    absWorkingDir: join(import.meta.dirname, '..', '..'),
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node26',
    banner: { js: REQUIRE },
    logLevel: 'warning',
    plugins: [ownPlaces],
  })
  renameSync(made, bundle)
}
