/**
 * Makes oclif cheap to load. Its modules immediately require packages that only some commands need: templates for help, performance
 * hooks. Here each becomes a module of getters: the real one is bundled as well, but evaluated when first used. What it never needs here
 * is left out. test/cli/volctl.test.ts runs all code that uses them.
 */
import type { Plugin } from 'esbuild'
import { type LazyPackages, loadLazily } from './esbuild-lazy.ts'

/** What oclif's files import. */
const LAZY: LazyPackages = {
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

export function oclifPlugin(): Plugin {
  return {
    name: 'oclif',
    setup(build) {
      loadLazily(build, 'oclif-lazy', OCLIF, LAZY)
      build.onResolve({ filter: new RegExp(`^(${Object.keys(LEFT_OUT).join('|')})$`) }, ({ path, importer }) =>
        OCLIF.test(importer) ? { path, namespace: 'oclif-left-out' } : null,
      )
      build.onLoad({ filter: /.*/, namespace: 'oclif-left-out' }, ({ path }) => ({ contents: LEFT_OUT[path] ?? '' }))
    },
  }
}
