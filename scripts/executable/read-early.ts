/**
 * What Node.js, its parts and the libraries below have read from the environment by the time the first line of JavaScript runs.
 * The end of the list is what glibc itself keeps from programs that have more rights than their caller, but for TMPDIR, which nothing
 * has asked for by then, and which many people have: it is only taken away.
 */
export const READ_EARLY =
  /^(NODE_|OPENSSL|SSL_|UV_|ICU_|LD_|MALLOC_|GLIBC_TUNABLES|GCONV_PATH|GETCONF_DIR|HOSTALIASES|LOCALDOMAIN|LOCPATH|NIS_PATH|NLSPATH|RESOLV_HOST_CONF|RES_OPTIONS|TZDIR)/
