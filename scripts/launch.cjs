/* Plain old JavaScript: this file must be readable by the oldest Node.js, to tell it that it is too old. */
var path = require('path')

if (Number(process.versions.node.split('.')[0]) < 22) {
  console.error('volctl: needs Node.js 22 or newer, this is ' + process.versions.node + '.')
  console.error('        Install it with its optional dependencies: they bring a Node.js of their own.')
  process.exit(1)
}

/* A root tool must not run code that somebody else could have put into its cache. */
function onlyOursCanWrite(dir) {
  try {
    var stats = require('fs').lstatSync(dir)
    var owner = stats.uid === 0 || stats.uid === process.geteuid()
    return stats.isDirectory() && owner && (stats.mode & 18) === 0
  } catch (error) {
    return false
  }
}

var cache = path.join(__dirname, 'compile-cache')
/* Where root runs a checkout that belongs to a user, the owner of this file is trusted already, but the cache is not. */
if (onlyOursCanWrite(cache)) require('module').enableCompileCache(cache)
process.env.VOLCTL_DISABLE_THEME = '1'
require('./volctl.cjs')
