// Used by the build: runs one command line and writes the code that V8 has compiled by then. node make-code-cache.cjs DIST
// ARGS…
const { readFileSync, writeFileSync } = require('node:fs')
const { join, resolve } = require('node:path')

const dist = resolve(process.argv[2])
process.argv.splice(1, 2, join(dist, 'launch.cjs'))
let script
process.on('exit', () => writeFileSync(join(dist, 'code-cache'), script.createCachedData(), { mode: 0o644 }))
const bundle = readFileSync(join(dist, 'volctl.cjs'), 'utf8')
script = require(join(dist, 'load-bundle.cjs')).loadBundle(bundle, undefined)
