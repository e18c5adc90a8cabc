/** Writes the manual pages; with `--check` only compares, and fails if one is out of date. */
import { keepCurrent } from './made-files.ts'
import { manualPages } from './man/pages.ts'

keepCurrent(new Map([...(await manualPages())].map(([name, text]) => [`man/${name}`, text])), 'man')
