/**
 * Libraries of hundreds of files, one file each: to find all of theirs costs every process of the
 * tests more than to run them does. Source and tests are loaded as they stand, and the package and
 * the image, which other tests install and build, hold none of this.
 */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { rolldown, type Plugin } from 'rolldown'

const LIBRARIES = [
  '@prometheus-io/client',
  'commander',
  'fastify',
  'kysely',
  'undici',
  'yaml',
  'zod',
]
const ENTRY = 'entry:'

/**
 * Makes them, unless they are there.
 * @param root folder of the project
 * @returns path of a module that, given to Node as `--import`, puts them in the libraries' places
 */
export async function bundle(root: string): Promise<string> {
  const hash = createHash('sha256')
  for (const file of ['package-lock.json', 'test/support/bundle.ts']) {
    hash.update(readFileSync(join(root, file)))
  }
  const name = `postern-tests-${hash.digest('hex').slice(0, 12)}`
  const folder = join(root, 'node_modules/.cache', name)
  const hooks = join(folder, 'hooks.mjs')
  if (existsSync(hooks)) return hooks
  const made = `${folder}.${process.pid}`
  const input = Object.fromEntries(LIBRARIES.map((library) => [fileOf(library), ENTRY + library]))
  const bundler = await rolldown({ input, platform: 'node', plugins: [ENTRIES] })
  await bundler.write({ dir: made, format: 'esm', entryFileNames: '[name].mjs' })
  await bundler.close()
  writeFileSync(join(made, 'hooks.mjs'), hooksFor(folder))
  try {
    renameSync(made, folder)
  } catch {
    // another run was first
    rmSync(made, { recursive: true })
  }
  return hooks
}

const fileOf = (library: string): string => library.replaceAll(/\W/g, '_')

/** A module that exports what a library does, by name: of CommonJS only Node itself sees which. */
const ENTRIES: Plugin = {
  name: 'entries',
  resolveId: (id) => (id.startsWith(ENTRY) ? id : undefined),
  async load(id) {
    if (!id.startsWith(ENTRY)) return undefined
    const library = id.slice(ENTRY.length)
    const names = Object.keys((await import(library)) as object)
    const exported = names.filter((name) => name !== 'module.exports')
    return [
      `import * as all from '${library}'`,
      ...(names.includes('default') ? [`import whole from '${library}'`] : []),
      ...exported.map((name, index) =>
        name === 'default'
          ? 'export default whole'
          : `const it${index} = all.${name}\nexport { it${index} as ${name} }`,
      ),
    ].join('\n')
  },
}

function hooksFor(folder: string): string {
  const urls = LIBRARIES.map((library) => [
    library,
    pathToFileURL(join(folder, `${fileOf(library)}.mjs`)).href,
  ])
  return `import { registerHooks } from 'node:module'
const urls = ${JSON.stringify(Object.fromEntries(urls))}
registerHooks({
  resolve: (name, context, next) =>
    Object.hasOwn(urls, name)
      ? { url: urls[name], format: 'module', shortCircuit: true }
      : next(name, context),
})
`
}
