import { Validator } from '@seriousme/openapi-schema-validator'
import { describe, expect, test } from 'vitest'
import { botDocument } from '../../src/sandbox/openapi/bot.ts'
import { controlDocument } from '../../src/sandbox/openapi/control.ts'

type Json = Record<string, unknown>

const documents = {
  control: controlDocument('http://control.example'),
  bot: botDocument('http://service.example'),
}

/** Every object within a value. */
function objectsIn(value: unknown): Json[] {
  if (typeof value !== 'object' || value === null) return []
  const inner = Object.values(value).flatMap(objectsIn)
  return Array.isArray(value) ? inner : [value as Json, ...inner]
}

function operationsOf(document: object): { path: string; operation: Json }[] {
  const { paths } = document as { paths: Record<string, Json> }
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.values(item)
      .filter((one): one is Json => typeof one === 'object' && one !== null && 'responses' in one)
      .map((operation) => ({ path, operation })),
  )
}

describe.each(Object.entries(documents))(
  'the OpenAPI document of the %s API',
  (_name, document) => {
    // As it is served: what is undefined is not there.
    const served = JSON.parse(JSON.stringify(document)) as Json

    test('an OpenAPI document is valid OpenAPI 3.1', async () => {
      const validator = new Validator()
      expect(await validator.validate(served)).toEqual({ valid: true })
      expect(validator.version).toBe('3.1')
    })

    test('every reference of an OpenAPI document has a component, and every component a reference', () => {
      const references = objectsIn(served).flatMap(({ $ref }) =>
        typeof $ref === 'string' ? $ref : [],
      )
      const components = served['components'] as Record<string, Json>
      const there = (['schemas', 'responses'] as const).flatMap((kind) =>
        Object.keys(components[kind] ?? {}).map((name) => `#/components/${kind}/${name}`),
      )
      expect(new Set(references)).toEqual(new Set(there))
    })

    test('every operation of an OpenAPI document has a unique id and a sentence as summary', () => {
      const names = operationsOf(served).map(({ operation }) => operation['operationId'])
      expect(new Set(names).size).toBe(names.length)
      for (const { operation } of operationsOf(served)) {
        expect(String(operation['summary'])).toMatch(/^[A-Z].*[.;:)]$/)
      }
    })

    test('every operation of an OpenAPI document declares exactly the parameters of its path', () => {
      for (const { path, operation } of operationsOf(served)) {
        const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
        const parameters = (operation['parameters'] ?? []) as { in: string; name: string }[]
        const declared = parameters.filter((one) => one.in === 'path').map(({ name }) => name)
        expect(declared, path).toEqual(inPath)
      }
    })

    test('no pattern of an OpenAPI document uses syntax of JavaScript alone', () => {
      const patterns = objectsIn(served).flatMap(({ pattern }) =>
        typeof pattern === 'string' ? pattern : [],
      )
      for (const pattern of patterns) expect(pattern).not.toMatch(/\[\^\]|\(\?|\\[dsw]/)
    })
  },
)
