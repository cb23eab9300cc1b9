import { expect, test } from 'vitest'
import { Refusal } from '../../src/errors.ts'
import { findTarget, type TargetRules } from '../../src/updates/target.ts'

const HOSTS: Record<string, string[]> = {
  'hooks.example.org': ['93.184.215.14', '2606:2800:21f:cb07::1'],
  'hooks.example.org.': ['93.184.215.14'],
  bot: ['172.18.0.5'],
  'bot.': ['172.18.0.5'],
  localhost: ['::1', '127.0.0.1'],
  'mixed.example.org': ['93.184.215.14', '10.0.0.1'],
  'metadata.internal': ['169.254.169.254'],
  'half.example.org': ['93.184.215.14', '169.254.169.254'],
  'mapped.example.org': ['::ffff:169.254.169.254'],
  'odd.example.org': ['not an address'],
  'xn--bcher-kva.example.org': ['93.184.215.14'],
}

const rules = (more: Partial<TargetRules> = {}): TargetRules => ({
  allowHosts: null,
  resolve: (host) =>
    host === 'broken.example.org'
      ? Promise.reject(new Error('SERVFAIL'))
      : Promise.resolve(HOSTS[host] ?? []),
  ...more,
})

async function problem(url: string, more: Partial<TargetRules> = {}): Promise<string> {
  const error = await findTarget(url, rules(more)).then(
    () => null,
    (thrown: unknown) => thrown,
  )
  expect(error, url).toBeInstanceOf(Refusal)
  expect((error as Refusal).code).toBe('bad_webhook')
  return (error as Refusal).message
}

test.each([
  ['https://hooks.example.org/bot?x=1', 'hooks.example.org'],
  ['HTTPS://Hooks.Example.ORG', 'hooks.example.org'],
  ['https://hooks.example.org.:8443/', 'hooks.example.org'],
  ['https://bücher.example.org/', 'xn--bcher-kva.example.org'],
  ['https://mixed.example.org/', 'mixed.example.org'],
  ['http://localhost:3000/', 'localhost'],
  ['http://bot:3000/hook', 'bot'],
  ['http://bot./hook', 'bot'],
  ['http://127.0.0.1:8080/', '127.0.0.1'],
  ['http://[::1]:8080/', '::1'],
  ['http://10.1.2.3/', '10.1.2.3'],
  ['http://[::ffff:10.1.2.3]/', '::ffff:a01:203'],
  ['https://8.8.8.8/', '8.8.8.8'],
  ['https://hooks.example.org/a@b:c', 'hooks.example.org'],
  [`https://hooks.example.org/${'x'.repeat(998)}`, 'hooks.example.org'],
])('a webhook may be at %s', async (url, host) => {
  const target = await findTarget(url, rules())
  expect(target.host).toBe(host)
  expect(target.addresses.length).toBeGreaterThan(0)
})

test.each([
  ['http://2130706433/', '127.0.0.1'],
  ['http://0x7f000001/', '127.0.0.1'],
  ['http://0177.0.0.1/', '127.0.0.1'],
  ['http://127.1/', '127.0.0.1'],
  ['http://127.0.0.1./', '127.0.0.1'],
  ['http://①②⑦.0.0.①/', '127.0.0.1'],
  ['http://0xa.1/', '10.0.0.1'],
])('a webhook at %s is called at %s', async (url, address) => {
  const target = await findTarget(url, rules())
  expect([target.host, target.addresses]).toEqual([address, [address]])
})

test('a webhook’s host has all its addresses in the resolver’s order', async () => {
  const { addresses } = await findTarget('http://localhost/', rules())
  expect(addresses).toEqual(['::1', '127.0.0.1'])
})

/** Urls that are refused, by the words of the refusal. */
const REFUSED = {
  https: `
    http://hooks.example.org/ http://8.8.8.8/ http://134744072/
    http://mixed.example.org/ http://[::ffff:8.8.8.8]/`,
  'no webhook': `
    https://169.254.169.254/latest http://169.254.169.254/latest http://2852039166/
    http://0xa9fea9fe/ http://[::ffff:169.254.169.254]/ http://[fe80::1]/ http://0/
    http://0.0.0.0:3000/ http://[::]:3000/ https://255.255.255.255/
    https://metadata.internal/ https://half.example.org/ https://mapped.example.org/
    https://odd.example.org/`,
  'no address': `
    https://nowhere.example.org/ https://broken.example.org/ https://a..example.org/`,
  absolute: `
    ftp://hooks.example.org/ file:///etc/passwd unix:/run/bot.sock javascript:alert(1)
    /hook hooks.example.org/hook //hooks.example.org/ https:hooks.example.org/
    https:/hooks.example.org/ https:// https:///hooks.example.org/ https://[::1/
    https://hooks.example.org:99999/`,
  credentials: `
    https://me:secret@hooks.example.org/ https://me@hooks.example.org/
    https://@hooks.example.org/ https://:@hooks.example.org/
    https://127.0.0.1@hooks.example.org/`,
  fragment: `
    https://hooks.example.org/#part https://hooks.example.org/#`,
  port: `
    https://hooks.example.org:0/`,
}

test.each<[string, string]>([
  ...Object.entries(REFUSED).flatMap(([words, urls]) =>
    urls
      .trim()
      .split(/\s+/)
      .map((url): [string, string] => [url, words]),
  ),
  ['', 'absolute'],
  [' https://hooks.example.org/', 'blanks'],
  ['https://hooks.example.org/ ', 'blanks'],
  ['https://hooks.exa\tmple.org/', 'blanks'],
  ['https://hooks.example.org/\r\nX: y', 'blanks'],
  ['https:\\\\hooks.example.org\\', 'blanks'],
  ['https://hooks.example.org\\@10.0.0.1/', 'blanks'],
  ['https://hooks.example.org/\u0000', 'blanks'],
  [`https://hooks.example.org/${'x'.repeat(999)}`, '1024'],
])('a webhook may not be at %j', async (url, words) => {
  const message = await problem(url)
  expect(message).toContain(words)
  expect(message).not.toContain('example.org')
})

const only = (...allowHosts: string[]) => ({ allowHosts })

test.each([
  ['https://hooks.example.org/', 'hooks.example.org'],
  ['https://hooks.example.org./', 'Hooks.Example.ORG'],
  ['http://bot:3000/', 'bot'],
  ['http://2130706433/', '127.0.0.1'],
  ['http://[0:0::1]/', '::1'],
])('`webhook.allowHosts` admits %s where %s is listed', async (url, listed) => {
  await findTarget(url, rules(only('elsewhere', listed)))
})

test.each([
  ['https://hooks.example.org/', 'example.org'],
  ['https://hooks.example.org/', 'evil-hooks.example.org'],
  ['http://127.0.0.1/', 'localhost'],
  ['http://localhost/', '127.0.0.1'],
  ['http://10.0.0.1/', 'bot'],
])('`webhook.allowHosts` refuses %s where only %s is listed', async (url, listed) => {
  expect(await problem(url, only(listed))).toContain('webhook.allowHosts')
})

test('an empty `webhook.allowHosts` refuses every webhook', async () => {
  expect(await problem('https://hooks.example.org/', only())).toContain('webhook.allowHosts')
})

test('a host in `webhook.allowHosts` is refused with a link-local address, and with plain http to the internet', async () => {
  const listed = only('169.254.169.254', 'metadata.internal', 'hooks.example.org')
  expect(await problem('https://169.254.169.254/', listed)).toContain('no webhook')
  expect(await problem('https://metadata.internal/', listed)).toContain('no webhook')
  expect(await problem('http://hooks.example.org/', listed)).toContain('https')
})

test('a host outside `webhook.allowHosts` is not resolved', async () => {
  const asked: string[] = []
  const resolve = (host: string) => Promise.resolve([asked.push(host).toString()])
  await problem('https://hooks.example.org/', { ...only('bot'), resolve })
  expect(asked).toEqual([])
})
