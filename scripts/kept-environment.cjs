// Copied to dist/. Of the caller's environment volctl keeps only the variables that it reads itself: others may affect
// Node.js, OpenSSL or the dynamic linker, and could load code, trust another authority or write files as root (S34).
// bin/volctl has the same names; a test compares them.

exports.KEPT = [
  // Who called. ~/.kube/config is searched in HOME.
  'HOME',
  // The journal of an apply of a cluster.
  'XDG_STATE_HOME',
  'SUDO_UID',
  'SUDO_USER',
  // How to print.
  'LANG',
  'LC_ALL',
  'LC_CTYPE',
  'LC_MESSAGES',
  'TZ',
  'TERM',
  'COLORTERM',
  'NO_COLOR',
  'FORCE_COLOR',
  // Which cluster and runtime.
  'KUBECONFIG',
  'KUBERNETES_SERVICE_HOST',
  'KUBERNETES_SERVICE_PORT',
  'CONTAINER_RUNTIME_ENDPOINT',
  'HTTPS_PROXY',
  'https_proxy',
  'HTTP_PROXY',
  'http_proxy',
  'NO_PROXY',
  'no_proxy',
  'ALL_PROXY',
  'all_proxy',
]

/** A time zone that is a file, which may be a FIFO, or on a server that is gone. */
exports.isFile = (name, value) => name === 'TZ' && /^[:/]|\.\./.test(value)

/** No program is searched on the caller's PATH. */
exports.PATH = '/usr/bin:/bin:/usr/sbin:/sbin'
