/**
 * Postern with its libraries in a few files, so that a start reads few. Nothing is minified: what
 * runs can be read. openpgp.js and the keychain's library stay packages of their own.
 */
import { join, relative } from 'node:path'
import { rolldown, type OutputChunk, type Plugin } from 'rolldown'

const ROOT = join(import.meta.dirname, '..')
const ENTRIES = [
  'src/main.ts',
  'src/sandbox/create.ts',
  'src/pgp/native/worker.ts',
  'src/pgp/library/worker.ts',
  'src/pgp/library/brainpool.ts',
]
/** Packages that stay outside. */
export const EXTERNAL = ['openpgp', 'keytar']
/** Compilers of schemas, which no route of ours has (`src/util/no-schemas.ts`). */
const UNUSED = ['@fastify/ajv-compiler', '@fastify/fast-json-stringify-compiler']

const unused: Plugin = {
  name: 'unused',
  resolveId: (id) => (UNUSED.includes(id) ? `\0${id}` : null),
  load: (id) => (UNUSED.includes(id.slice(1)) ? 'module.exports = null' : null),
}

/**
 * Writes it into a folder, each entry where it is in `src`.
 * @param plugins change what is bundled, before all else
 */
export async function bundle(folder: string, plugins: Plugin[] = []): Promise<OutputChunk[]> {
  await using code = await rolldown({
    cwd: ROOT,
    input: ENTRIES,
    platform: 'node',
    external: EXTERNAL,
    plugins: [...plugins, unused],
  })
  const { output } = await code.write({
    dir: folder,
    format: 'esm',
    entryFileNames: ({ facadeModuleId }) =>
      relative(join(ROOT, 'src'), facadeModuleId ?? '').replace(/ts$/, 'js'),
    chunkFileNames: '[name].js',
    // Threads start from files beside that of the pool.
    codeSplitting: { groups: [{ name: 'pgp/pool', test: /src\/pgp\/pool\.ts$/ }] },
  })
  return output.filter((one) => one.type === 'chunk')
}
