// `launch-reader.cjs DIRECTORY ROOT`: starts the reader's bundle in a directory as the executable starts its own, without its checks.
const { readFileSync } = require('node:fs')
const { join } = require('node:path')
const { loadBundle } = require('../load-bundle.cjs')

const read = (name) => readFileSync(join(process.argv[2], name))
loadBundle(read('volctl.cjs').toString('latin1'), read('code-cache'))
