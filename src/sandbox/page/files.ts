/** The files that the page is made of. */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Where the page's own files are: beside this one, in a clone and in the package alike. */
const FOLDER = join(import.meta.dirname, 'browser')

/** Libraries by their path on the page. A clone has them in its packages, the package in `FOLDER`. */
const LIBRARIES: Record<string, string> = {
  'lib/preact.js': 'preact/dist/preact.mjs',
  'lib/htm.js': 'htm/dist/htm.mjs',
}

const TYPES: Record<string, string> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
}

/** Also what leads out of the folder has another form. */
const NAME = /^(?:lib\/)?[a-z-]+\.(html|js|css|svg)$/

/** Reads a file of the page by its path, `app.js` or `lib/preact.js`; null when there is none. */
export async function readPageFile(path: string) {
  const [, ending = ''] = NAME.exec(path) ?? []
  const type = TYPES[ending]
  const places = [join(FOLDER, path), pageLibraries()[path] ?? '']
  const file = places.find((place) => existsSync(place))
  if (type === undefined || file === undefined) return null
  return { type, content: await readFile(file) }
}

/** Where a clone has the libraries of the page, by their path on the page. */
export function pageLibraries(): Record<string, string> {
  const packages = join(import.meta.dirname, '../../../node_modules')
  const files = Object.entries(LIBRARIES).map(([path, file]) => [path, join(packages, file)])
  return Object.fromEntries(files) as Record<string, string>
}
