/**
 * Postern with its libraries in a few files, so that a start reads few. Nothing is minified: what
 * runs can be read. openpgp.js and the keychain's library stay packages of their own.
 */
import { globSync, readFileSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { rolldown, type OutputChunk, type Plugin } from 'rolldown'
import { pageLibraries } from '../src/sandbox/page/files.ts'

const ROOT = join(import.meta.dirname, '..')
const ENTRIES = [
  'src/main.ts',
  'src/sandbox/index.ts',
  'src/testing/index.ts',
  'src/openpgp/native/worker.ts',
  'src/openpgp/library/worker.ts',
  'src/openpgp/library/brainpool.ts',
]
/** Packages that stay outside. */
export const EXTERNAL = ['openpgp', 'keytar', 'pkcs11js']
/** What pg would load where it is, and is not: other ways to the database, and `~/.pgpass`. */
const LEFT_OUT = ['pg-native', 'pg-cloudflare', 'pgpass']
/**
 * Libraries of which little is used, by what stands for them: what is used, and nothing else is
 * loaded. A name that is not here ends the build.
 */
const LEAN: Record<string, string> = {
  // Compilers of schemas, which no route of ours has (NO_SCHEMAS in `src/util/local-door.ts`).
  '@fastify/ajv-compiler': 'module.exports = null',
  '@fastify/fast-json-stringify-compiler': 'module.exports = null',
  // An import of it reads every export, and one is Node's own undici, which takes a while to load.
  'node:http': 'module.exports = process.getBuiltinModule("node:http")',
  // Neither a door nor a call of ours has it: every pool sets `allowH2: false`.
  'node:http2': 'module.exports = { constants: {} }',
  undici: `
    import * as api from 'undici/lib/api/index.js'
    import Dispatcher from 'undici/lib/dispatcher/dispatcher.js'
    Object.assign(Dispatcher.prototype, { request: api.request })
    export { default as Agent } from 'undici/lib/dispatcher/agent.js'
    export { default as EnvHttpProxyAgent } from 'undici/lib/dispatcher/env-http-proxy-agent.js'
    export { default as Pool } from 'undici/lib/dispatcher/pool.js'
    export { default as buildConnector } from 'undici/lib/core/connect.js'
  `,
}

const lean: Plugin = {
  name: 'lean',
  resolveId: (id) => (Object.hasOwn(LEAN, id) ? `\0lean:${id}` : null),
  load: (id) => LEAN[id.replace('\0lean:', '')] ?? null,
}

/** One character of two bytes makes V8 keep a whole file in two bytes a character. */
const narrow: Plugin = {
  name: 'narrow',
  // Not before: what is printed after `renderChunk` has the characters again.
  generateBundle(_options, output) {
    for (const one of Object.values(output)) {
      if (one.type !== 'chunk') continue
      one.code = inOneByte(one.code)
    }
  },
}

function inOneByte(code: string): string {
  return code.replaceAll(
    /[^\0-\u00ff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** Modules that lead to what `postern run` loads for a bot while its store is opened. */
const START = [
  'wiring/bot',
  'wiring/doors',
  'http/server',
  'operators/server',
  'openpgp/native/engine',
]
/** The same for what others load without it: each gets no more than it did. */
const OTHERS = [
  [
    'context',
    'cli/run',
    'cli/status',
    'cli/check',
    'cli/config',
    'cli/trust',
    'cli/sandbox-client',
  ],
  ['wiring/core', 'wiring/operations'],
  ['agent/keys', 'agent/run'],
  ['sandbox/create'],
  ['openpgp/native/worker', 'openpgp/library/worker'],
]

/**
 * Puts what a start loads into few files, since each is found, read and linked by itself. What has
 * begun before, and what commands use, stays as it is.
 */
function startFiles(): { plugin: Plugin; nameOf: (id: string) => string | null } {
  let start = new Set<string>()
  let others: Set<string>[] = []
  const plugin: Plugin = {
    name: 'start-files',
    buildEnd() {
      const reachedFrom = (files: string[]): Set<string> => {
        const ids = new Set(files.map((file) => join(ROOT, `src/${file}.ts`)))
        for (const id of ids) if (!this.getModuleInfo(id)) throw new Error(`no module ${id}`)
        // a set is walked to what is added meanwhile
        for (const id of ids) {
          for (const next of this.getModuleInfo(id)?.importedIds ?? []) ids.add(next)
        }
        return ids
      }
      start = reachedFrom(START)
      others = OTHERS.map(reachedFrom)
    },
  }
  const nameOf = (id: string): string | null => {
    const [isBefore, ...among] = others.map((ids) => ids.has(id))
    if (!start.has(id) || isBefore === true) return null
    return ['start', ...among.map(Number)].join('')
  }
  return { plugin, nameOf }
}

/** The files of the sandbox's page, with its libraries, which a browser takes as they are. */
const page: Plugin = {
  name: 'page',
  generateBundle() {
    const folder = 'sandbox/page/browser'
    const emit = (name: string, from: string): void => {
      const text = readFileSync(from, 'utf8').replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n')
      const source = name.endsWith('.js') ? inOneByte(text) : text
      this.emitFile({ type: 'asset', fileName: `${folder}/${name}`, source })
    }
    const own = globSync(join(ROOT, 'src', folder, '*.{html,js,css,svg}'))
    for (const file of own) emit(basename(file), file)
    for (const [name, from] of Object.entries(pageLibraries())) emit(name, from)
  },
}

/**
 * Writes it into a folder, each entry where it is in `src`.
 * @param plugins change what is bundled, before all else
 */
export async function bundle(folder: string, plugins: Plugin[] = []): Promise<OutputChunk[]> {
  const { plugin: startPlugin, nameOf } = startFiles()
  await using code = await rolldown({
    cwd: ROOT,
    input: ENTRIES,
    // as chunks by name need it
    preserveEntrySignatures: 'allow-extension',
    checks: { ineffectiveDynamicImport: false },
    platform: 'node',
    external: [...EXTERNAL, ...LEFT_OUT],
    plugins: [...plugins, lean, startPlugin, narrow, page],
  })
  const { output } = await code.write({
    dir: folder,
    format: 'esm',
    entryFileNames: ({ facadeModuleId }) =>
      relative(join(ROOT, 'src'), facadeModuleId ?? '').replace(/ts$/, 'js'),
    chunkFileNames: '[name].js',
    comments: { jsdoc: false, annotation: false, legal: true },
    // Threads start from files beside that of the pool, and the page's files are beside their reader.
    codeSplitting: {
      groups: [
        { name: 'openpgp/pool', test: /src\/openpgp\/pool\.ts$/ },
        { name: 'sandbox/page/files', test: /src\/sandbox\/page\/files\.ts$/ },
        { name: nameOf, debugName: 'start', includeDependenciesRecursively: false },
      ],
    },
  })
  return output.filter((one) => one.type === 'chunk')
}
