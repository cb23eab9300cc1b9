/**
 * Builds `dist`: Postern and its libraries in a few files, so that a start reads few. Not minified:
 * what runs can be read. openpgp.js stays a package of its own, and so does the keychain's, which
 * is compiled where it is installed.
 */
import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { relative } from 'node:path'
import { rolldown } from 'rolldown'
import { dts } from 'rolldown-plugin-dts'

const EXTERNAL = ['openpgp', 'keytar']
const TYPES = 'node_modules/.cache/postern-types'

rmSync('dist', { recursive: true, force: true })
rmSync(TYPES, { recursive: true, force: true })
const code = await rolldown({
  input: ['src/main.ts', 'src/sandbox/create.ts', 'src/pgp/native/worker.ts', 'src/pgp/library/worker.ts', 'src/pgp/library/brainpool.ts'],
  platform: 'node',
  external: EXTERNAL,
})
await code.write({
  dir: 'dist',
  format: 'esm',
  entryFileNames: ({ facadeModuleId }) => relative('src', facadeModuleId ?? '').replace(/ts$/, 'js'),
  chunkFileNames: '[name].js',
  // Threads are started from files beside that of the pool.
  advancedChunks: { groups: [{ name: 'pgp/pool', test: /src\/pgp\/pool\.ts$/ }] },
})
await code.close()
execFileSync('tsc', ['-p', 'config/build.json'], { stdio: 'inherit' })
const types = await rolldown({ input: { 'sandbox/create': `${TYPES}/sandbox/create.d.ts` }, platform: 'node', external: [/^node:/, 'fastify', 'undici', 'openpgp'], plugins: [dts({ dtsInput: true })] })
await types.write({ dir: 'dist', format: 'esm', entryFileNames: '[name].d.ts' })
