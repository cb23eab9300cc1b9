import { expect, test } from 'vitest'
import { load } from '../../src/config/load.ts'
import { pairsOf } from '../../src/config/traces.ts'
import { ENOUGH, refusalOf, sources } from './support.ts'

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' }
const loadWith = (env: Record<string, string>) => load(sources({ env: { ...ENOUGH, ...env } }))
const targetOf = (env: Record<string, string>) => loadWith(env).settings.traces.target
const refused = (env: Record<string, string>) =>
  refusalOf(() => loadWith({ ...ENDPOINT, ...env })).message

test('traces are off without an OTLP endpoint', () => {
  expect(loadWith({}).settings.traces).toEqual({ ids: 'hash', target: null })
  const rest = {
    OTEL_SERVICE_NAME: 'x',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
    OTEL_TRACES_SAMPLER: 'y',
  }
  expect(targetOf({ ...rest, OTEL_EXPORTER_OTLP_ENDPOINT: '' })).toBeNull()
})

test.each([
  ['OTEL_SDK_DISABLED', 'true'],
  ['OTEL_SDK_DISABLED', 'TRUE'],
  ['OTEL_TRACES_EXPORTER', 'none'],
])('%s=%s turns traces off', (name, value) => {
  expect(targetOf({ ...ENDPOINT, [name]: value })).toBeNull()
})

test('traces are on with an OTLP endpoint alone', () => {
  expect(targetOf(ENDPOINT)).toEqual({
    url: 'http://127.0.0.1:4318/v1/traces',
    timeoutMs: 10_000,
    resource: [
      ['service.name', 'postern'],
      ['service.version', expect.any(String)],
    ],
    sampler: { ratio: 1, followsParent: true },
    showsHeaders: false,
  })
})

test('an OTLP endpoint for all signals is extended by /v1/traces, and one for traces is not', () => {
  const base = { OTEL_EXPORTER_OTLP_ENDPOINT: 'https://c.example.org/base/' }
  expect(targetOf(base)?.url).toBe('https://c.example.org/base/v1/traces')
  const own = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://t.example.org/x?y=z' }
  expect(targetOf({ ...base, ...own })?.url).toBe('https://t.example.org/x?y=z')
})

test('variables for traces override those for all signals', () => {
  const target = targetOf({
    ...ENDPOINT,
    OTEL_EXPORTER_OTLP_TIMEOUT: '1',
    OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: '2500',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
    OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json',
  })
  expect(target?.timeoutMs).toBe(2500)
})

test('OTEL_SERVICE_NAME overrides service.name of the resource attributes', () => {
  const attributes = 'service.name=other,deployment.environment=a%20place%2C%20far%20away, , k = v '
  const { resource = [] } =
    targetOf({ ...ENDPOINT, OTEL_RESOURCE_ATTRIBUTES: attributes, OTEL_SERVICE_NAME: 'my bot' }) ??
    {}
  expect(Object.fromEntries(resource)).toMatchObject({
    'service.name': 'my bot',
    'deployment.environment': 'a place, far away',
    k: 'v',
  })
})

test.each([
  ['always_on', '0.5', { ratio: 1, followsParent: false }],
  ['always_off', '0.5', { ratio: 0, followsParent: false }],
  ['traceidratio', '0.25', { ratio: 0.25, followsParent: false }],
  ['traceidratio', '', { ratio: 1, followsParent: false }],
  ['parentbased_always_off', '', { ratio: 0, followsParent: true }],
  ['parentbased_traceidratio', '.5', { ratio: 0.5, followsParent: true }],
])('the trace sampler %s with the argument %j is read', (name, argument, sampler) => {
  const env = { OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: argument }
  expect(targetOf({ ...ENDPOINT, ...env })?.sampler).toEqual(sampler)
})

test.each([
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318', 'expected an http or https URL'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'ftp://c.example.org', 'expected an http or https URL'],
  ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'https://me:hunter2@c.example.org', 'without credentials'],
  ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc', 'expected http/json'],
  ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'http/protobuf', 'expected http/json'],
  ['OTEL_EXPORTER_OTLP_TIMEOUT', '10s', 'expected milliseconds'],
  ['OTEL_EXPORTER_OTLP_TIMEOUT', '0', 'expected milliseconds'],
  ['OTEL_EXPORTER_OTLP_CERTIFICATE', '/ca.pem', 'NODE_EXTRA_CA_CERTS'],
  ['OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY', '/key.pem', 'is not supported'],
  ['OTEL_TRACES_EXPORTER', 'zipkin', 'expected otlp or none'],
  ['OTEL_TRACES_SAMPLER', 'parentbased', 'expected always_on'],
  ['OTEL_TRACES_SAMPLER_ARG', '1.5', 'expected a number from 0 to 1'],
  ['OTEL_RESOURCE_ATTRIBUTES', 'no value', 'expected key=value'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'x-key', 'expected key=value'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'x key=a', 'expected key=value'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'x-key=%zz', 'expected key=value'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'x-key=a%0d%0ax-injected:%20yes', 'of visible ASCII'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'x-key=a\r\nx-injected: yes', 'expected key=value'],
  ['OTEL_EXPORTER_OTLP_TRACES_HEADERS', 'x-key=%C3%A9', 'of visible ASCII'],
])('the trace setting %s=%j is refused by its name', (name, value, expected) => {
  const message = refused({ [name]: value })
  expect(message).toContain(`${name}: `)
  expect(message).toContain(expected)
  expect(message).not.toContain('hunter2')
})

test('trace headers are a secret, and over http to another machine a warning', () => {
  const env = { OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20aHVudGVy' }
  const { settings, secrets } = loadWith({ ...ENDPOINT, ...env })
  expect(JSON.stringify({ settings, secrets })).not.toContain('aHVudGVy')
  expect(pairsOf(secrets.traceHeaders?.reveal() ?? '')).toEqual([
    ['authorization', 'Basic aHVudGVy'],
  ])
  expect(settings.traces.target?.showsHeaders).toBe(false)
  const far = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c.example.org:4318' }
  expect(targetOf({ ...far, ...env })?.showsHeaders).toBe(true)
  expect(targetOf(far)?.showsHeaders).toBe(false)
})
