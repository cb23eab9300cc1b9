import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { typescriptClient, type OpenApiDocument } from '../support/openapi-client.ts'
import { run } from '../support/programs.ts'
import { useSandbox } from './support.ts'
import { temporaryFolder } from './world-file.ts'

const COMPILED =
  '--noEmit --strict --noUncheckedIndexedAccess --erasableSyntaxOnly --allowImportingTsExtensions ' +
  '--module nodenext --target es2024 --lib es2024,dom client.ts'
const sandbox = await useSandbox({ clock: 'running' })

test(
  'clients generated from the two OpenAPI documents type-check and work against a sandbox',
  { timeout: 120_000 },
  async () => {
    const cwd = temporaryFolder()
    const addresses: string[] = []
    for (const [path, file] of [
      ['/openapi.json', 'control-api.ts'],
      ['/bot-openapi.json', 'bot-api.ts'],
    ] as const) {
      const document = (await (await fetch(sandbox.controlUrl + path)).json()) as OpenApiDocument
      writeFileSync(join(cwd, file), typescriptClient(document))
      addresses.push(document.servers[0]?.url ?? '')
    }
    cpSync(join(import.meta.dirname, 'openapi-client.ts.txt'), join(cwd, 'client.ts'))
    writeFileSync(join(cwd, 'package.json'), '{ "type": "module" }')
    const compiler = join(import.meta.dirname, '../../node_modules/.bin/tsc')
    const checked = await run(compiler, COMPILED.split(' '), { cwd })
    expect([checked.code, String(checked.stdout)]).toEqual([0, ''])
    const { code, stdout, stderr } = await run(process.execPath, ['client.ts', ...addresses], {
      cwd,
    })
    expect([code, stderr]).toEqual([0, ''])
    expect(JSON.parse(String(stdout))).toEqual({
      name: 'typescript_bot',
      read: 'hello',
      shown: ['hi'],
      answer: 'went',
      file: 'hello',
      refusals: [
        [404, 'chat_not_found'],
        [400, 'bad_control'],
        [401, 'unauthorized'],
      ],
    })
  },
)
